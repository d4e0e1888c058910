"""How x is realised from theta: in NumPy for the truth and the rivals, and as it is stated to
phenes.

The two are written apart on purpose: a law of the library that drew something else than it says
would be seen as missed coverage.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Realise = Callable[[np.ndarray, np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class Law:
    """size: a standard deviation, roughly, for choosing how far to look around the start.

    realise(theta, rng): x [n, d] of rows theta [n, d]; the random numbers taken do not depend on
    theta. stated(): as `noise` of `phenes.minimize`.
    """

    size: float
    realise: Realise
    stated: Callable[[], Any]


def _law(size: float, realise: Realise, name: str, *values: Any) -> Law:
    """name, values: the law of `phenes.inputs` that states it."""

    def stated() -> Any:
        from phenes import inputs

        return getattr(inputs, name)(*values)

    return Law(float(size), realise, stated)


def exactly() -> Law:
    """x = theta."""
    return Law(0.0, lambda theta, rng: theta, lambda: None)


def gaussian(scale: Any) -> Law:
    """scale: a standard deviation, one for each coordinate, or a covariance matrix."""
    given = np.asarray(scale)
    if given.ndim == 2:
        root = np.linalg.cholesky(given)
        return Law(
            float(np.sqrt(np.trace(given) / len(given))),
            lambda theta, rng: theta + rng.standard_normal(theta.shape) @ root.T,
            lambda: scale,
        )
    return Law(
        float(np.sqrt(np.mean(given**2))),
        lambda theta, rng: theta + rng.standard_normal(theta.shape) * given,
        lambda: scale,
    )


def student_t(scale: float, df: float) -> Law:
    return _law(
        scale * np.sqrt(df / (df - 2)),
        lambda theta, rng: theta + scale * rng.standard_t(df, theta.shape),
        "StudentTNoise",
        scale,
        df,
    )


def laplace(scale: float) -> Law:
    return _law(
        scale * np.sqrt(2),
        lambda theta, rng: theta + rng.laplace(0.0, scale, theta.shape),
        "LaplaceNoise",
        scale,
    )


def uniform(width: float) -> Law:
    """Within +-width of theta."""
    return _law(
        width / np.sqrt(3),
        lambda theta, rng: theta + width * rng.uniform(-1, 1, theta.shape),
        "UniformNoise",
        width,
    )


def rounding(step: float, scale: float) -> Law:
    """To a grid, after an error of the hand."""
    return _law(
        np.hypot(scale, step / np.sqrt(12)),
        lambda theta, rng: (
            step * np.round((theta + scale * rng.standard_normal(theta.shape)) / step)
        ),
        "RoundingNoise",
        step,
        scale,
    )


def saturating(scale: float, low: float, high: float) -> Law:
    """End stops at low and high."""
    return _law(
        scale,
        lambda theta, rng: np.clip(theta + scale * rng.standard_normal(theta.shape), low, high),
        "SaturatingNoise",
        scale,
        low,
        high,
    )


def contaminated(scale: float, wide: float, share: float) -> Law:
    """Mostly `scale`; a `share` of the draws is `wide` instead, in all coordinates together."""

    def realise(theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        bad = rng.random((len(theta), 1)) < share
        return theta + np.where(bad, wide, scale) * rng.standard_normal(theta.shape)

    size = np.sqrt((1 - share) * scale**2 + share * wide**2)
    shares = np.array([1 - share, share])
    return _law(size, realise, "GaussianMixtureNoise", shares, [scale, wide])


def varying(std: Callable[[Any], Any], size: float) -> Law:
    """N(theta, std(theta)^2), with a std that NumPy and JAX can both evaluate."""
    return _law(
        size,
        lambda theta, rng: theta + std(theta) * rng.standard_normal(theta.shape),
        "HeteroscedasticNoise",
        std,
    )


SKEW = 0.15


def skewed() -> Law:
    """x = theta + SKEW (e - 1), e exponential: mostly a little short, now and then far beyond.
    Stated as a law of one's own.
    """
    return _law(
        SKEW,
        lambda theta, rng: theta + SKEW * (rng.exponential(size=theta.shape) - 1),
        "Law",
        _sample_skewed,
        _skewed_log_prob,
    )


def _sample_skewed(key: Any, theta: Any) -> Any:
    import jax

    return theta + SKEW * (jax.random.exponential(key, theta.shape, theta.dtype) - 1.0)


def _skewed_log_prob(x: Any, theta: Any) -> Any:
    import jax.numpy as jnp

    e = (x - theta) / SKEW + 1.0
    return jnp.sum(jnp.where(e >= 0, -e, -jnp.inf) - np.log(SKEW))
