"""A quadratic that orders points as f does: least squares in which good points weigh more. Kept in coordinates of x, so it can be used later."""

from dataclasses import dataclass, field

import numpy as np

from phenes.adaptive.normal import Normal
from phenes.adaptive.quadratic import ROWS_PER_FEATURE, axis_features, dear, design, full_features, solve
from phenes.adaptive.space import Space

BEST_OVER_WORST = 20.0  # weight of the best row over that of the worst: good points are where the search is going


@dataclass
class Surrogate:
    """f = centre_f + scale features(z)' coefficients, z = (x - centre) axes; without coefficients there is no model."""

    centre: np.ndarray = field(default_factory=lambda: np.empty(0))
    axes: np.ndarray = field(default_factory=lambda: np.empty(0))  # [d, d], or [d] if diagonal
    coefficients: np.ndarray = field(default_factory=lambda: np.empty(0))
    centre_f: float = 0.0
    scale: float = 1.0

    def __bool__(self) -> bool:
        return self.coefficients.size > 0

    def predict(self, x: np.ndarray) -> np.ndarray:
        """Values at rows x."""
        r = x - self.centre
        z = r * self.axes if self.axes.ndim == 1 else r @ self.axes
        return self.centre_f + self.scale * (design(z, self.coefficients.size > axis_features(x.shape[1])) @ self.coefficients)


def features_for(dim: int, rows: int) -> int:
    """Number of features of the richest model that so many rows allow and that is cheap enough; 0: none."""
    for features in (0 if dear(dim) else full_features(dim), axis_features(dim)):
        if features and rows > ROWS_PER_FEATURE * features:
            return features
    return 0


def learn(x: np.ndarray, f: np.ndarray, space: Space, normal: Normal) -> Surrogate:
    """The richest model of rows x with values f near the search distribution."""
    axes = _axes(space, normal)
    r = x - space.to_x(normal.mean)
    z = r * axes if axes.ndim == 1 else r @ axes
    features = features_for(space.dim, f.size)
    if not features:
        return Surrogate()
    weight = np.sqrt(BEST_OVER_WORST + (1 - BEST_OVER_WORST) * np.argsort(np.argsort(f, kind="stable")) / f.size)
    with np.errstate(over="ignore", invalid="ignore"):
        centre, spread = float(np.median(f)), float(f.std())
    if not (np.isfinite(spread) and spread > 1e-14 * abs(centre)):
        return Surrogate()
    rows = design(z, features > axis_features(space.dim))
    coefficients = solve(rows * weight[:, None], weight * (f - centre) / spread)
    return Surrogate() if coefficients is None else Surrogate(space.to_x(normal.mean), axes, coefficients, centre, spread)


def _axes(space: Space, normal: Normal) -> np.ndarray:
    """The map from x to whitened coordinates."""
    if normal.basis is None and space.turn is None:
        return 1 / (space.width * space.scale * normal.root)
    rows = space.to_y(np.eye(space.dim))
    return (rows if normal.basis is None else rows @ normal.basis) / normal.root
