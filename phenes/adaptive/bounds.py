"""Where to aim when the minimum of a model lies outside the bounds."""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false

import numpy as np
from scipy.optimize import lsq_linear

from phenes.adaptive.coordinates import Coordinates
from phenes.adaptive.marginal import Marginal
from phenes.adaptive.newton import Confine


def confine(coords: Coordinates, marginal: Marginal, turn: np.ndarray | None) -> Confine:
    """The function that minimises a model with these axes within the bounds."""

    def within(g: np.ndarray, curvature: np.ndarray) -> tuple[np.ndarray, bool]:
        return lowest(coords, marginal, turn, g, curvature)

    return within


def lowest(
    coords: Coordinates,
    marginal: Marginal,
    turn: np.ndarray | None,
    g: np.ndarray,
    curvature: np.ndarray,
) -> tuple[np.ndarray, bool]:
    """The u within the bounds with the least g u + curvature u^2 / 2, along the columns of turn.

    And whether the bounds changed it. Curvatures are positive. In x the bounds are a box and the
    model is a sum of squares: linear least squares, which an active set solves exactly.
    """
    u = -g / curvature
    if not coords.bounded:
        return u, False
    here = coords.to_x(marginal.mean) - coords.bias
    there = coords.to_x(marginal.mean + marginal.unwhiten(u if turn is None else turn @ u))
    away = there - coords.bias - here
    low, high = np.minimum(coords.lower - here, 0.0), np.maximum(coords.upper - here, 0.0)
    if np.all((away >= low) & (away <= high)):
        return u, False
    if not coords.full:
        return _along(coords, marginal, turn, np.clip(away, low, high)), True
    root = np.sqrt(curvature)
    matrix = _along(coords, marginal, turn, np.eye(coords.dim)).T * root[:, None]
    # a box that is a point in some coordinate has no inside, which the solver asks for
    free = high > low
    step = np.zeros(coords.dim)
    if free.any():
        box = low[free], high[free]
        step[free] = lsq_linear(matrix[:, free], root * u, bounds=box, method="bvls").x
    return _along(coords, marginal, turn, step), True


def _along(
    coords: Coordinates, marginal: Marginal, turn: np.ndarray | None, away: np.ndarray
) -> np.ndarray:
    """Steps in x (rows or one vector), along the columns of turn."""
    y = coords.to_y(away)
    z = (y if marginal.basis is None else y @ marginal.basis) / marginal.root
    return z if turn is None else z @ turn
