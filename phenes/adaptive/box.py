"""Where to aim when the model's advice lies outside the box."""

import numpy as np

from phenes.adaptive.normal import Normal
from phenes.adaptive.space import Space


def nearest(
    space: Space, normal: Normal, turn: np.ndarray | None, u: np.ndarray, curvature: np.ndarray
) -> np.ndarray:
    """The point that the box allows with the lowest value of a model with its minimum at u and this
    curvature (along the columns of turn).

    Coordinates that leave the box are put on its border one set after the other and the others are
    optimised again: exact if none of them would want to come back, which is the common case, and
    inside the box always.
    """
    wanted = space.to_x(normal.mean + normal.unwhiten(u if turn is None else turn @ u)) - space.bias
    theta = np.clip(wanted, space.lower, space.upper)
    if np.array_equal(theta, wanted):
        return u
    if space.full:
        _optimise_the_rest(space, _hessian(space, normal, turn, curvature), wanted, theta)
    z = normal.whiten(space.to_y(theta + space.bias))
    return z if turn is None else z @ turn


def _hessian(
    space: Space, normal: Normal, turn: np.ndarray | None, curvature: np.ndarray
) -> np.ndarray:
    """Of the model, in coordinates of x."""
    rows = space.to_y(np.eye(space.dim))  # images of the unit vectors of x
    rows = (rows if normal.basis is None else rows @ normal.basis) / normal.root
    rows = rows if turn is None else rows @ turn
    return (rows * curvature) @ rows.T


def _optimise_the_rest(
    space: Space, hessian: np.ndarray, wanted: np.ndarray, theta: np.ndarray
) -> None:
    """Moves the coordinates of theta that are not on the border."""
    fixed = theta != wanted
    for _ in range(space.dim):
        free = ~fixed
        if not free.any():
            return
        pull = hessian[np.ix_(free, fixed)] @ (theta - wanted)[fixed]
        theta[free] = (
            wanted[free] - np.linalg.lstsq(hessian[np.ix_(free, free)], pull, rcond=None)[0]
        )
        out = free & ((theta < space.lower) | (theta > space.upper))
        np.clip(theta, space.lower, space.upper, out=theta)
        if not out.any():
            return
        fixed |= out
