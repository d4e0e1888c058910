# pyright: reportUnknownMemberType=false
"""Noise that acts on each coordinate by itself: Student-t, Laplace, uniform, saturation, rounding.

Each law states two one-dimensional functions, log p(x | theta) and log P(x | m, s) for theta ~ N(m,
s^2); sums over the measured coordinates do the rest. Marginals need a search law with independent
coordinates (DiagonalGaussian, IsotropicGaussian).
"""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.stats import norm, t
from jaxtyping import Array, Float, PRNGKeyArray
from numpy.typing import ArrayLike

from phenes import _arrays, _validate
from phenes._jax import log_ndtr
from phenes._score import score
from phenes.inputs.mixture import scale_nodes
from phenes.search.gaussian import DiagonalGaussian, IsotropicGaussian
from phenes.special import eps, log_interval, log_normal_density, tiny, truncated_normal

Factorised = DiagonalGaussian | IsotropicGaussian


class CoordinateLaw(eqx.Module):
    """A law known by its behaviour in one coordinate; final classes state three functions."""

    @abstractmethod
    def sample(self, key: PRNGKeyArray, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        """One x for one theta."""

    @abstractmethod
    def log_density(self, x: Array, theta: Array) -> Array:
        """log p(x_k | theta_k), elementwise.

        Parameters
        ----------
        x, theta : array
            Realised and intended coordinates.

        Returns
        -------
        array
            One value for each coordinate.
        """

    @abstractmethod
    def log_marginal(self, x: Array, m: Array, s: Array) -> Array:
        """log P(x_k) for theta_k ~ N(m_k, s_k^2), elementwise.

        Parameters
        ----------
        x, m, s : array
            Realised coordinates, and mean and standard deviation of theta.

        Returns
        -------
        array
            One value for each coordinate.
        """

    def coordinate_log_prob(
        self, x: Float[Array, " d"], theta: Float[Array, " d"]
    ) -> Float[Array, " d"]:
        """log p of each coordinate, 0 where it was not measured."""
        measured = ~jnp.isnan(x)
        return jnp.where(measured, self.log_density(jnp.where(measured, x, theta), theta), 0.0)

    def log_prob(self, x: Float[Array, " d"], theta: Float[Array, " d"]) -> Float[Array, ""]:
        """log p_theta(x) of the measured coordinates."""
        return jnp.sum(self.coordinate_log_prob(x, theta))

    def has_partial_score(self) -> bool:
        """Always: coordinates are independent."""
        return True

    def partial_score(
        self,
        q: Factorised,
        x: Float[Array, "n d"],
        theta: Float[Array, "n d"],
        w: Float[Array, " n"],
    ) -> Factorised:
        """The score of x_k where it was measured, and of theta_k elsewhere."""

        def loglik(q: Factorised) -> Array:
            known = jax.vmap(self.marginal(q).log_prob)(x)
            other = jax.vmap(q.coordinate_log_prob)(theta)
            return known + jnp.sum(jnp.where(jnp.isnan(x), other, 0.0), axis=1)

        return score(loglik, q, w)

    def marginal(self, q: Factorised) -> "CoordinateMarginal":
        """P(x), coordinate by coordinate."""
        _validate.family(self, q, (DiagonalGaussian, IsotropicGaussian))
        return CoordinateMarginal(self, q)


class CoordinateMarginal(eqx.Module):
    """P(x) = prod_k P_k(x_k) over the coordinates that were measured."""

    law: CoordinateLaw
    q: Factorised

    def log_prob(self, x: Float[Array, " d"]) -> Float[Array, ""]:
        """log P(x) of the measured coordinates."""
        measured = ~jnp.isnan(x)
        filled = jnp.where(measured, x, self.q.mean)
        return jnp.sum(
            jnp.where(measured, self.law.log_marginal(filled, self.q.mean, self.q.std), 0.0)
        )


class StudentTNoise(CoordinateLaw):
    """x = theta + scale * t(df) in each coordinate: now and then one coordinate is far off.

    The marginal is integrated numerically: it and the score are good to 2e-9 for df from 0.7 to
    10000, at every x whose density is above 1e-15 of the largest. Further out, where no draw
    falls, the score is too large for df above 3.

    Parameters
    ----------
    scale : array_like, shape [] or [d]
        Positive size of the error.
    df : array_like, shape []
        Degrees of freedom; the fewer, the heavier the tails.

    Raises
    ------
    ValueError
        If scale or df is not positive.

    Examples
    --------
    >>> p = phenes.inputs.StudentTNoise(0.1, df=3.0)
    """

    scale: Float[Array, "..."]
    df: Float[Array, ""]

    def __init__(self, scale: ArrayLike, df: ArrayLike):
        self.scale = _arrays.positive("scale", scale)
        self.df = _validate.shape("df", _arrays.positive("df", df), (), "one law")

    def sample(self, key: PRNGKeyArray, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        """One x for one theta."""
        return theta + self.scale * jax.random.t(key, self.df, theta.shape, theta.dtype)

    def log_density(self, x: Array, theta: Array) -> Array:
        return t.logpdf(x, self.df, theta, self.scale)

    def log_marginal(self, x: Array, m: Array, s: Array) -> Array:
        """log P(x_k), a scale mixture of Gaussians, integrated over the scale.

        Parameters
        ----------
        x, m, s : array
            Realised coordinates, and mean and standard deviation of theta.

        Returns
        -------
        array
            One value for each coordinate.
        """
        log_tau, log_weight = scale_nodes(self.df)
        var = s[None] ** 2 + (self.scale * jnp.ones_like(s))[None] ** 2 * jnp.exp(-log_tau)[:, None]
        r = (x - m)[None]
        log_normal = -0.5 * (r * r / var + jnp.log(2 * jnp.pi * var))
        return jax.nn.logsumexp(log_weight[:, None] + log_normal, axis=0)


class LaplaceNoise(CoordinateLaw):
    """x = theta + Laplace(scale) in each coordinate; P is the normal-Laplace law.

    Parameters
    ----------
    scale : array_like, shape [] or [d]
        Positive mean size of the error.

    Raises
    ------
    ValueError
        If scale is not positive.

    Examples
    --------
    >>> p = phenes.inputs.LaplaceNoise(0.1)
    """

    scale: Float[Array, "..."]

    def __init__(self, scale: ArrayLike):
        self.scale = _arrays.positive("scale", scale)

    def sample(self, key: PRNGKeyArray, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        """One x for one theta."""
        return theta + self.scale * jax.random.laplace(key, theta.shape, theta.dtype)

    def log_density(self, x: Array, theta: Array) -> Array:
        return -jnp.abs(x - theta) / self.scale - jnp.log(2 * self.scale)

    def log_marginal(self, x: Array, m: Array, s: Array) -> Array:
        b, r = self.scale, x - m
        right = -r / b + log_ndtr(r / s - s / b)
        left = r / b + log_ndtr(-r / s - s / b)
        return 0.5 * (s / b) ** 2 - jnp.log(2 * b) + jnp.logaddexp(left, right)


class UniformNoise(CoordinateLaw):
    """x = theta + U(-width, width) in each coordinate: a tolerance with hard limits.

    log p is flat in theta, so estimators that use its slope would be biased and are refused; the
    phenotype score is exact.

    Parameters
    ----------
    width : array_like, shape [] or [d]
        Positive half-width of the tolerance.

    Raises
    ------
    ValueError
        If width is not positive.

    Examples
    --------
    >>> p = phenes.inputs.UniformNoise(0.1)
    """

    width: Float[Array, "..."]

    def __init__(self, width: ArrayLike):
        self.width = _arrays.positive("width", width)

    def sample(self, key: PRNGKeyArray, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        """One x for one theta."""
        return theta + self.width * jax.random.uniform(key, theta.shape, theta.dtype, minval=-1.0)

    def log_density(self, x: Array, theta: Array) -> Array:
        # rounding in theta + noise must not make an individual impossible under its own theta
        slack = 8 * eps(theta) * (jnp.abs(x) + self.width)
        return jnp.where(
            jnp.abs(x - theta) <= self.width + slack, -jnp.log(2 * self.width), -jnp.inf
        )

    def theta_score(
        self, x: Float[Array, "n d"], theta: Float[Array, "n d"]
    ) -> Float[Array, "n d"]:
        """Always refused: the slope of log p would bias every estimator that uses it."""
        raise ValueError(
            "UniformNoise has a density without slope in theta, which biases reparameterised and"
            " information_mix: use estimators.phenotype or estimators.exchangeable"
        )

    def log_marginal(self, x: Array, m: Array, s: Array) -> Array:
        return log_interval((x - self.width - m) / s, (x + self.width - m) / s) - jnp.log(
            2 * self.width
        )

    def posterior(self, q: Factorised, x: Float[Array, " d"]) -> "Truncated":
        """P(theta | x), a truncated normal law."""
        _validate.family(self, q, (DiagonalGaussian, IsotropicGaussian), "posterior")
        return Truncated(q.mean, q.std, jnp.zeros_like(q.mean), x - self.width, x + self.width)


class SaturatingNoise(CoordinateLaw):
    """x = clip(theta + N(0, scale^2), low, high): an actuator with end stops.

    At the stops x has probability, not density.

    Parameters
    ----------
    scale : array_like, shape [] or [d]
        Positive standard deviation before the stops.
    low : array_like, shape [] or [d]
        The lower stop.
    high : array_like, shape [] or [d]
        The upper stop, above low.

    Raises
    ------
    ValueError
        If scale is not positive, or low not below high.

    Examples
    --------
    >>> p = phenes.inputs.SaturatingNoise(0.1, low=-1.0, high=1.0)
    """

    scale: Float[Array, "..."]
    low: Float[Array, "..."]
    high: Float[Array, "..."]

    def __init__(self, scale: ArrayLike, low: ArrayLike, high: ArrayLike):
        self.scale = _arrays.positive("scale", scale)
        self.low, self.high = _arrays.as_float("low", low), _arrays.as_float("high", high)
        if _arrays.concrete(self.low, self.high) and not jnp.all(self.low < self.high):
            raise ValueError(
                f"low must be below high, got {_validate.describe(self.low)} and"
                f" {_validate.describe(self.high)}"
            )

    def sample(self, key: PRNGKeyArray, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        """One x for one theta."""
        return jnp.clip(
            theta + self.scale * jax.random.normal(key, theta.shape, theta.dtype),
            self.low,
            self.high,
        )

    def log_density(self, x: Array, theta: Array) -> Array:
        return self._censored(x, theta, self.scale)

    def log_marginal(self, x: Array, m: Array, s: Array) -> Array:
        return self._censored(x, m, jnp.sqrt(s**2 + self.scale**2))

    def _censored(self, x: Array, centre: Array, sd: Array) -> Array:
        inside = norm.logpdf(x, centre, sd)
        at_high, at_low = log_ndtr((centre - self.high) / sd), log_ndtr((self.low - centre) / sd)
        return jnp.where(x >= self.high, at_high, jnp.where(x <= self.low, at_low, inside))

    def posterior(self, q: Factorised, x: Float[Array, " d"]) -> "Truncated":
        """P(theta | x), a truncated normal law."""
        _validate.family(self, q, (DiagonalGaussian, IsotropicGaussian), "posterior")
        low = jnp.where(x >= self.high, self.high, jnp.where(x <= self.low, -jnp.inf, x))
        high = jnp.where(x <= self.low, self.low, jnp.where(x >= self.high, jnp.inf, x))
        return Truncated(q.mean, q.std, self.scale * jnp.ones_like(q.mean), low, high)


class RoundingNoise(CoordinateLaw):
    """x = step * round((theta + N(0, scale^2)) / step): a grid of settings.

    Parameters
    ----------
    step : array_like, shape [] or [d]
        Positive distance between settings.
    scale : array_like, shape [] or [d], default 0
        Standard deviation before rounding; it may be 0.

    Raises
    ------
    ValueError
        If step is not positive or scale negative.

    Examples
    --------
    >>> p = phenes.inputs.RoundingNoise(0.25)
    """

    step: Float[Array, "..."]
    scale: Float[Array, "..."]

    def __init__(self, step: ArrayLike, scale: ArrayLike = 0.0):
        self.step = _arrays.positive("step", step)
        self.scale = _arrays.positive("scale", scale, strict=False)

    def sample(self, key: PRNGKeyArray, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        """One x for one theta."""
        y = theta + self.scale * jax.random.normal(key, theta.shape, theta.dtype)
        return self.step * jnp.round(y / self.step)

    def log_density(self, x: Array, theta: Array) -> Array:
        # the smallest spread stands for none: the two ends are then at -inf and +inf
        return self._cell(x, theta, jnp.maximum(self.scale, tiny(theta)))

    def log_marginal(self, x: Array, m: Array, s: Array) -> Array:
        return self._cell(x, m, jnp.sqrt(s**2 + self.scale**2))

    def _cell(self, x: Array, centre: Array, sd: Array) -> Array:
        return log_interval((x - self.step / 2 - centre) / sd, (x + self.step / 2 - centre) / sd)

    def posterior(self, q: Factorised, x: Float[Array, " d"]) -> "Truncated":
        """P(theta | x), a truncated normal law."""
        _validate.family(self, q, (DiagonalGaussian, IsotropicGaussian), "posterior")
        scale = self.scale * jnp.ones_like(q.mean)
        return Truncated(q.mean, q.std, scale, x - self.step / 2, x + self.step / 2)


class Truncated(eqx.Module):
    """theta ~ N(mean, std^2) given low <= theta + N(0, scale^2) <= high, in each coordinate.

    low = high is an exact reading. NaN ends stand for a coordinate that was not measured: the prior
    is left as it is.
    """

    mean: Float[Array, " d"]
    std: Float[Array, " d"]
    scale: Float[Array, " d"]
    low: Float[Array, " d"]
    high: Float[Array, " d"]

    def _reading(self) -> tuple[Array, Array, Array]:
        """sd of theta + noise, and the ends in its units."""
        sd = jnp.sqrt(self.std**2 + self.scale**2)
        low = jnp.where(jnp.isnan(self.low), -jnp.inf, self.low)
        high = jnp.where(jnp.isnan(self.high), jnp.inf, self.high)
        return sd, (low - self.mean) / sd, (high - self.mean) / sd

    def sample(self, key: PRNGKeyArray) -> Float[Array, " d"]:
        """One theta."""
        reading, rest = jax.random.split(key)
        sd, low, high = self._reading()
        exact = low == high
        z = jnp.where(
            exact,
            low,
            truncated_normal(reading, jnp.where(exact, -1.0, low), jnp.where(exact, 1.0, high)),
        )
        gain = self.std**2 / sd**2
        spread = self.std * self.scale / sd
        return self.mean + gain * sd * z + spread * jax.random.normal(rest, z.shape, z.dtype)

    def log_prob(self, theta: Float[Array, " d"]) -> Float[Array, ""]:
        """Log-density of theta."""
        sd, low, high = self._reading()
        exact = low == high
        prior = log_normal_density((theta - self.mean) / self.std) - jnp.log(self.std)
        noise = jnp.maximum(self.scale, tiny(theta))
        ends = (self.mean + low * sd - theta) / noise, (self.mean + high * sd - theta) / noise
        point = log_normal_density(ends[0]) - jnp.log(noise) - log_normal_density(low) + jnp.log(sd)
        wide = jnp.where(exact, -1.0, ends[0]), jnp.where(exact, 1.0, ends[1])
        cell = log_interval(*wide) - log_interval(
            jnp.where(exact, -1.0, low), jnp.where(exact, 1.0, high)
        )
        return jnp.sum(prior + jnp.where(exact, point, cell))
