"""How x is realised from theta: in NumPy for the truth and the rivals, and as it is stated to
phenes.

The two are written apart on purpose: a law of the library that drew something else than it says
would be seen as missed coverage.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


class Law(Protocol):
    """`size`: a standard deviation, roughly, for choosing how far to look around the start."""

    @property
    def size(self) -> float: ...

    def realise(self, theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """x [n, d] of rows theta [n, d]; the random numbers taken do not depend on theta."""
        ...

    def stated(self) -> Any:
        """As `noise` of `phenes.minimize`."""
        ...


@dataclass(frozen=True)
class Exact:
    """x = theta."""

    size: float = 0.0

    def realise(self, theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return theta

    def stated(self) -> Any:
        return None


@dataclass(frozen=True)
class Gaussian:
    """scale: a standard deviation, one for each coordinate, or a covariance matrix."""

    scale: Any

    @property
    def size(self) -> float:
        scale = np.asarray(self.scale)
        return float(
            np.sqrt(np.trace(scale) / len(scale)) if scale.ndim == 2 else np.sqrt(np.mean(scale**2))
        )

    def realise(self, theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        z, scale = rng.standard_normal(theta.shape), np.asarray(self.scale)
        return theta + (z @ np.linalg.cholesky(scale).T if scale.ndim == 2 else z * scale)

    def stated(self) -> Any:
        return self.scale


@dataclass(frozen=True)
class StudentT:
    scale: float
    df: float

    @property
    def size(self) -> float:
        return self.scale * np.sqrt(self.df / (self.df - 2))

    def realise(self, theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return theta + self.scale * rng.standard_t(self.df, theta.shape)

    def stated(self) -> Any:
        from phenes.inputs import StudentTNoise

        return StudentTNoise(self.scale, self.df)


@dataclass(frozen=True)
class Laplace:
    scale: float

    @property
    def size(self) -> float:
        return self.scale * np.sqrt(2)

    def realise(self, theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return theta + rng.laplace(0.0, self.scale, theta.shape)

    def stated(self) -> Any:
        from phenes.inputs import LaplaceNoise

        return LaplaceNoise(self.scale)


@dataclass(frozen=True)
class Uniform:
    """Within +-width of theta."""

    width: float

    @property
    def size(self) -> float:
        return self.width / np.sqrt(3)

    def realise(self, theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return theta + self.width * rng.uniform(-1, 1, theta.shape)

    def stated(self) -> Any:
        from phenes.inputs import UniformNoise

        return UniformNoise(self.width)


@dataclass(frozen=True)
class Rounding:
    """To a grid, after an error of the hand."""

    step: float
    scale: float

    @property
    def size(self) -> float:
        return float(np.hypot(self.scale, self.step / np.sqrt(12)))

    def realise(self, theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self.step * np.round(
            (theta + self.scale * rng.standard_normal(theta.shape)) / self.step
        )

    def stated(self) -> Any:
        from phenes.inputs import RoundingNoise

        return RoundingNoise(self.step, self.scale)


@dataclass(frozen=True)
class Saturating:
    """End stops at low and high."""

    scale: float
    low: float
    high: float

    @property
    def size(self) -> float:
        return self.scale

    def realise(self, theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.clip(theta + self.scale * rng.standard_normal(theta.shape), self.low, self.high)

    def stated(self) -> Any:
        from phenes.inputs import SaturatingNoise

        return SaturatingNoise(self.scale, self.low, self.high)


@dataclass(frozen=True)
class Contaminated:
    """Mostly `scale`; a `share` of the draws is `wide` instead, in all coordinates together."""

    scale: float
    wide: float
    share: float

    @property
    def size(self) -> float:
        return float(np.sqrt((1 - self.share) * self.scale**2 + self.share * self.wide**2))

    def realise(self, theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        bad = rng.random((len(theta), 1)) < self.share
        return theta + np.where(bad, self.wide, self.scale) * rng.standard_normal(theta.shape)

    def stated(self) -> Any:
        from phenes.inputs import GaussianMixtureNoise

        return GaussianMixtureNoise(np.array([1 - self.share, self.share]), [self.scale, self.wide])


@dataclass(frozen=True)
class Varying:
    """N(theta, std(theta)^2), with a std that NumPy and JAX can both evaluate."""

    std: Callable[[Any], Any]
    size: float

    def realise(self, theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return theta + self.std(theta) * rng.standard_normal(theta.shape)

    def stated(self) -> Any:
        from phenes.inputs import HeteroscedasticNoise

        return HeteroscedasticNoise(self.std)


SKEW = 0.15


@dataclass(frozen=True)
class Skewed:
    """x = theta + SKEW (e - 1), e exponential: mostly a little short, now and then far beyond.
    Stated as a law of one's own.
    """

    size: float = SKEW

    def realise(self, theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return theta + SKEW * (rng.exponential(size=theta.shape) - 1)

    def stated(self) -> Any:
        from phenes.inputs import Law as Own

        return Own(_sample_skewed, _skewed_log_prob)


def _sample_skewed(key: Any, theta: Any) -> Any:
    import jax

    return theta + SKEW * (jax.random.exponential(key, theta.shape, theta.dtype) - 1.0)


def _skewed_log_prob(x: Any, theta: Any) -> Any:
    import jax.numpy as jnp

    e = (x - theta) / SKEW + 1.0
    return jnp.sum(jnp.where(e >= 0, -e, -jnp.inf) - np.log(SKEW))
