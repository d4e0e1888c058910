"""Functions of any dimension whose E f under Gaussian noise is known: smooth, turned and rugged."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

STIFFEST = 10.0  # curvature over the least
PERIOD = 0.5  # of the ripples
HEIGHT = 1.0  # of the ripples of f


class Function(NamedTuple):
    """f of rows [n, d], and E f less its least value at one theta, for a noise."""

    about: str
    f: Callable[[np.ndarray], np.ndarray]
    regret: Callable[[np.ndarray, float], float]


def curvatures(dim: int) -> np.ndarray:
    return np.linspace(1.0, STIFFEST, dim)


@functools.lru_cache(maxsize=2)
def rotation(dim: int) -> np.ndarray:
    """A random orthogonal matrix, always the same."""
    return np.linalg.qr(np.random.default_rng(dim).standard_normal((dim, dim)))[0]


def _ellipsoid(x: np.ndarray) -> np.ndarray:
    return x**2 @ curvatures(x.shape[1])


def _turned(x: np.ndarray) -> np.ndarray:
    return _ellipsoid(x @ rotation(x.shape[1]))


def _ripples(x: np.ndarray) -> np.ndarray:
    return np.sum(1 - np.cos(2 * np.pi / PERIOD * x), axis=1)


def _damping(noise: float) -> float:
    """E cos(k (theta + noise z)) = exp(-(k noise)^2 / 2) cos(k theta)."""
    return float(np.exp(-((2 * np.pi / PERIOD * noise) ** 2) / 2))


FUNCTIONS = {
    "ellipsoid": Function(
        "sum of linspace(1, 10, d) x^2",
        _ellipsoid,
        lambda theta, noise: float(_ellipsoid(theta[None])[0]),
    ),
    "turned": Function(
        "the same, turned at random",
        _turned,
        lambda theta, noise: float(_turned(theta[None])[0]),
    ),
    "rugged": Function(
        "the ellipsoid and sum of 1 - cos(4 pi x)",
        lambda x: _ellipsoid(x) + HEIGHT * _ripples(x),
        lambda theta, noise: float(
            _ellipsoid(theta[None])[0] + HEIGHT * _damping(noise) * _ripples(theta[None])[0]
        ),
    ),
}
