# pyright: reportUnknownMemberType=false
"""Gaussian input noise: x = H theta + b + eps, eps ~ N(0, C), and noise that depends on theta."""

from collections.abc import Callable
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, PRNGKeyArray
from numpy.typing import ArrayLike

from phenes import _arrays, _validate
from phenes._batching import cond_rare
from phenes._jax import diagonal, pseudo_inverse
from phenes._random import normal
from phenes._trees import replace
from phenes.covariance import (
    Covariance,
    Degenerate,
    Dense,
    Diagonal,
    Regular,
    add,
    as_covariance,
    is_singular,
)
from phenes.laws.normal import Normal
from phenes.search.gaussian import DiagonalGaussian, Gaussian, GaussianSearch, IsotropicGaussian

G = TypeVar("G", Gaussian, DiagonalGaussian, IsotropicGaussian)


class GaussianNoise(eqx.Module):
    """p_theta(x) = N(x | H theta + b, C).

    Coordinates of x that are NaN were not measured; everything here then conditions on the others
    alone. Closed forms exist under Gaussian search of any covariance, as long as S + C has an
    inverse: C itself may be singular. A coordinate without noise is exact. It has no density;
    `log_prob` is then that of the rest where x is as expected, and -inf elsewhere.

    Parameters
    ----------
    scale : array_like, shape [], [k] or [k, k], or `shared_errors(std, factor)`
        A standard deviation, one for each coordinate, or the covariance matrix C; 0 for no noise.
    bias : array_like, shape [k], optional
        b: an actuator that is off.
    gain : array_like, shape [k, d], optional
        H: an actuator that mixes its inputs; the identity unless given.

    Raises
    ------
    ValueError
        If scale is negative, bias no vector, or gain no matrix.

    Examples
    --------
    >>> p = phenes.inputs.GaussianNoise(0.1)
    >>> p.sample(jax.random.key(0), jnp.zeros(3)).shape
    (3,)
    """

    cov: Covariance
    bias: Float[Array, " k"] | None
    gain: Float[Array, "k d"] | None

    def __init__(
        self,
        scale: ArrayLike | Covariance,
        bias: ArrayLike | None = None,
        gain: ArrayLike | None = None,
    ):
        self.cov = as_covariance("scale", scale)
        self.bias = None if bias is None else _arrays.vector("bias", bias)
        matrix = None if gain is None else _arrays.as_float("gain", gain)
        if matrix is not None and matrix.ndim != 2:
            raise ValueError(f"gain must be a matrix [outputs, inputs], got shape {matrix.shape}")
        self.gain = matrix

    def expected(self, theta: Float[Array, " d"]) -> Float[Array, " k"]:
        """E[x | theta].

        Parameters
        ----------
        theta : array, shape [d]
            What is intended.

        Returns
        -------
        array, shape [k]
        """
        x = theta if self.gain is None else self.gain @ theta
        return x if self.bias is None else x + self.bias

    def sample(self, key: PRNGKeyArray, theta: Float[Array, " d"]) -> Float[Array, " k"]:
        """One x for one theta."""
        return self.sample_all(key, theta[None])[0]

    def sample_all(self, key: PRNGKeyArray, theta: Float[Array, "n d"]) -> Float[Array, "n k"]:
        """A population at once, from one array of random numbers."""
        x = jax.vmap(self.expected)(theta)
        return x + self.cov.sample(key, *x.shape).astype(x.dtype)

    def log_prob(self, x: Float[Array, " k"], theta: Float[Array, " d"]) -> Float[Array, ""]:
        """log p_theta(x) of the measured coordinates."""
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
        each = self.cov.coordinate_log_density(x - self.expected(theta))
        return jnp.where(jnp.isnan(x), 0.0, each)

    def theta_score(
        self, x: Float[Array, "n k"], theta: Float[Array, "n d"]
    ) -> Float[Array, "n d"]:
        """d log p_theta(x) / d theta = H' C^-1 (x - H theta - b) for each individual.

        Refused where C is singular: log p has no slope along directions without noise.
        """
        if isinstance(self.cov, Degenerate) or is_singular(self.cov):
            raise ValueError(
                "GaussianNoise has directions without noise, along which log p has no slope in"
                " theta, which reparameterised and information_mix need: use estimators.phenotype"
                " or estimators.exchangeable"
            )

        def missing(cov: Regular, r: Array) -> Array:
            return jnp.any(jnp.isnan(r))

        def some_measured(cov: Regular, r: Array) -> Array:
            def one(measured: Array, row: Array) -> Array:
                return cov.masked(measured).solve(row[None])[0]

            measured = ~jnp.isnan(r)
            return jax.vmap(one)(measured, jnp.where(measured, r, 0.0))

        def all_measured(cov: Regular, r: Array) -> Array:
            return cov.solve(r)

        r = x - jax.vmap(self.expected)(theta)
        y: Array = cond_rare(missing, some_measured, all_measured)(self.cov, r)
        return y if self.gain is None else y @ self.gain

    def marginal(self, q: GaussianSearch) -> Normal:
        """P(x) = N(H m + b, H S H' + C)."""
        self._check(q)
        return Normal(self.expected(q.mean), self.marginal_cov(q))

    def posterior(self, q: GaussianSearch, x: Float[Array, " k"]) -> Normal:
        """P(theta | x) = N(m + K r, S - K H S), K = S H' M^-1; of no spread where x is exact."""
        self._check(q)
        measured = ~jnp.isnan(x)
        cov = self.marginal_cov(q).masked(measured)
        observed = _Observed(cov, self.gain, measured)
        r = jnp.where(measured, x - self.expected(q.mean), 0.0)
        shift = q.covariance.times(observed.pull(cov.solve(r[None])))[0]
        if self.gain is not None:
            return Normal(q.mean + shift, _remaining(q.covariance, observed, q.dim))
        own = diagonal(self.cov.matrix(q.dim))
        return Normal(q.mean + shift, _remaining(q.covariance, observed, q.dim, own))

    def marginal_score(self, q: G, x: Float[Array, "n k"], w: Float[Array, " n"]) -> G:
        """1/N sum_i w_i d log P(x_i) / d psi, with y = H' M^-1 (x - Hm - b) and B = H' M^-1 H.

        docs/parts/search.md, errata 1-3.
        """
        self._check(q)
        r = x - self.expected(q.mean)[None]
        return cond_rare(_missing, _score_some_measured, _score_all_measured)(self, q, r, w)

    def has_partial_score(self) -> bool:
        """Whether errors of the coordinates are independent, and none of them mixed."""
        return isinstance(self.cov, Diagonal) and self.gain is None

    def partial_score(
        self, q: G, x: Float[Array, "n d"], theta: Float[Array, "n d"], w: Float[Array, " n"]
    ) -> G:
        """The score given x where it was measured and theta elsewhere, as if that were exact.

        Given theta_k, an unmeasured x_k says nothing more of the other coordinates of theta.
        """
        self._check(q)
        assert isinstance(self.cov, Diagonal)  # as `has_partial_score` says: no matrix is made
        own = self.cov.vector(q.dim)

        def one(x: Array, theta: Array) -> tuple[Array, Covariance]:
            measured = ~jnp.isnan(x)
            filled = jnp.where(measured, x, self.expected(theta))
            return filled - self.expected(q.mean), Diagonal(jnp.where(measured, own, 0.0))

        def add_one(total: G, row: tuple[Array, Array, Array]) -> tuple[G, None]:
            r, noise = one(row[0], row[1])
            cov = add(q.covariance, noise, q.dim)
            single = q.observed_score(row[2][None], cov.solve(r[None]), cov)
            return jax.tree.map(jnp.add, total, single), None

        def mean(leaf: Array) -> Array:
            return leaf / w.size

        total, _ = lax.scan(add_one, jax.tree.map(_zero, q), (x, theta, w))
        return jax.tree.map(mean, total)

    def mirrored_score(self, q: G, x: Float[Array, "two n k"], w: Float[Array, "two n"]) -> G:
        """The score of mirrored pairs theta = m +- L z given x, over the joint posterior of z.

        docs/estimators/pairs.md, erratum 15.
        """
        self._check(q)
        half = replace(self, cov=self.cov.scaled(0.5))
        cov = half.marginal_cov(q)
        observed = _Observed(cov, self.gain)
        # the bias cancels in the difference; what is left is H L z + noise of covariance C/2
        y = observed.pull(cov.solve(0.5 * (x[0] - x[1])))
        odd = q.observed_score(0.5 * (w[0] - w[1]), y, observed)
        even = q.observed_score(0.5 * (w[0] + w[1]), y, observed)
        return replace(even, mean=odd.mean)

    def marginal_natural(self, q: G, g: G) -> G:
        """I[P]^-1 g.

        An actuator with fewer outputs than inputs says nothing of some directions. They stay where
        they are: the shortest of all directions v with I[P] v = g.
        """
        self._check(q)
        cov = self.marginal_cov(q)
        return q.observed_natural(g, cov if self.gain is None else _Observed(cov, self.gain))

    def pooled(self, repeats: int) -> "GaussianNoise":
        """The law of the mean of `repeats` draws at one theta: C / R."""
        return replace(self, cov=self.cov.scaled(1 / repeats))

    def statistic(self, x: Float[Array, "r k"]) -> Float[Array, " k"]:
        """The mean of R draws."""
        return jnp.mean(x, axis=0)

    def marginal_cov(self, q: GaussianSearch) -> Regular:
        """Covariance of x under q, M = H S H' + C.

        Parameters
        ----------
        q : GaussianSearch
            The search law, with covariance S.

        Returns
        -------
        Regular
            Covariance of x under q.
        """
        if self.gain is None:
            return add(q.covariance, self.cov, q.dim)
        spread = self.gain @ q.covariance.times(self.gain).T
        return Dense(spread + self.cov.matrix(self.gain.shape[0]))

    def _check(self, q: GaussianSearch) -> None:
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

    Parameters
    ----------
    std : callable
        (theta [d]) -> standard deviations, shape [] or [d].

    Raises
    ------
    ValueError
        If std is no function.

    Examples
    --------
    >>> p = phenes.inputs.HeteroscedasticNoise(lambda theta: 0.1 + 0.05 * jnp.abs(theta))
    """

    std: Callable[[Float[Array, " d"]], Array] = eqx.field(static=True)

    def __init__(self, std: Callable[[Float[Array, " d"]], Array]):
        self.std = _validate.function("std", std, "lambda theta: 0.1 + 0.05 * jnp.abs(theta)")

    def sample(self, key: PRNGKeyArray, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        """One x for one theta."""
        return theta + self.std(theta) * normal(key, theta.shape, theta.dtype)

    def coordinate_log_prob(
        self, x: Float[Array, " d"], theta: Float[Array, " d"]
    ) -> Float[Array, " d"]:
        """log p of each coordinate, 0 where it was not measured."""
        measured = ~jnp.isnan(x)
        z = jnp.where(measured, x, theta)
        return jnp.where(measured, jax.scipy.stats.norm.logpdf(z, theta, self.std(theta)), 0.0)

    def log_prob(self, x: Float[Array, " d"], theta: Float[Array, " d"]) -> Float[Array, ""]:
        """log p_theta(x) of the measured coordinates."""
        return jnp.sum(self.coordinate_log_prob(x, theta))


class _Observed(eqx.Module):
    """B^-1 for B = H' M^-1 H, with the rows of H that were not measured removed."""

    cov: Regular
    gain: Float[Array, "k d"] | None
    measured: Bool[Array, " k"] | None = None

    def pull(self, y: Float[Array, "n k"]) -> Float[Array, "n d"]:
        """H' y."""
        return y if self.gain is None else y @ self.gain

    def matrix(self, d: int) -> Float[Array, "d d"]:
        """B^-1, on the range of B: directions that H does not pass on have no information."""
        return self.cov.matrix(d) if self.gain is None else pseudo_inverse(self.inverse(d))

    def inverse(self, d: int) -> Float[Array, "d d"]:
        """B."""
        if self.gain is None:
            own = self.cov.inverse(d)
            if self.measured is None:
                return own
            return jnp.where(self.measured[:, None] & self.measured[None], own, 0.0)
        gain = self.gain
        if self.measured is not None:
            gain = jnp.where(self.measured[:, None], gain, 0.0)
        return gain.T @ self.cov.solve(gain.T).T

    def inverse_diagonal(self, d: int) -> Float[Array, " d"]:
        """The diagonal of B."""
        if self.gain is not None:
            return diagonal(self.inverse(d))
        own = self.cov.inverse_diagonal(d)
        return own if self.measured is None else jnp.where(self.measured, own, 0.0)


