"""Gaussian input noise: x = H theta + b + eps, eps ~ N(0, C), and noise whose size depends on
theta.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, PRNGKeyArray

from phenes import _arrays, _validate
from phenes._batching import cond_rare
from phenes._random import normal
from phenes.covariance import Covariance, Dense, Diagonal, add, as_covariance
from phenes.laws.normal import Normal
from phenes.search.gaussian import (
    DiagonalGaussian,
    Gaussian,
    GaussianSearch,
    IsotropicGaussian,
    replace,
)


class GaussianNoise(eqx.Module):
    """p_theta(x) = N(x | H theta + b, C).

    `scale`: a standard deviation, one for each coordinate, a covariance matrix, or
    `shared_errors(std, factor)`. `bias` b and `gain` H describe an actuator that is off or mixes
    its inputs. Coordinates of x that are NaN were not measured; everything here then conditions on
    the others alone.
    """

    cov: Covariance
    bias: Float[Array, " d"] | None
    gain: Float[Array, "k d"] | None

    def __init__(self, scale, bias=None, gain=None):
        self.cov = as_covariance("scale", scale)
        self.bias = None if bias is None else _arrays.vector("bias", bias)
        self.gain = None if gain is None else _arrays.as_float("gain", gain)
        if self.gain is not None and self.gain.ndim != 2:
            raise ValueError(
                f"gain must be a matrix [outputs, inputs], got shape {self.gain.shape}"
            )

    def expected(self, theta: Float[Array, " d"]) -> Float[Array, " k"]:
        """E[x | theta]."""
        x = theta if self.gain is None else self.gain @ theta
        return x if self.bias is None else x + self.bias

    def sample(self, key: PRNGKeyArray, theta: Float[Array, " d"]) -> Float[Array, " k"]:
        return self.sample_all(key, theta[None])[0]

    def sample_all(self, key: PRNGKeyArray, theta: Float[Array, "n d"]) -> Float[Array, "n k"]:
        """A population at once, from one array of random numbers."""
        x = jax.vmap(self.expected)(theta)
        return x + self.cov.sample(key, *x.shape).astype(x.dtype)

    def log_prob(self, x: Float[Array, " k"], theta: Float[Array, " d"]) -> Float[Array, ""]:
        return Normal(self.expected(theta), self.cov).log_prob(x)

    def coordinate_log_prob(
        self, x: Float[Array, " d"], theta: Float[Array, " d"]
    ) -> Float[Array, " d"]:
        """log p of each coordinate, for independent coordinates."""
        if not isinstance(self.cov, Diagonal) or self.gain is not None:
            raise ValueError(
                "coordinates must be independent for a coordinate-wise estimator, got"
                f" {type(self.cov).__name__} noise"
            )
        std = jnp.sqrt(self.cov.vector(theta.size))
        return jnp.where(
            jnp.isnan(x), 0.0, jax.scipy.stats.norm.logpdf(x, self.expected(theta), std)
        )

    def theta_score(
        self, x: Float[Array, "n k"], theta: Float[Array, "n d"]
    ) -> Float[Array, "n d"]:
        """d log p_theta(x) / d theta = H' C^-1 (x - H theta - b) for each individual."""

        def some_measured(cov, r):
            measured = ~jnp.isnan(r)
            each = jax.vmap(lambda m, row: cov.masked(m).solve(row[None])[0])
            return each(measured, jnp.where(measured, r, 0.0))

        r = x - jax.vmap(self.expected)(theta)
        y = cond_rare(
            lambda cov, r: jnp.any(jnp.isnan(r)), some_measured, lambda cov, r: cov.solve(r)
        )(self.cov, r)
        return y if self.gain is None else y @ self.gain

    def marginal(self, q: GaussianSearch) -> Normal:
        """P(x) = N(H m + b, H S H' + C)."""
        self._check(q)
        return Normal(self.expected(q.mean), self._marginal_cov(q))

    def posterior(self, q: GaussianSearch, x: Float[Array, " k"]) -> Normal:
        """P(theta | x) = N(m + K r, S - K H S), K = S H' M^-1."""
        self._check(q)
        measured = ~jnp.isnan(x)
        cov = self._marginal_cov(q).masked(measured)
        channel = _Observed(cov, self.gain, measured)
        r = jnp.where(measured, x - self.expected(q.mean), 0.0)
        shift = q.covariance.times(channel.pull(cov.solve(r[None])))[0]
        return Normal(q.mean + shift, _remaining(q.covariance, channel, q.dim))

    def marginal_score(
        self, q: GaussianSearch, x: Float[Array, "n k"], w: Float[Array, " n"]
    ) -> GaussianSearch:
        """1/N sum_i w_i d log P(x_i) / d psi in closed form: y = H' M^-1 (x - Hm - b), B = H' M^-1
        H (docs/parts/search.md, errata 1-3).
        """
        self._check(q)
        r = x - self.expected(q.mean)[None]
        return cond_rare(
            lambda p, q, r, w: jnp.any(jnp.isnan(r)), _score_some_measured, _score_all_measured
        )(self, q, r, w)

    def mirrored_score(
        self, q: GaussianSearch, x: Float[Array, "two n d"], w: Float[Array, "two n"]
    ) -> GaussianSearch:
        """Rao-Blackwellisation of mirrored pairs theta = m +- L z over the joint posterior of z
        (docs/estimators/pairs.md, erratum 15).
        """
        self._check(q)
        half = replace(self, cov=self.cov.scaled(0.5))
        cov = half._marginal_cov(q)
        channel = _Observed(cov, self.gain)
        # the bias cancels in the difference; what is left is H L z + noise of covariance C/2
        y = channel.pull(cov.solve(0.5 * (x[0] - x[1])))
        odd = q.channel_score(0.5 * (w[0] - w[1]), y, channel)
        even = q.channel_score(0.5 * (w[0] + w[1]), y, channel)
        return replace(even, mean=odd.mean)

    def marginal_natural(self, q: GaussianSearch, g: Any) -> GaussianSearch:
        """I[P]^-1 g."""
        self._check(q)
        cov = self._marginal_cov(q)
        return q.channel_natural(g, cov if self.gain is None else _Observed(cov, self.gain))

    def pooled(self, repeats: int) -> "GaussianNoise":
        """The law of the mean of `repeats` draws at one theta: C / R."""
        return replace(self, cov=self.cov.scaled(1 / repeats))

    def statistic(self, x: Float[Array, "r k"]) -> Float[Array, " k"]:
        return jnp.mean(x, axis=0)

    def _marginal_cov(self, q: GaussianSearch) -> Covariance:
        if self.gain is None:
            return add(q.covariance, self.cov, q.dim)
        spread = self.gain @ q.covariance.times(self.gain).T
        return Dense(spread + self.cov.matrix(self.gain.shape[0]))

    def _check(self, q) -> None:
        _validate.family(self, q, (Gaussian, DiagonalGaussian, IsotropicGaussian))
        inputs, outputs = (q.dim, q.dim) if self.gain is None else self.gain.shape[::-1]
        if inputs != q.dim:
            raise ValueError(f"gain must have {q.dim} columns to match the mean, got {inputs}")
        for name, leaf in (("scale", jax.tree.leaves(self.cov)[0]), ("bias", self.bias)):
            if leaf is not None and leaf.ndim and leaf.shape[0] != outputs:
                raise ValueError(
                    f"{name} must have {outputs} coordinates to match the mean, got {leaf.shape[0]}"
                )


