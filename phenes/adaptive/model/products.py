"""A quadratic with all products of many coordinates, by conjugate gradients without its design.

f = c + g'z + (z'Hz - tr H) / 2 has d^2 / 2 coefficients: a design of as many columns would not fit
into memory. Both products with it need the rows z only: A (c, g, H) is the formula above for every
row, and A' w = (sum w, Z'w, Z' diag(w) Z - sum(w) I), in the norm c^2 + |g|^2 + |H|^2 / 2, in which
Hermite features are orthonormal.
"""

from dataclasses import dataclass

import numpy as np

from phenes.adaptive import tuning


@dataclass(frozen=True)
class Coefficients:
    """Level, gradient [d] and Hessian [d, d]."""

    c: float
    g: np.ndarray
    h: np.ndarray

    def plus(self, factor: float, other: "Coefficients") -> "Coefficients":
        return Coefficients(
            self.c + factor * other.c, self.g + factor * other.g, self.h + factor * other.h
        )

    @property
    def squared(self) -> float:
        return self.c**2 + float(self.g @ self.g) + float(np.vdot(self.h, self.h)) / 2


def values(z: np.ndarray, at: Coefficients) -> np.ndarray:
    """The quadratic at rows z [n, d]."""
    curved = np.einsum("ij,ij->i", z @ at.h, z)
    return at.c + z @ at.g + (curved - np.trace(at.h)) / 2


def _adjoint(z: np.ndarray, w: np.ndarray) -> Coefficients:
    total = float(w.sum())
    h = (z * w[:, None]).T @ z
    h[np.diag_indices(len(h))] -= total
    return Coefficients(total, z.T @ w, h)


def solve(z: np.ndarray, b: np.ndarray, start: Coefficients) -> tuple[Coefficients, np.ndarray]:
    """The coefficients nearest to `start` that explain values b [n] of rows z, and what they miss.

    With fewer rows than coefficients the change of the Hessian is the least that explains them
    (Powell's least Frobenius norm): what has been seen is learnt, the rest stays. Some rows are
    held out and end the steps when these no longer help them. Returned is what is missed there.
    Rows further out than draws weigh less: the model is for the others, and steps converge faster.
    """
    weight = 1 / np.maximum(np.sum(z**2, axis=1) / z.shape[1], 1.0)
    out = np.arange(len(b)) % tuning.HELD_OUT == 0
    test, near = z[out], weight[out]
    z, weight, truth = z[~out], weight[~out], b[~out]
    x = best = start
    rest = weight * (truth - values(z, x))
    missed = least = near * (b[out] - values(test, x))
    slope = _adjoint(z, weight * rest)
    direction = slope
    squared = first = slope.squared
    since = 0  # steps that did not help
    for _ in range(tuning.PRODUCT_STEPS):
        if squared <= tuning.CG_ENOUGH * first or since >= tuning.PRODUCT_PATIENCE:
            break
        image = weight * values(z, direction)
        factor = squared / max(float(image @ image), tuning.TINY)
        x = x.plus(factor, direction)
        rest = rest - factor * image
        missed = missed - factor * near * values(test, direction)
        since += 1
        if missed @ missed < tuning.PRODUCT_HELPS * (least @ least):
            best, least, since = x, missed, 0
        slope = _adjoint(z, weight * rest)
        squared, old = slope.squared, squared
        direction = slope.plus(squared / old, direction)
    return best, least