def _remaining(
    prior: Covariance, observed: _Observed, d: int, own: Float[Array, " d"] | None = None
) -> Covariance:
    """S - S B S; own [d]: variances of the noise if there is no gain, 0 where x is exact."""
    exact = None if own is None or observed.measured is None else observed.measured & (own == 0)
    if isinstance(prior, Diagonal) and isinstance(observed.cov, Diagonal) and observed.gain is None:
        s = prior.vector(d)
        left = s - s**2 * observed.inverse_diagonal(d)
        return Diagonal(left if exact is None else jnp.where(exact, 0.0, left))
    s = prior.matrix(d)
    left = s - s @ observed.inverse(d) @ s
    return Dense(left if exact is None else jnp.where(exact[:, None] | exact[None], 0.0, left))


def _zero(leaf: Array) -> Array:
    return jnp.zeros_like(leaf)


def _missing(p: GaussianNoise, q: GaussianSearch, r: Array, w: Array) -> Array:
    return jnp.any(jnp.isnan(r))


def _score_all_measured(p: GaussianNoise, q: G, r: Float[Array, "n k"], w: Float[Array, " n"]) -> G:
    cov = p.marginal_cov(q)
    observed = _Observed(cov, p.gain)
    return q.observed_score(w, observed.pull(cov.solve(r)), observed)


def _score_some_measured(
    p: GaussianNoise, q: G, r: Float[Array, "n k"], w: Float[Array, " n"]
) -> G:
    """The score where coordinates are missing: each individual has its own B, O(N d^3).

    One after the other, so that memory stays O(d^2).
    """
    cov = p.marginal_cov(q)

    def add_one(total: G, row: tuple[Array, Array]) -> tuple[G, None]:
        r, w = row
        measured = ~jnp.isnan(r)
        own = cov.masked(measured)
        observed = _Observed(own, p.gain, measured)
        y = own.solve(jnp.where(measured, r, 0.0)[None])
        one = q.observed_score(w[None], observed.pull(y), observed)
        return jax.tree.map(jnp.add, total, one), None

    def mean(leaf: Array) -> Array:
        return leaf / w.size

    total, _ = lax.scan(add_one, jax.tree.map(_zero, q), (r, w))
    return jax.tree.map(mean, total)
