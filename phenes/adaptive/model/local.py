"""A quadratic through one point that changes as little as its rows demand.

f - f(centre) = g'z + z'Hz / 2. Rows beyond the region that it is for weigh less. Curvature that
the rows do not show stays what it was (Powell's least change), so that one new row is worth a new
model.
"""

import math
from dataclasses import dataclass

import numpy as np

from phenes.adaptive import tuning
from phenes.adaptive.model.features import pairs
from phenes.adaptive.model.least_squares import solve


@dataclass(frozen=True)
class Local:
    """Gradient and curvatures along the columns of turn, the eigenvectors of the Hessian."""

    g: np.ndarray  # [d]
    h: np.ndarray  # [d]
    turn: np.ndarray  # [d, d]

    @property
    def hessian(self) -> np.ndarray:
        return (self.turn * self.h) @ self.turn.T

    def change(self, u: np.ndarray) -> float:
        """f at u, along the columns of turn, less f at the centre."""
        return float(self.g @ u + 0.5 * self.h @ u**2)


def least_change(z: np.ndarray, rise: np.ndarray, known: np.ndarray) -> Local | None:
    """The model of rows z [n, d] whose values exceed that of the centre, z = 0, by `rise` [n].

    Its region is |z| < 1. known: the Hessian so far. None if nothing can be fitted.
    """
    d = z.shape[1]
    j, k = pairs(d)
    weight = np.maximum(np.sqrt(np.sum(z**2, axis=1)), 1.0) ** -tuning.WEIGHT_ORDER
    a = np.concatenate([z, z**2 / 2, z[:, j] * z[:, k]], axis=1) * weight[:, None]
    size = np.sqrt(np.sum(a**2, axis=0))
    rest = weight * (rise - 0.5 * np.einsum("ij,ij->i", z @ known, z))
    scale = float(np.sqrt(rest @ rest))
    if not (np.isfinite(scale) and scale > 0 and size.min() > 0):
        return None
    # rows that say: no change of the Hessian
    curved = size[d:]
    strength = math.sqrt(tuning.LEAST_CHANGE * float(curved @ curved) / curved.size)
    stay = np.diag(strength / size)[d:]
    told = np.concatenate([rest / scale, np.zeros(len(stay))])
    found = solve(np.concatenate([a / size, stay]), told)
    if found is None:
        return None
    found = scale * found / size
    change = np.diag(found[d : 2 * d])
    change[j, k] = change[k, j] = found[2 * d :]
    h, turn = np.linalg.eigh(known + change)
    return Local(turn.T @ found[:d], h, turn)
