"""What those do who know these libraries: start again with twice the population when a run has
stopped itself, until the budget is used.

The recommended point is the mean of the run whose E f looks best, estimated without further
evaluations by the mean of its last values.
"""

from collections.abc import Callable

import numpy as np

from phenes_lab.rivals import Search, Start
from phenes_lab.simulator import World

WINDOW = 300  # values behind an estimate, or ten generations if that is more
LARGEST = 64  # times the first population
# a covariance that lost its definiteness, a point beyond what the library allows: the run is over,
# its answer is kept
BROKEN = (np.linalg.LinAlgError, AssertionError, ArithmeticError, ValueError)


class Restarts:
    """A search that goes on after its end. elsewhere: draws where to begin again.

    restarts, broken: how often, and how often because of an error.
    """

    def __init__(
        self, make: Callable[[Start], Search], first: Start, elsewhere: Callable[[], np.ndarray]
    ):
        self.make, self.now, self.elsewhere = make, first, elsewhere
        self.search = make(first)
        self.restarts, self.broken = 0, 0
        # estimate and mean of the best run that has ended
        self.best: tuple[float, np.ndarray] | None = None
        self._sane = first.mean

    def step(self, world: World) -> None:
        try:
            self.search.step(world)
            sane = bool(np.all(np.isfinite(self.search.mean)))
        except BROKEN:
            sane = False
        self.broken += not sane
        self._sane = self.search.mean if sane else self._sane
        if not sane or self.search.stopped():
            self._again(world)

    def recommended(self, world: World) -> np.ndarray:
        """Of the present run, unless one that has ended looks better, or the present one is too
        young to tell.
        """
        if self.best is None:
            return self._sane
        estimate, count = world.recent(self._window)
        young = count < self._window
        return self.best[1] if young or not estimate < self.best[0] else self._sane

    @property
    def _window(self) -> int:
        return max(WINDOW, 10 * self.search.popsize)

    def _again(self, world: World) -> None:
        estimate, _ = world.recent(self._window)
        if self.best is None or estimate < self.best[0]:
            self.best = (estimate, self._sane)
        world.forget()
        self.restarts += 1
        mean = self.elsewhere()
        self.now = self.now._replace(
            mean=mean, seed=self.now.seed + 1000, grown=min(2 * self.now.grown, LARGEST)
        )
        self.search, self._sane = self.make(self.now), mean
