"""Restarts as experienced users of these libraries make them: with twice the population when a run
has stopped or stagnates, until the budget is used.

The recommended point is the mean of the run whose E f looks best, estimated without further
evaluations by the mean of its last values.
"""

import math
from collections.abc import Callable

import numpy as np

from phenes_lab.rivals import Search, Start
from phenes_lab.simulator import World

WINDOW = 300  # values behind an estimate, or ten generations if that is more
LARGEST = 64  # times the first population
# a covariance that lost its definiteness, a point beyond what the library allows: the run is over,
# its answer is kept
BROKEN = (np.linalg.LinAlgError, AssertionError, ArithmeticError, ValueError)


class Stagnation:
    """Neither the best nor the median value of a generation gets better.

    The criterion of Hansen, "Benchmarking a BI-population CMA-ES on the BBOB-2009 function
    testbed": over the last fifth of the generations, at least 120 + 30 d / popsize and at most
    20,000, the median of the newest 30 % of both is no better than that of the oldest 30 %. Under
    noise the criteria of cmaes never hold, and evosax has none.
    """

    def __init__(self, dim: int, popsize: int):
        self.least = math.ceil(120 + 30 * dim / popsize)
        self.best: list[float] = []
        self.median: list[float] = []

    def see(self, f: np.ndarray) -> None:
        """The values of a generation."""
        self.best.append(float(np.min(f)))
        self.median.append(float(np.median(f)))

    def holds(self) -> bool:
        window = min(max(self.least, len(self.best) // 5), 20_000)
        if len(self.best) < window:
            return False
        part = max(1, round(0.3 * window))
        return all(
            np.median(history[-part:]) >= np.median(history[-window:][:part])
            for history in (self.best, self.median)
        )


class Restarts:
    """A search with restarts. elsewhere: draws the next start.

    restarts, broken: their number, and of those after an error. forgiving: an error of the search
    ends its run and a new one begins; else it is raised, as an error of phenes has to be.
    """

    def __init__(
        self,
        make: Callable[[Start], Search],
        first: Start,
        elsewhere: Callable[[], np.ndarray],
        forgiving: bool = True,
    ):
        self.make, self.now, self.elsewhere = make, first, elsewhere
        self.forgiving = forgiving
        self.search = make(first)
        self.stagnation = self._watch()
        self.restarts, self.broken = 0, 0
        # estimate and mean of the best run that has ended
        self.best: tuple[float, np.ndarray] | None = None
        self._sane = first.mean

    def step(self, world: World) -> None:
        try:
            self.search.step(world)
            sane = bool(np.all(np.isfinite(self.search.mean)))
        except BROKEN:
            if not self.forgiving:
                raise
            sane = False
        if not sane and not self.forgiving:
            raise ArithmeticError("the mean of the search is not finite")
        self.broken += not sane
        self._sane = self.search.mean if sane else self._sane
        if not sane or self.search.stopped() or self._stagnates(world):
            self._again(world)

    def recommended(self, world: World) -> np.ndarray:
        """The point of the present run, unless an earlier one looks better or the present one has
        too few values to compare.
        """
        if self.best is None:
            return self._sane
        estimate, count = world.recent(self._window)
        young = count < self._window
        return self.best[1] if young or not estimate < self.best[0] else self._sane

    @property
    def _window(self) -> int:
        return max(WINDOW, 10 * self.search.popsize)

    def _watch(self) -> Stagnation | None:
        """Whether a search that has no criterion of its own (blind) stagnates."""
        if not getattr(self.search, "blind", False):
            return None
        return Stagnation(self.now.mean.size, self.search.popsize)

    def _stagnates(self, world: World) -> bool:
        if self.stagnation is None:
            return False
        self.stagnation.see(world.values[-1])
        return self.stagnation.holds()

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
        self.stagnation = self._watch()
