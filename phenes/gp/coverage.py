"""Which rows stand for all: as many as can be afforded, wherever the law of x reaches."""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import numpy as np
from scipy import special

from phenes._validate import FloatArray, IntArray
from phenes.gp import tuning


def covering(distance: FloatArray, dim: int, most: int) -> IntArray:
    """At most `most` rows that cover a law of x, in ascending order.

    The nearest alone would leave its tails to extrapolation, of which a kernel is too sure: of rows
    that the law reaches every second, third, ... is taken in the order of their distance; then come
    the nearest of the others.

    Parameters
    ----------
    distance : ndarray, shape (n,)
        Squared distances from the mean of x, in standard deviations of its law.
    dim : int
        Number of coordinates that vary.
    most : int
        How many rows.

    Returns
    -------
    ndarray of int, shape (m,)
    """
    order = np.argsort(distance, kind="stable")
    if order.size <= most:
        return np.arange(order.size)
    reach = float(special.chdtri(max(dim, 1), tuning.BEYOND))
    inside = int(np.searchsorted(distance[order], reach))
    if inside <= most:
        return np.sort(order[:most])
    return np.sort(order[np.linspace(0, inside - 1, most).round().astype(int)])


def enough_rows(dim: int) -> int:
    """How many rows explain f around an answer.

    Parameters
    ----------
    dim : int
        Number of coordinates.

    Returns
    -------
    int
    """
    return min(tuning.ROWS_EACH * (dim + 1), tuning.MOST_EXPLAINED)
