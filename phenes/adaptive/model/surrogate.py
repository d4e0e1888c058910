"""A quadratic that orders points as f does: least squares in which good points weigh more.

It is in coordinates of x, so that it lasts, and has curvature along the principal axes of the
search only: with all of it, it needs so many rows that most are from elsewhere. At d = 40 that
made it worse, at d = 10 no better.
"""

from dataclasses import dataclass, field

import numpy as np

from phenes.adaptive import tuning
from phenes.adaptive.coordinates import Coordinates
from phenes.adaptive.marginal import Marginal
from phenes.adaptive.model.features import axis_features, design
from phenes.adaptive.model.least_squares import solve


def _nothing() -> np.ndarray:
    return np.empty(0)


@dataclass(frozen=True)
class Surrogate:
    """f = level + scale features(z)' coefficients, z = (x - centre) axes; false if none."""

    centre: np.ndarray = field(default_factory=_nothing)
    axes: np.ndarray = field(default_factory=_nothing)  # [d, d], or [d] if diagonal
    coefficients: np.ndarray = field(default_factory=_nothing)
    level: float = 0.0
    scale: float = 1.0

    def __bool__(self) -> bool:
        return self.coefficients.size > 0

    def predict(self, x: np.ndarray) -> np.ndarray:
        """Values at rows x."""
        a = design(_turned(x - self.centre, self.axes), False)
        return self.level + self.scale * (a @ self.coefficients)


def learn(
    x: np.ndarray,
    f: np.ndarray,
    coords: Coordinates,
    marginal: Marginal,
    farthest: float = np.inf,
) -> Surrogate:
    """The model of rows x with values f in the axes of the search distribution.

    farthest: squared whitened distance from the mean beyond which rows are left out.
    """
    centre = coords.to_x(marginal.mean)
    axes = _axes(coords, marginal)
    z = _turned(x - centre, axes)
    close = np.einsum("ij,ij->i", z, z) < farthest
    z, f = z[close], f[close]
    if f.size <= least_rows(coords.dim):
        return Surrogate()
    with np.errstate(over="ignore", invalid="ignore"):
        level = float(np.median(f))
        scale = float(f.std())
    if not (np.isfinite(scale) and scale > tuning.LEAST_SPREAD * abs(level)):
        return Surrogate()
    rank = np.argsort(np.argsort(f, kind="stable")) / f.size
    weight = np.sqrt(tuning.BEST_OVER_WORST + (1 - tuning.BEST_OVER_WORST) * rank)
    a = design(z, False)
    a *= weight[:, None]
    coefficients = solve(a, weight * (f - level) / scale)
    if coefficients is None:
        return Surrogate()
    return Surrogate(centre, axes, coefficients, level, scale)


def least_rows(dim: int) -> float:
    """Rows up to which there is no surrogate."""
    return tuning.LEAST_ROWS_PER_FEATURE * axis_features(dim)


def _turned(r: np.ndarray, axes: np.ndarray) -> np.ndarray:
    return r * axes if axes.ndim == 1 else r @ axes


def _axes(coords: Coordinates, marginal: Marginal) -> np.ndarray:
    """The map from x to whitened coordinates."""
    if marginal.basis is None and coords.turn is None:
        return 1 / (coords.width * coords.scale * marginal.root)
    rows = coords.to_y(np.eye(coords.dim))
    return (rows if marginal.basis is None else rows @ marginal.basis) / marginal.root
