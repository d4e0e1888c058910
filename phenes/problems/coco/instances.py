"""The data of a BBOB instance: the optimum, the matrices and the peaks of the function."""

import math
from typing import NamedTuple

import numpy as np

from phenes.problems.coco.legacy_random import gaussian, location, offset, rotation, uniform

# where z sin(10 sqrt(z)) is largest in [0, 5], rounded as the suite has it
SCHWEFEL_OPTIMUM = 4.2096874637
LUNACEK_OPTIMUM = 2.5

# Two functions take the numbers of the function they vary, so that the pair differs in nothing but
# the function.
_SEED_TWINS = {4: 3, 18: 17}
_SECOND_SEED = 1_000_000


class Peaks(NamedTuple):
    """The P Gaussian peaks of a Gallagher function, in the rotated coordinates u = R (x - x_opt).

    centres: [P, d], the first is zero; scales: [P, d], the factors of the distances from the
    centres along the axes; heights: [P], the first is 10 and the others are below.
    """

    centres: np.ndarray
    scales: np.ndarray
    heights: np.ndarray


class Instance(NamedTuple):
    """All random data of one instance, in NumPy.

    Evaluation turns them into JAX arrays of the dtype of the point. x_opt: [d], a minimiser; f_opt:
    the smallest value; matrices: the linear maps of the function, each [d, d], in order of use;
    peaks: those of a Gallagher function, otherwise None.
    """

    x_opt: np.ndarray
    f_opt: np.float64
    matrices: tuple[np.ndarray, ...]
    peaks: Peaks | None


def make_instance(function: int, dim: int, instance: int) -> Instance:
    """Makes the data of an instance; the arrays are read-only, as instances are shared."""
    seed = _SEED_TWINS.get(function, function) + 10_000 * instance
    matrices = _matrices(function, dim, seed)
    peaks = None
    if function in (21, 22):
        x_opt, peaks = _gallagher(101 if function == 21 else 21, dim, seed, matrices[0])
    else:
        x_opt = _optimum(function, dim, seed, matrices)
    for array in (x_opt, *matrices, *(peaks or ())):
        array.flags.writeable = False
    return Instance(x_opt, np.float64(offset(seed)), matrices, peaks)


def scaling(alpha: float, dim: int) -> np.ndarray:
    """The diagonal [dim] of Lambda^alpha: alpha^(i / (2 (dim - 1))) for i = 0 .. dim - 1."""
    return np.sqrt(alpha) ** (np.arange(dim) / (dim - 1))


def stretch(dim: int) -> float:
    """The factor that keeps the valley of the Rosenbrock functions inside the box if dim > 64."""
    return max(1.0, math.sqrt(dim) / 8)


def _matrices(function: int, dim: int, seed: int) -> tuple[np.ndarray, ...]:
    """The matrices of the function, in order of use, with neighbouring factors merged.

    R and Q are the two rotations of an instance and Lambda^a is the scaling in between, all [d, d].
    """
    if function in (1, 2, 3, 4, 5, 8, 20):
        return ()
    if function in (9, 19):
        return (stretch(dim) * rotation(seed, dim),)
    if function in (21, 22):
        return (rotation(seed, dim),)
    r = rotation(seed + _SECOND_SEED, dim)
    if function in (10, 11, 14):
        return (r,)
    if function == 12:
        return (r, r)
    condition = {6: 10, 7: 10, 13: 10, 15: 10, 16: 0.01, 17: 10, 18: 1000, 23: 100, 24: 100}[
        function
    ]
    scaled_q = scaling(condition, dim)[:, None] * rotation(seed, dim)
    if function == 7:
        return (scaled_q, r)
    if function in (17, 18):
        return (r, scaled_q)
    merged = r @ scaled_q
    return (r, merged) if function in (15, 16) else (merged,)


def _optimum(function: int, dim: int, seed: int, matrices: tuple[np.ndarray, ...]) -> np.ndarray:
    """The minimiser [dim] of every function but the Gallagher functions."""
    # where the rotated and stretched point, moved by a half, is the vector of ones
    if function in (9, 19):
        return matrices[0].sum(axis=0) / (2 * stretch(dim) ** 2)
    if function == 20:
        return np.where(uniform(dim, seed) < 0.5, -0.5, 0.5) * SCHWEFEL_OPTIMUM
    if function == 24:
        return np.where(gaussian(dim, seed) < 0, -0.5, 0.5) * LUNACEK_OPTIMUM
    point = location(seed + _SECOND_SEED if function == 12 else seed, dim)
    if function == 4:  # absent from the written definition, but part of the suite
        point[::2] = np.abs(point[::2])
    if function == 5:
        point = np.where(point < 0, -5.0, 5.0)
    return 0.75 * point if function == 8 else point


def _gallagher(count: int, dim: int, seed: int, r: np.ndarray) -> tuple[np.ndarray, Peaks]:
    """Optimum [dim] and `count` peaks of a Gallagher function with rotation r [dim, dim]."""
    many = count == 101
    width = 10.0 if many else 9.8
    points = width * uniform(count * dim, seed).reshape(count, dim) - width / 2
    points[0] *= 0.8
    # The conditions of the other peaks are a shuffled geometric sequence from 1 to 1000.
    order = np.argsort(uniform(count - 1, seed), kind="stable")
    conditions = np.append(np.sqrt(1000.0) if many else 1000.0, 1000.0 ** (order / (count - 2)))
    axes = np.stack(
        [np.argsort(uniform(dim, seed + 1000 * i), kind="stable") for i in range(count)]
    )
    scales = conditions[:, None] ** (axes / (2 * (dim - 1)) - 0.25)
    heights = np.append(10.0, np.linspace(1.1, 9.1, count - 1))
    return points[0].copy(), Peaks((points - points[0]) @ r.T, scales, heights)