class HeteroscedasticNoise(eqx.Module):
    """p_theta(x) = N(x | theta, diag(std(theta))^2): noise that depends on where you aim.

    No closed form exists; freezing the noise at the mean is biased. Use
    `estimators.information_mix` or `estimators.exchangeable`.
    """

    std: Callable[[Float[Array, " d"]], Array] = eqx.field(static=True)

    def __init__(self, std):
        self.std = _validate.function("std", std, "lambda theta: 0.1 + 0.05 * jnp.abs(theta)")

    def sample(self, key: PRNGKeyArray, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        return theta + self.std(theta) * normal(key, theta.shape, theta.dtype)

    def coordinate_log_prob(
        self, x: Float[Array, " d"], theta: Float[Array, " d"]
    ) -> Float[Array, " d"]:
        measured = ~jnp.isnan(x)
        z = jnp.where(measured, x, theta)
        return jnp.where(measured, jax.scipy.stats.norm.logpdf(z, theta, self.std(theta)), 0.0)

    def log_prob(self, x: Float[Array, " d"], theta: Float[Array, " d"]) -> Float[Array, ""]:
        return jnp.sum(self.coordinate_log_prob(x, theta))


class _Observed(eqx.Module):
    """The channel B = H' M^-1 H, with the rows of H that were not measured removed."""

    cov: Covariance
    gain: Float[Array, "k d"] | None
    measured: Array | None = None

    def pull(self, y: Float[Array, "n k"]) -> Float[Array, "n d"]:
        return y if self.gain is None else y @ self.gain

    def matrix(self, d: int) -> Float[Array, "d d"]:
        return self.cov.matrix(d) if self.gain is None else jnp.linalg.inv(self.inverse(d))

    def inverse(self, d: int) -> Float[Array, "d d"]:
        if self.gain is None:
            inverse = self.cov.inverse(d)
            return (
                inverse
                if self.measured is None
                else jnp.where(self.measured[:, None] & self.measured[None], inverse, 0.0)
            )
        gain = (
            self.gain
            if self.measured is None
            else jnp.where(self.measured[:, None], self.gain, 0.0)
        )
        return gain.T @ self.cov.solve(gain.T).T

    def inverse_diagonal(self, d: int) -> Float[Array, " d"]:
        if self.gain is not None:
            return jnp.diagonal(self.inverse(d))
        inverse = self.cov.inverse_diagonal(d)
        return inverse if self.measured is None else jnp.where(self.measured, inverse, 0.0)


def _remaining(prior: Covariance, channel: _Observed, d: int) -> Covariance:
    """S - S B S."""
    if isinstance(prior, Diagonal) and isinstance(channel.cov, Diagonal) and channel.gain is None:
        s = prior.vector(d)
        return Diagonal(s - s**2 * channel.inverse_diagonal(d))
    s = prior.matrix(d)
    return Dense(s - s @ channel.inverse(d) @ s)


def _score_all_measured(
    p: GaussianNoise, q: GaussianSearch, r: Float[Array, "n k"], w: Float[Array, " n"]
) -> GaussianSearch:
    cov = p._marginal_cov(q)
    channel = _Observed(cov, p.gain)
    return q.channel_score(w, channel.pull(cov.solve(r)), channel)


def _score_some_measured(
    p: GaussianNoise, q: GaussianSearch, r: Float[Array, "n k"], w: Float[Array, " n"]
) -> GaussianSearch:
    """The same with a channel of each individual's own: O(N d^3) for full covariances, one after
    the other so that memory stays O(d^2).
    """
    cov = p._marginal_cov(q)

    def add_one(total, row):
        r, w = row
        measured = ~jnp.isnan(r)
        own = cov.masked(measured)
        channel = _Observed(own, p.gain, measured)
        y = own.solve(jnp.where(measured, r, 0.0)[None])
        return (
            jax.tree.map(jnp.add, total, q.channel_score(w[None], channel.pull(y), channel)),
            None,
        )

    total, _ = lax.scan(add_one, jax.tree.map(jnp.zeros_like, q), (r, w))
    return jax.tree.map(lambda leaf: leaf / w.size, total)
