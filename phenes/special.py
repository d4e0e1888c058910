# pyright: reportUnknownMemberType=false
"""Special functions without the cancellation of their textbook form (docs/parts/inputs.md)."""

from typing import cast

import jax
import jax.numpy as jnp
from jax.scipy.special import digamma, ndtri, polygamma
from jaxtyping import Array, Float, PRNGKeyArray

from phenes._jax import log_ndtr

Ends = tuple[Array, Array]
_SHIFT = 8  # after eight unit steps the asymptotic series below are good to 1e-13


def eps(a: Array) -> float:
    """The relative rounding error of a's dtype."""
    return float(cast(float, jnp.finfo(a.dtype).eps))


def tiny(a: Array) -> float:
    """The smallest normal number of a's dtype."""
    return float(cast(float, jnp.finfo(a.dtype).tiny))


def _shifts(a: Array) -> Float[Array, "8 ..."]:
    return a[None] + jnp.arange(_SHIFT, dtype=a.dtype).reshape(-1, *(1,) * a.ndim)


def _digamma_tail(t: Array) -> Array:
    """psi(t) - log t for t >= 8."""
    u = 1 / (t * t)
    return -0.5 / t - u * (
        1 / 12 - u * (1 / 120 - u * (1 / 252 - u * (1 / 240 - u * (1 / 132 - u * 691 / 32760))))
    )


def _gammaln_tail(t: Array) -> Array:
    """log Gamma(t) - [(t - 1/2) log t - t + log(2 pi)/2] for t >= 8."""
    u = 1 / (t * t)
    return (
        1 / 12 - u * (1 / 360 - u * (1 / 1260 - u * (1 / 1680 - u * (1 / 1188 - u * 691 / 360360))))
    ) / t


def digamma_difference(a: Array, j: Array) -> Array:
    """psi(a + j) - psi(a) for a > 0, j >= 0.

    The naive difference in float32 loses 5 % at a = 1e5 and everything at 1e7; this one is good to
    1e-6 there.
    """
    a, j = jnp.broadcast_arrays(jnp.asarray(a), jnp.asarray(j, jnp.result_type(a)))
    low = _shifts(a)
    # 1/(a+l) - 1/(a+j+l) = j / ((a+l)(a+j+l)): one product instead of a difference of near-equals
    steps = jnp.sum(j[None] / (low * (low + j[None])), axis=0)
    t = a + _SHIFT
    return steps + jnp.log1p(j / t) + (_digamma_tail(t + j) - _digamma_tail(t))


@jax.custom_jvp
def gammaln_difference(a: Array, j: Array) -> Array:
    """log Gamma(a + j) - log Gamma(a) for a > 0, j >= 0, with exact derivatives."""
    a, j = jnp.broadcast_arrays(jnp.asarray(a), jnp.asarray(j, jnp.result_type(a)))
    t = a + _SHIFT
    steps = -jnp.sum(jnp.log1p(j[None] / _shifts(a)), axis=0)
    stirling = (t - 0.5) * jnp.log1p(j / t) + j * jnp.log(t + j) - j
    return steps + stirling + (_gammaln_tail(t + j) - _gammaln_tail(t))


@gammaln_difference.defjvp
def _(primals: Ends, tangents: Ends) -> Ends:  # pyright: ignore[reportUnusedFunction]  # registered
    a, j = primals
    da, dj = tangents
    return gammaln_difference(a, j), digamma_difference(a, j) * da + digamma(a + j) * dj


def trigamma_excess(a: Array) -> Array:
    """1/psi1(a) - a + 1/2, which is small (about 1/(12 a)) where both terms are large."""
    small = jnp.minimum(a, 20.0)
    near = 1 / polygamma(1, small) - small + 0.5
    x = 1 / jnp.maximum(a, 20.0)
    u = x / 2 + x**2 / 6 - x**4 / 30 + x**6 / 42
    top = x * (1 / 12 + x * (1 / 12 + x * (1 / 30 - x * (1 / 60 + x * (1 / 42 - x / 84)))))
    return jnp.where(a < 20.0, near, top / (1 + u))


def log1mexp(x: Array) -> Array:
    """log(1 - exp(-x)) for x > 0."""
    small = x < 0.6931472
    near = jnp.log(-jnp.expm1(-jnp.where(small, x, 1.0)))
    return jnp.where(small, near, jnp.log1p(-jnp.exp(-jnp.where(small, 1.0, x))))


@jax.custom_jvp
def log_interval(low: Array, high: Array) -> Array:
    """log(Phi(high) - Phi(low)) for low < high, exact in both tails; the ends may be infinite."""
    flip = low + high > 0
    flip = flip | (low == jnp.inf)
    a, b = jnp.where(flip, -high, low), jnp.where(flip, -low, high)
    top = log_ndtr(b)
    gap = top - log_ndtr(a)
    return top + log1mexp(jnp.where(gap > 0, gap, tiny(gap)))


@log_interval.defjvp
def _(primals: Ends, tangents: Ends) -> Ends:  # pyright: ignore[reportUnusedFunction]  # registered
    low, high = primals
    mass = log_interval(low, high)

    def end(z: Array, tangent: Array) -> Array:
        # an infinite end has no density and does not move
        finite = jnp.where(jnp.isfinite(z), z, 0.0)
        slope = jnp.where(jnp.isfinite(z), jnp.exp(log_normal_density(finite) - mass), 0.0)
        return slope * tangent

    return mass, end(high, tangents[1]) - end(low, tangents[0])


def log_normal_density(z: Array) -> Array:
    """log phi(z) of the standard normal."""
    return -0.5 * z * z - 0.9189385332046727


def truncated_normal(key: PRNGKeyArray, low: Array, high: Array) -> Array:
    """Standard normal draws between low and high, by inversion on the side of the small tail."""
    flip = low + high > 0
    a, b = jnp.where(flip, -high, low), jnp.where(flip, -low, high)
    log_a, log_b = log_ndtr(a), log_ndtr(b)
    u = jax.random.uniform(key, jnp.shape(a), jnp.result_type(a), minval=1e-12)
    # log of (1-u) Phi(a) + u Phi(b)
    log_p = jnp.logaddexp(jnp.log1p(-u) + log_a, jnp.log(u) + log_b)
    z = jnp.clip(ndtri(jnp.exp(log_p)), a, b)
    return jnp.where(flip, -z, z)
