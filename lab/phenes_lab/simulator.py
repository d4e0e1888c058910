"""The simulated experiment of all contenders: it realises theta, evaluates f at x and counts; and
the points that a contender recommends on the way.
"""

import contextlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

Sample = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


class Exhausted(Exception):
    """The budget is used up, or too small for the next generation."""


def gaussian(
    f: Callable[[np.ndarray], np.ndarray], sigma: float, rng: np.random.Generator
) -> Sample:
    """theta [n, d] -> x = theta + sigma z and f(x), with z standard normal."""

    def sample(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x = theta + sigma * rng.standard_normal(theta.shape)
        return x, f(x)

    return sample


class World:
    """theta [n, d] -> realised x and f(x). `values`: all f since the last call of `forget`."""

    def __init__(self, sample: Sample, budget: int):
        self.sample, self.budget = sample, budget
        self.count, self.seconds = 0, 0.0
        self.values: list[np.ndarray] = []

    def __call__(
        self, theta: Float[np.ndarray, "n d"]
    ) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
        started = time.perf_counter()
        theta = np.asarray(theta, float)
        if self.count + len(theta) > self.budget:
            raise Exhausted
        x, f = self.sample(theta)
        self.count += len(theta)
        self.values.append(f)
        self.seconds += time.perf_counter() - started
        return x, f

    def forget(self) -> None:
        self.values = []

    def recent(self, n: int) -> tuple[float, int]:
        """The mean of the last n values (or of all, if fewer) and their number: an estimate of E f
        without further evaluations.
        """
        total = sum(map(len, self.values))
        last, have = [], 0
        for values in reversed(self.values):
            last.append(values)
            have += len(values)
            if have >= n:
                break
        return (float(np.mean(np.concatenate(last))) if last else np.inf), total


class Record:
    """The recommended point at given numbers of evaluations: the first one known when each of them
    is reached.
    """

    def __init__(self, grid: np.ndarray, start: np.ndarray):
        self.grid, self.next = grid, 0
        self.evaluations = np.zeros(len(grid), int)
        self.points = np.tile(start, (len(grid), 1))

    def see(self, evaluations: int, recommended: Callable[[], np.ndarray]) -> None:
        """Asks for the point only when it is due."""
        if self.next < len(self.grid) and evaluations >= self.grid[self.next]:
            upto = int(np.searchsorted(self.grid, evaluations, side="right"))
            self._fill(upto, evaluations, recommended())

    def close(self, evaluations: int, point: np.ndarray) -> None:
        """The rest of the budget is too small for another generation."""
        self._fill(len(self.grid), evaluations, point)

    def _fill(self, upto: int, evaluations: int, point: np.ndarray) -> None:
        self.evaluations[self.next : upto] = evaluations
        self.points[self.next : upto] = point
        self.next = upto


def follow(search: Any, world: World, record: Record) -> Record:
    """A search with `step` and `recommended`, until the budget is used."""
    with contextlib.suppress(Exhausted):
        while True:
            search.step(world)
            record.see(world.count, lambda: search.recommended(world))
    record.close(world.count, search.recommended(world))
    return record


def known_within(
    grid: Any, counts: Any, points: Any, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The last point that was known within each number of evaluations, and when it was."""
    known = np.searchsorted(counts, grid, side="right")
    points = np.concatenate([start[None], np.reshape(points, (-1, start.size))])
    return np.r_[0, counts][known], points[known]
