"""What a contender meets: a world that realises what it intends, evaluates it, and counts; and a
record of what it recommends.
"""

import time
from collections.abc import Callable

import numpy as np
from jaxtyping import Float


class Exhausted(Exception):
    """The budget does not allow what was asked for."""


class World:
    """theta [n, d] -> realised x and f(x). `values`: all f since the last call of `forget`, in
    order.
    """

    def __init__(
        self,
        f: Callable[[np.ndarray], np.ndarray],
        sigma: float,
        budget: int,
        rng: np.random.Generator,
    ):
        self.f, self.sigma, self.budget, self.rng = f, sigma, budget, rng
        self.count, self.seconds = 0, 0.0
        self.values: list[np.ndarray] = []

    def __call__(
        self, theta: Float[np.ndarray, "n d"]
    ) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
        started = time.perf_counter()
        theta = np.asarray(theta, float)
        if self.count + len(theta) > self.budget:
            raise Exhausted
        x = theta + self.sigma * self.rng.standard_normal(theta.shape)
        f = self.f(x)
        self.count += len(theta)
        self.values.append(f)
        self.seconds += time.perf_counter() - started
        return x, f

    def forget(self) -> None:
        self.values = []

    def recent(self, n: int) -> tuple[float, int]:
        """The mean of the last n values (or of all there are), and how many there are: what a user
        can say of E f for free.
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
            self._fill(
                int(np.searchsorted(self.grid, evaluations, side="right")),
                evaluations,
                recommended(),
            )

    def close(self, evaluations: int, point: np.ndarray) -> None:
        """What is left of the budget would not have paid for another generation."""
        self._fill(len(self.grid), evaluations, point)

    def _fill(self, upto: int, evaluations: int, point: np.ndarray) -> None:
        self.evaluations[self.next : upto] = evaluations
        self.points[self.next : upto] = point
        self.next = upto
