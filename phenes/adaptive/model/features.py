"""Hermite features of whitened points, and their number.

For z ~ N(0, I) they are orthonormal: the coefficients of 1, z and the second Hermite polynomials
are the mean, gradient and Hessian of the *smoothed* objective E f(mean + z) (Stein's identity).
"""

import functools

import numpy as np

from phenes.adaptive import tuning


def full_features(dim: int) -> int:
    """Number of features with all products of two coordinates."""
    return 1 + dim + dim * (dim + 1) // 2


def axis_features(dim: int) -> int:
    """Number of features with curvature along the axes only."""
    return 1 + 2 * dim


def features_of(dim: int) -> int:
    """Number of features of the richest model that is fitted all the time in this dimension."""
    full = full_features(dim)
    return full if full <= tuning.LARGEST_FULL_MODEL else axis_features(dim)


def dear(dim: int) -> bool:
    """Whether fitting all products every time costs more than most functions do (d > 27)."""
    return full_features(dim) > tuning.DEAR_FEATURES


def richest(dim: int) -> int:
    """Number of features of the richest model in this dimension, once there are rows for it."""
    return full_features(dim) if 1 < dim <= tuning.LARGEST_MATRIX else axis_features(dim)


def crosses(dim: int, n: int) -> bool:
    """Whether n rows suffice for a model with all products of coordinates."""
    p = richest(dim)
    return p > axis_features(dim) and n > tuning.LEAST_ROWS_PER_FEATURE * p


@functools.lru_cache(maxsize=8)
def pairs(dim: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices j < k of the products of coordinates, in the order of `design`."""
    return np.triu_indices(dim, 1)


def design(z: np.ndarray, full: bool) -> np.ndarray:
    """Features [n, p]: 1, z_k, (z_k^2 - 1) / sqrt 2 and, if full, z_j z_k with j < k."""
    n, d = z.shape
    z = np.asfortranarray(z)
    a = np.empty((n, full_features(d) if full else axis_features(d)), order="F")
    a[:, 0] = 1
    a[:, 1 : d + 1] = z
    a[:, d + 1 : 2 * d + 1] = (z**2 - 1) / np.sqrt(2)
    at = 2 * d + 1
    for k in range(d - 1 if full else 0):
        np.multiply(z[:, k : k + 1], z[:, k + 1 :], out=a[:, at : at + d - 1 - k])
        at += d - 1 - k
    return a


def higher(u: np.ndarray, mixed: bool) -> np.ndarray:
    """Features of third and fourth order along the axes and, if mixed, (u_j^2 - 1) u_k."""
    columns = [(u**3 - 3 * u) / np.sqrt(6), (u**4 - 6 * u**2 + 3) / np.sqrt(24)]
    if mixed:
        square = (u**2 - 1) / np.sqrt(2)
        columns += [square * np.roll(u, k, axis=1) for k in range(1, u.shape[1])]
    return np.concatenate(columns, axis=1)
