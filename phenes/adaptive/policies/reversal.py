"""Takes a Newton step back if the values after it are far worse than all before."""

from dataclasses import dataclass

import numpy as np

from phenes.adaptive.marginal import Marginal
from phenes.adaptive.phases import Decisions, Revert
from phenes.adaptive.state import State

WORSE = "the values after a Newton step were far worse: taken back"


@dataclass
class Reversal:
    """The distribution before the last Newton step, until the step has proved good."""

    on: bool = True
    kept: Marginal | None = None
    bar: float = np.inf  # what the median of the values after the step must not exceed

    def keep(self, state: State) -> None:
        """Saves the distribution before a Newton step, and `bar` = 2 max f - median f."""
        f = state.archive.newest(state.popsize)[1]
        self.bar = float(2 * f.max() - np.median(f))
        self.kept = state.marginal if self.on else None

    def decide(self, f: np.ndarray) -> Decisions:
        """Takes the step back if the median of f exceeds `bar`; the step is judged only once."""
        kept = self.kept
        self.kept = None
        if kept is None:
            return ()
        median = float(np.median(np.where(np.isfinite(f), f, np.inf)))
        return () if median <= self.bar else (Revert(WORSE, kept),)

    def forget(self) -> None:
        """Drops the saved distribution, which is stale."""
        self.kept = None
