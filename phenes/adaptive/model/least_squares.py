"""The one least squares behind every model: normal equations with a small ridge."""

# pyright: reportUnknownMemberType=false

from typing import cast

import numpy as np
from scipy import linalg  # pyright: ignore[reportMissingTypeStubs]

from phenes.adaptive import tuning

Solved = tuple[np.ndarray, np.ndarray, int]  # SciPy has no type stubs


def solve(a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """Coefficients x [p] with the least |a x - b|^2; None if the equations cannot be solved."""
    n, p = a.shape
    if p > tuning.LARGEST_DIRECT:
        return conjugate_gradients(a, b)
    gram = a.T @ a
    gram[np.diag_indices(p)] += tuning.RIDGE * n
    # LAPACK itself: what SciPy does around it takes longer than small systems do
    _, x, info = cast("Solved", linalg.lapack.dposv(gram, a.T @ b))  # pyright: ignore[reportAttributeAccessIssue]
    return None if info else x


def conjugate_gradients(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The same least squares by conjugate gradients, in at most so many steps of O(n p).

    The columns after the first, which is 1, are standardised: rows of a wider search than the
    present one have large squares, which would take most of the steps.
    """
    centre = a[:, 1:].mean(axis=0)
    scale = np.maximum(a[:, 1:].std(axis=0), tuning.TINY)
    level = float(b.mean())
    x = _descend((a[:, 1:] - centre) / scale, b - level) / scale
    return np.concatenate([[level - centre @ x], x])


def _descend(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Conjugate gradients on the normal equations, from zero."""
    n, p = a.shape
    x = np.zeros(p)
    r = a.T @ b
    direction = r.copy()
    rr = float(r @ r)
    start = rr
    for _ in range(tuning.CG_STEPS):
        if rr <= tuning.CG_ENOUGH * start:
            break
        image = a.T @ (a @ direction) + tuning.RIDGE * n * direction
        alpha = rr / float(direction @ image)
        x += alpha * direction
        r -= alpha * image
        rr, old = float(r @ r), rr
        direction = r + rr / old * direction
    return x
