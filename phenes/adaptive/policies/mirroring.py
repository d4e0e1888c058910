"""Candidates in mirrored pairs.

Of two opposite points one is rarely bad: a step away from the mean is seen from both sides, and
slope and curvature are told apart.
"""

from dataclasses import dataclass, field

import numpy as np

from phenes.adaptive import tuning
from phenes.adaptive.coordinates import Coordinates


def worth_it(coords: Coordinates) -> bool:
    """Whether mirrored pairs and screening pay in these coordinates.

    Not in few dimensions, where the few pairs of a generation leave most directions unseen (a yield
    of three coordinates ended at 12 instead of 84 per cent), and not where x is not measured:
    values are noisy then, nothing orders them, averages need many directions.
    """
    return coords.dim >= tuning.FEWEST_DIMENSIONS and not coords.smooth.any()


def _nothing() -> np.ndarray:
    return np.empty((0, 0))


@dataclass
class Mirroring:
    """Standard normal draws, each followed by its mirror image, over all calls of a run."""

    on: bool = True
    unpaired: np.ndarray = field(default_factory=_nothing)  # a draw without its mirror image yet

    def applies(self, coords: Coordinates) -> bool:
        return self.on and worth_it(coords)

    def draw(self, n: int, coords: Coordinates, rng: np.random.Generator) -> np.ndarray:
        """Standard normal rows [n, d]."""
        dim = coords.dim
        if not self.applies(coords):
            return rng.standard_normal((n, dim))
        waiting = self.unpaired.reshape(-1, dim)
        new = rng.standard_normal(((n - len(waiting) + 1) // 2, dim))
        rows = np.concatenate([-waiting, np.stack([new, -new], axis=1).reshape(-1, dim)])
        self.unpaired = -rows[n:]  # the next call starts with its mirror image
        return rows[:n]

    def forget(self) -> None:
        """Drops the unpaired draw: the search has moved."""
        self.unpaired = _nothing()
