"""Ends a search that has not improved for long, or that double precision ends.

The median of recent values tells, which no lucky sample moves.
"""

from dataclasses import dataclass

import numpy as np

from phenes.adaptive import tuning
from phenes.adaptive.model.features import features_of
from phenes.adaptive.phases import Decision, Decisions, End, Enter
from phenes.adaptive.policies.value_noise import ValueNoise
from phenes.adaptive.state import State

RESTING = "the median of the values no longer improves; values may tell more than ranks"
EQUAL = "the values no longer differ in double precision"
STAGNATES = "the median of the values no longer improves"
NARROW = "the search is as narrow as double precision"


@dataclass
class Stagnation:
    """The best median so far, and the evaluations when it was seen."""

    on: bool = True
    refines: bool = True  # False: the refinement phase is switched off
    best_median: float = np.inf
    best_at: int = 0

    def decide(self, state: State, value_noise: ValueNoise) -> Decisions:
        """Ends the search after a generation, if there is a reason; of several the last counts."""
        if not self.on:
            return ()
        decisions: list[Decision] = []
        if self._observed(state):
            decisions.append(End(EQUAL))
        if state.evaluations - self.best_at > patience(state):
            if state.coords.noisy and self.refines:  # only values tell if there is more to gain
                return (*decisions, Enter(RESTING))
            if value_noise.blind(state):
                return (*decisions, *value_noise.look_through())
            decisions.append(End(STAGNATES))
        size = np.maximum(1.0, np.abs(state.marginal.mean).max())
        if np.max(state.marginal.root / size) < tuning.NARROWEST:
            decisions.append(End(NARROW))
        return tuple(decisions)

    def _observed(self, state: State) -> bool:
        """Records the median; true if recent values are constant, at the best value so far."""
        f = recent(state)
        if not f.size:
            return False
        median = float(np.median(f))
        if median < self.best_median:
            self.best_median = median
            self.best_at = state.evaluations
        last = f[-max(tuning.EQUAL_ROWS, state.popsize) :]
        best = state.archive.best()
        return bool(
            f.size >= tuning.EQUAL_ROWS
            and np.ptp(last) <= tuning.EQUAL * abs(median)
            and np.ptp(f) > 0
            and best is not None
            and last.min() <= best[1]
        )


def patience(state: State) -> float:
    """Evaluations without a better median after which a search stagnates."""
    p = features_of(state.coords.dim)
    large = state.popsize / tuning.PATIENCE_POPULATION
    return tuning.PATIENCE_PER_FEATURE * p * max(1.0, large)


def recent(state: State) -> np.ndarray:
    """The values that the median is of."""
    newest = max(tuning.MEDIAN_ROWS, tuning.MEDIAN_POPULATIONS * state.popsize)
    return state.archive.newest(newest)[1]
