"""Which tolerance costs how much: what the noise of each coordinate does to f at one theta.

By a quadratic f = a + g'z + z'Hz / 2 of the rows around it, with z = (x - centre) / std. Under a
normal law of correlations C its variance is g'Cg + tr(HCHC) / 2, and E f - f(centre) = tr(HC) / 2:
sums over coordinates, if a product of two is shared by halves.
"""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from phenes._validate import BoolArray, FloatArray, IntArray
from phenes.adaptive.model.features import axis_features, design, full_features, pairs

ROWS_PER_FEATURE = 3  # rows for each feature from which products of coordinates are fitted
LEAST_ROWS = 1.5  # rows for each feature below which nothing is fitted
MOST_FEATURES = 500  # of the quadratic: d = 30 with all products
RIDGE = 1e-10


class Tolerances(NamedTuple):
    """What the noise of each coordinate does to f.

    Attributes
    ----------
    share : ndarray, shape (m,)
        Of the variance of the quadratic; they sum to one.
    cost, cost_se : ndarray, shape (m,)
        E f - f without noise by coordinate, and the standard error of what its curvature adds.
    explained : float
        Share of the variance of f that the quadratic explains in rows that it was not fitted to;
        below 0 if it explains nothing.
    rows : int
        Rows that this rests on.
    crossed : bool
        Whether the quadratic has products of coordinates.
    """

    share: FloatArray
    cost: FloatArray
    cost_se: FloatArray
    explained: float
    rows: int
    crossed: bool


def shares(g: FloatArray, h: FloatArray, correlation: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The parts of Var f and of E f - f(0) that each coordinate causes.

    Parameters
    ----------
    g, h : ndarray, shape (m,), (m, m)
        Gradient and Hessian of f in z.
    correlation : ndarray, shape (m, m)
        Of z, which is normal with mean zero.

    Returns
    -------
    variance, cost : ndarray, shape (m,)
        In units of f, squared and as they are; their sums are Var f and E f - f(0).
    """
    hc = h @ correlation
    variance = g * (correlation @ g) + 0.5 * np.einsum("ij,ji->i", hc, hc)
    return variance, 0.5 * np.diag(hc)


def tolerances(z: FloatArray, f: FloatArray, correlation: FloatArray) -> Tolerances | None:
    """The shares by a quadratic of some rows.

    Squares of what is estimated are too large by the variance of the estimate, which is taken off
    before they are compared: with few rows all coordinates would seem to matter alike.

    Parameters
    ----------
    z : ndarray, shape (n, m)
        Realised x around the mean of its law, in standard deviations.
    f : ndarray, shape (n,)
        Values there.
    correlation : ndarray, shape (m, m)
        Of z.

    Returns
    -------
    Tolerances or None
        None if there are too few rows, or f does not vary.
    """
    n, m = z.shape
    scale = float(f.std()) if n else 0.0
    crossed = enough_for_products(n, m)
    p = full_features(m) if crossed else axis_features(m)
    if n < fewest_rows(m) or not (np.isfinite(scale) and scale > 0):
        return None
    a, y = design(z, crossed), (f - f.mean()) / scale
    gram = a.T @ a
    gram[np.diag_indices(p)] += RIDGE * n
    try:
        factor = cho_factor(gram, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    beta, solved = cho_solve(factor, a.T @ y), cho_solve(factor, a.T)
    leverage = np.minimum(np.einsum("ij,ji->i", a, solved), 1 - 1e-6)
    rest = (y - a @ beta) / (1 - leverage)  # without the row itself
    doubt = (solved**2) @ rest**2  # variances of beta, whatever those of the rows (HC3)
    sure = np.sign(beta) * np.sqrt(np.maximum(beta**2 - doubt, 0.0))
    variance, _ = shares(*_derivatives(sure, m, crossed), correlation)
    _, cost = shares(*_derivatives(beta, m, crossed), correlation)
    if not variance.sum() > 0:
        return None
    return Tolerances(
        variance / variance.sum(),
        scale * cost,
        scale * np.sqrt(doubt[m + 1 : 2 * m + 1] / 2),
        1 - float(np.mean(rest**2)),
        n,
        crossed,
    )


def fewest_rows(dim: int) -> int:
    """How many rows a quadratic without products of coordinates needs.

    Parameters
    ----------
    dim : int
        Number of coordinates.

    Returns
    -------
    int
    """
    return math.ceil(LEAST_ROWS * axis_features(dim) + 2)


def enough_for_products(n: int, dim: int) -> bool:
    """Whether n rows suffice for all products of two coordinates.

    Parameters
    ----------
    n, dim : int
        Number of rows and coordinates.

    Returns
    -------
    bool
    """
    p = full_features(dim)
    return dim > 1 and p <= MOST_FEATURES and n >= ROWS_PER_FEATURE * p


def around(z: FloatArray, own: BoolArray, reach: float) -> IntArray:
    """The rows that say how f varies under the law: its own draws, and others if these are few.

    Parameters
    ----------
    z : ndarray, shape (n, m)
        Realised x around the mean of the law, in standard deviations.
    own : ndarray of bool, shape (n,)
        Which rows were drawn from it.
    reach : float
        Squared length of z up to which others are taken, the nearest first.

    Returns
    -------
    ndarray of int, shape (k,)
    """
    m = z.shape[1]
    p = full_features(m)
    wanted = ROWS_PER_FEATURE * (p if p <= MOST_FEATURES else axis_features(m))
    distance = np.sum(z**2, axis=1)
    others = np.flatnonzero(~own & (distance <= reach))
    nearest = others[np.argsort(distance[others], kind="stable")]
    return np.concatenate([np.flatnonzero(own), nearest[: max(wanted - int(own.sum()), 0)]])


def _derivatives(beta: FloatArray, m: int, crossed: bool) -> tuple[FloatArray, FloatArray]:
    """Gradient and Hessian from the coefficients of `design`."""
    h = np.diag(math.sqrt(2) * beta[m + 1 : 2 * m + 1])
    if crossed:
        h[pairs(m)] = beta[2 * m + 1 :]
        h[pairs(m)[::-1]] = beta[2 * m + 1 :]
    return beta[1 : m + 1], h
