"""The experiment as a search sees it: f that counts its calls, and fails in the way its problem
says.
"""

import math
from typing import Any

import numpy as np

from phenes_lab.bench.trust.problem import Problem

LARGE = 1e9  # what users of other libraries return for a failure


class Crashed(RuntimeError):
    """The simulator did not survive this x."""


class Workplace:
    """calls: evaluations so far."""

    def __init__(self, problem: Problem, seed: list[int]):
        self.problem, self.calls = problem, 0
        self.rng = np.random.default_rng(seed)

    def of_x(self, x: np.ndarray) -> Any:
        """f of one realised x."""
        self.calls += 1
        return _shown(
            float(self.problem.judged(np.asarray(x, float)[None], self.rng)[0]),
            self.problem.failing,
        )

    def of_theta(self, theta: np.ndarray) -> tuple[np.ndarray, Any]:
        """What is measured of x, and f: for experiments that realise x themselves."""
        x = self.problem.realise(np.asarray(theta, float)[None], self.rng)[0]
        return self.seen(x[None])[0], self.of_x(x)

    def rows(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x and f of rows theta, NaN where f fails."""
        self.calls += len(theta)
        return self.problem.sample(np.asarray(theta, float), self.rng)

    def plainly(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x and f of rows theta, with a large value for failures."""
        x, y = self.rows(theta)
        return x, np.where(np.isnan(y), LARGE, y)

    def seen(self, x: np.ndarray) -> np.ndarray:
        """What the search is told of rows x: NaN is not measured."""
        match self.problem.told:
            case "nothing":
                return np.full_like(x, np.nan)
            case "half":
                return np.where(np.arange(x.shape[1]) % 2 == 0, x, np.nan)
            case _:
                return x


def _shown(value: float, failing: str) -> Any:
    if not math.isnan(value):
        return value
    match failing:
        case "exception":
            raise Crashed("the simulator crashed")
        case "timeout":
            raise TimeoutError("not ready in time")
        case "none":
            return None
        case "inf":
            return math.inf
        case _:
            return math.nan
