"""A generation of equal values orders nothing: the search stays, or goes back."""

from dataclasses import dataclass

import numpy as np

from phenes.adaptive import tuning
from phenes.adaptive.phases import Decisions, End, Return, Stay
from phenes.adaptive.state import State

WORSE = "a plateau worse than the best value: back to the best point"
FLAT = "the values no longer differ"


@dataclass
class Plateau:
    """Counts generations in a row whose values were all equal.

    A search that has never seen two different values is lost: it knows nothing that staying could
    add to, and is given up soon, so that restarts look elsewhere.
    """

    on: bool = True
    flat: int = 0
    ever: bool = False  # whether values of a generation have differed

    @property
    def lost(self) -> bool:
        """Whether values were equal from the start on."""
        return self.on and self.flat > 0 and not self.ever

    def decide(self, state: State, f: np.ndarray) -> Decisions:
        """Stays, returns or ends if all values f of a generation are equal."""
        if not self.on or not np.isfinite(f).any() or np.ptp(f) != 0:
            return ()
        self.flat += 1
        best = state.archive.best()
        if self.flat > (tuning.FLAT_GENERATIONS if self.ever else tuning.LOST_GENERATIONS):
            return (End(FLAT),)
        if best is not None and float(f[0]) > best[1]:
            return (Return(WORSE, best[0]),)
        return (Stay(),)

    def moved(self) -> None:
        """Starts counting anew: a generation whose values differed moved the search."""
        self.flat = 0
        self.ever = True
