"""A quadratic that orders points as f does: least squares in which good points weigh more. In
coordinates of x, so that it lasts.

It has curvature along the principal axes of the search only: with all of it, it needs so many rows
that most are from elsewhere. At d = 40 that made it worse, at d = 10 no better.
"""

from dataclasses import dataclass, field

import numpy as np

from phenes.adaptive.normal import Normal
from phenes.adaptive.quadratic import ROWS_PER_FEATURE, axis_features, design, solve
from phenes.adaptive.space import Space

# weight of the best row over that of the worst: good points are where the search is going
BEST_OVER_WORST = 20.0


@dataclass
class Surrogate:
    """f = level + scale features(z)' coefficients, z = (x - centre) axes; without coefficients
    there is no model.
    """

    centre: np.ndarray = field(default_factory=lambda: np.empty(0))
    axes: np.ndarray = field(default_factory=lambda: np.empty(0))  # [d, d], or [d] if diagonal
    coefficients: np.ndarray = field(default_factory=lambda: np.empty(0))
    level: float = 0.0
    scale: float = 1.0

    def __bool__(self) -> bool:
        return self.coefficients.size > 0

    def predict(self, x: np.ndarray) -> np.ndarray:
        """Values at rows x."""
        return self.level + self.scale * (
            design(_turned(x - self.centre, self.axes), False) @ self.coefficients
        )


def learn(x: np.ndarray, f: np.ndarray, space: Space, normal: Normal) -> Surrogate:
    """The model of rows x with values f in the axes of the search distribution."""
    if f.size <= ROWS_PER_FEATURE * axis_features(space.dim):
        return Surrogate()
    with np.errstate(over="ignore", invalid="ignore"):
        level, scale = float(np.median(f)), float(f.std())
    if not (np.isfinite(scale) and scale > 1e-14 * abs(level)):
        return Surrogate()
    centre, axes = space.to_x(normal.mean), _axes(space, normal)
    rank = np.argsort(np.argsort(f, kind="stable")) / f.size
    weight = np.sqrt(BEST_OVER_WORST + (1 - BEST_OVER_WORST) * rank)
    coefficients = solve(
        design(_turned(x - centre, axes), False) * weight[:, None], weight * (f - level) / scale
    )
    return (
        Surrogate() if coefficients is None else Surrogate(centre, axes, coefficients, level, scale)
    )


def _turned(r: np.ndarray, axes: np.ndarray) -> np.ndarray:
    return r * axes if axes.ndim == 1 else r @ axes


def _axes(space: Space, normal: Normal) -> np.ndarray:
    """The map from x to whitened coordinates."""
    if normal.basis is None and space.turn is None:
        return 1 / (space.width * space.scale * normal.root)
    rows = space.to_y(np.eye(space.dim))
    return (rows if normal.basis is None else rows @ normal.basis) / normal.root
