"""When ranks have told all they can: the search has shrunk to the noise, or steps stay at it."""

from dataclasses import dataclass

import numpy as np

from phenes.adaptive import tuning
from phenes.adaptive.phases import Decisions, Enter
from phenes.adaptive.state import State

AT_FLOOR = "the search has shrunk to the noise"
NEAR = "Newton steps stay within the noise"


@dataclass
class Floor:
    """Counts generations in a row with half of the directions at the noise."""

    on: bool = True
    generations: int = 0

    def decide(self, state: State, near: int) -> Decisions:
        """near: early steps in a row that stayed close, at the noise."""
        low = np.mean(state.marginal.excess(state.coords.c) < tuning.FLOOR_EXCESS)
        self.generations = self.generations + 1 if low >= tuning.FLOOR_SHARE else 0
        enough = tuning.FLOOR_GENERATIONS + state.coords.dim / tuning.FLOOR_COORDINATES
        if self.on and self.generations >= enough:
            return (Enter(AT_FLOOR),)
        if self.on and near >= tuning.NEAR_STEPS:
            return (Enter(NEAR),)
        return ()

    def forget(self) -> None:
        """Starts counting anew: the search has moved, and is wider than the noise again."""
        self.generations = 0
