"""Checks at the door of the engine: one sentence that names what was given and what was expected.
(NumPy only: no JAX here.)
"""

from typing import Any, NamedTuple

import numpy as np


class Given(NamedTuple):
    x0: np.ndarray
    width: np.ndarray
    cov: np.ndarray
    bias: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def check(
    x0: Any, sigma0: Any, cov: Any, popsize: int | None, bias: Any, lower: Any, upper: Any
) -> Given:
    """The arguments as arrays of one dimension."""
    start = np.atleast_1d(np.array(x0, float))
    if start.ndim != 1 or not np.all(np.isfinite(start)):
        raise ValueError(f"x0 must be a vector of finite numbers, got {x0!r}")
    width = _vector("sigma0", sigma0, start.size)
    if not (np.all(np.isfinite(width)) and np.all(width > 0)):
        raise ValueError(f"sigma0 must be positive, got {sigma0!r}")
    low = _vector("lower", -np.inf if lower is None else lower, start.size)
    high = _vector("upper", np.inf if upper is None else upper, start.size)
    if not np.all(low < high):
        raise ValueError(
            f"lower must be below upper in every coordinate, got {lower!r} and {upper!r}"
        )
    if popsize is not None and popsize < 2:
        raise ValueError(f"popsize must be at least 2, got {popsize!r}")
    return Given(
        start,
        width,
        covariance(cov, start.size),
        _vector("bias", 0.0 if bias is None else bias, start.size),
        low,
        high,
    )


def covariance(cov: Any, dim: int) -> np.ndarray:
    """Variances [d] or a matrix [d, d], finite."""
    array = np.array(cov, float)
    if array.shape not in ((dim,), (dim, dim)):
        raise ValueError(
            f"cov must have shape ({dim},) or ({dim}, {dim}) to match x0, got {array.shape}"
        )
    if not np.all(np.isfinite(array)) or np.any((array if array.ndim == 1 else np.diag(array)) < 0):
        raise ValueError("cov must be finite with variances of at least zero")
    return array


def samples(x: Any, f: Any, dim: int) -> tuple[np.ndarray, np.ndarray]:
    """Realised points [n, d] and their values [n]."""
    points, values = np.atleast_2d(np.asarray(x, float)), np.atleast_1d(np.asarray(f, float))
    if points.shape != (values.size, dim) or values.ndim != 1:
        raise ValueError(
            f"x must have shape ({values.size}, {dim}) to match f and x0, got {points.shape}"
        )
    return points, values


def _vector(name: str, value: Any, dim: int) -> np.ndarray:
    array = np.asarray(value, float)
    if array.shape not in ((), (1,), (dim,)):
        raise ValueError(
            f"{name} must be a number or have shape ({dim},) to match x0, got {array.shape}"
        )
    return np.broadcast_to(array, (dim,)).copy()
