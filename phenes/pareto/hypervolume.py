"""Sets of two values, both as small as possible: who dominates whom, and the area they rule."""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import math

import numpy as np
from scipy import special

from phenes._validate import BoolArray, FloatArray, IntArray

TINY = 1e-300  # keeps a division finite


def nondominated(values: FloatArray) -> BoolArray:
    """Which rows no other row beats: none is as small in both values and smaller in one.

    Parameters
    ----------
    values : ndarray, shape (n, 2)
        As minimised; rows that are not finite are beaten by any that is, and by none of their own.

    Returns
    -------
    ndarray of bool, shape (n,)
        Equal rows stay together.
    """
    good = np.all(np.isfinite(values), axis=1)
    less = np.all(values[:, None, :] <= values[None, :, :], axis=2)
    strictly = np.any(values[:, None, :] < values[None, :, :], axis=2)
    return good & ~np.any(less & strictly, axis=0)


def shown_to_be_beaten(values: FloatArray, errors: FloatArray) -> BoolArray:
    """Which rows another beats in both values, by more than the errors of their differences.

    Parameters
    ----------
    values, errors : ndarray, shape (n, 2)
        As minimised, and standard errors; what is not finite is not known.

    Returns
    -------
    ndarray of bool, shape (n,)
        Rows that are not finite are beaten.
    """
    known = np.all(np.isfinite(values), axis=1)
    error = np.hypot(errors[:, None, :], errors[None, :, :])
    with np.errstate(invalid="ignore"):
        less = np.all(values[None, :, :] - values[:, None, :] > error, axis=2)
    # equal in one value and better in the other, where both are exact
    exact = np.all(errors == 0, axis=1)
    beaten = exact & ~nondominated(np.where(exact[:, None], values, np.inf))
    return ~known | np.any(less, axis=0) | beaten


def staircase(values: FloatArray) -> FloatArray:
    """The rows that no other beats, each once, by their first value, (k, 2)."""
    return np.unique(values[nondominated(values)], axis=0)


def hypervolume(values: FloatArray, reference: FloatArray) -> float:
    """The area between a set of values and a reference that is worse.

    Parameters
    ----------
    values : ndarray, shape (n, 2)
        As minimised; what is not below the reference adds nothing.
    reference : ndarray, shape (2,)
        The corner.

    Returns
    -------
    float
    """
    stairs = staircase(values[np.all(values < reference, axis=1)])
    if not len(stairs):
        return 0.0
    ends = np.append(stairs[1:, 0], reference[0])
    return float(np.sum((ends - stairs[:, 0]) * (reference[1] - stairs[:, 1])))


def expected_improvement(
    mean: FloatArray, sd: FloatArray, stairs: FloatArray, reference: FloatArray
) -> FloatArray:
    """The area that points are expected to add to a front: two independent normal values each.

    Between neighbouring steps of the front the added area is a product of one part of each value,
    so that its expectation is a sum of products (Emmerich, Deutz and Klinkenberg, 2011).

    Parameters
    ----------
    mean, sd : ndarray, shape (m, 2)
        Of the values, as minimised.
    stairs : ndarray, shape (k, 2)
        The front, as `staircase` has it; all below the reference.
    reference : ndarray, shape (2,)
        The corner.

    Returns
    -------
    ndarray, shape (m,)
    """
    ends = np.append(stairs[:, 0], reference[0])
    floors = np.append(reference[1], stairs[:, 1])
    across = _excess(ends, mean[:, :1], sd[:, :1])
    across = np.diff(across, axis=1, prepend=0.0)  # what lies between one end and the next
    down = _excess(floors, mean[:, 1:], sd[:, 1:])
    return np.sum(np.maximum(across, 0.0) * down, axis=1)


def _excess(level: FloatArray, mean: FloatArray, sd: FloatArray) -> FloatArray:
    """E max(level - y, 0) for normal y: level (k,), mean and sd (m, 1), (m, k)."""
    scale = np.maximum(sd, TINY)
    z = (level - mean) / scale
    density = np.exp(-0.5 * np.minimum(np.abs(z), 1e100) ** 2) / math.sqrt(2 * math.pi)
    return (level - mean) * special.ndtr(z) + scale * density


def evenly(values: FloatArray, n: int) -> IntArray:
    """At most n rows of a front, its ends and others as far from each other as possible.

    Parameters
    ----------
    values : ndarray, shape (k, 2)
        Finite.
    n : int
        How many.

    Returns
    -------
    ndarray of int
        Ascending by the first value.
    """
    order = np.lexsort((values[:, 1], values[:, 0]))
    if order.size <= n:
        return order
    unit = (values - values.min(axis=0)) / np.maximum(np.ptp(values, axis=0), TINY)
    chosen = [int(order[0]), int(order[-1])][: max(n, 1)]
    apart = np.min([np.linalg.norm(unit - unit[k], axis=1) for k in chosen], axis=0)
    while len(chosen) < n:
        chosen.append(int(np.argmax(apart)))
        apart = np.minimum(apart, np.linalg.norm(unit - unit[chosen[-1]], axis=1))
    picked = np.array(sorted(set(chosen)))
    return picked[np.lexsort((values[picked, 1], values[picked, 0]))]
