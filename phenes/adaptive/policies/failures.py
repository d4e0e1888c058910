"""When all evaluations fail: back to the best point of this descent, or an end if there is none."""

from dataclasses import dataclass

import numpy as np

from phenes.adaptive import tuning
from phenes.adaptive.phases import Decisions, End, Return
from phenes.adaptive.state import State

LOST = "nothing but failures: back to the best point"
FAILS = "f fails wherever this search looked"


@dataclass
class Failures:
    """Counts evaluations in a row that failed."""

    on: bool = True
    barren: int = 0

    def decide(self, state: State, f: np.ndarray) -> Decisions:
        """Returns to the best point or ends, if too many evaluations in a row failed."""
        self.barren = 0 if np.isfinite(f).any() else self.barren + f.size
        if not self.on or self.barren < tuning.BARREN_POPULATIONS * state.popsize:
            return ()
        self.barren = 0
        best = state.archive.best()
        return (End(FAILS),) if best is None else (Return(LOST, best[0]),)
