"""Where to aim when the minimum of a model lies outside the bounds."""

import numpy as np

from phenes.adaptive.coordinates import Coordinates
from phenes.adaptive.marginal import Marginal
from phenes.adaptive.newton import Confine


def confine(coords: Coordinates, marginal: Marginal, turn: np.ndarray | None) -> Confine:
    """The function that confines the advice of a model with these axes to the bounds."""

    def within(u: np.ndarray, curvature: np.ndarray) -> np.ndarray:
        return nearest(coords, marginal, turn, u, curvature) if coords.bounded else u

    return within


def nearest(
    coords: Coordinates,
    marginal: Marginal,
    turn: np.ndarray | None,
    u: np.ndarray,
    curvature: np.ndarray,
) -> np.ndarray:
    """The point within the bounds with the lowest value of a model with its minimum at u.

    `u` and `curvature` are along the columns of turn. Coordinates that leave the bounds are put on
    the border one set after the other and the others are optimised again: exact if none of them
    would want to come back, which is the common case, and within the bounds always.
    """
    z = u if turn is None else turn @ u
    wanted = coords.to_x(marginal.mean + marginal.unwhiten(z)) - coords.bias
    theta = np.clip(wanted, coords.lower, coords.upper)
    if np.array_equal(theta, wanted):
        return u
    if coords.full:
        _optimise_the_rest(coords, _hessian(coords, marginal, turn, curvature), wanted, theta)
    z = marginal.whiten(coords.to_y(theta + coords.bias))
    return z if turn is None else z @ turn


def _hessian(
    coords: Coordinates, marginal: Marginal, turn: np.ndarray | None, curvature: np.ndarray
) -> np.ndarray:
    """The Hessian of the model, in coordinates of x."""
    rows = coords.to_y(np.eye(coords.dim))  # images of the unit vectors of x
    rows = (rows if marginal.basis is None else rows @ marginal.basis) / marginal.root
    rows = rows if turn is None else rows @ turn
    return (rows * curvature) @ rows.T


def _optimise_the_rest(
    coords: Coordinates, hessian: np.ndarray, wanted: np.ndarray, theta: np.ndarray
) -> None:
    """Moves the coordinates of theta that are not on the border."""
    fixed = theta != wanted
    for _ in range(coords.dim):
        free = ~fixed
        if not free.any():
            return
        pull = hessian[np.ix_(free, fixed)] @ (theta - wanted)[fixed]
        theta[free] = (
            wanted[free] - np.linalg.lstsq(hessian[np.ix_(free, free)], pull, rcond=None)[0]
        )
        out = free & ((theta < coords.lower) | (theta > coords.upper))
        np.clip(theta, coords.lower, coords.upper, out=theta)
        if not out.any():
            return
        fixed |= out
