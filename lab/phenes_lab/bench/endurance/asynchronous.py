"""Cost and gain of not waiting for the slowest evaluation of a generation.

Evaluations take random times (log-normal, the 90th percentile three times the median). The clock is
a simulated one: workers are free when the last of what they had is done, so that the numbers do not
depend on the machine. Until the recommendation is as close to the optimum, `minimize` by
generations and asynchronous `minimize` are compared in evaluations and in time. Generations are at
least as large as there are workers, so that none is idle for want of work.
"""

import heapq
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from phenes.optimizer.optimizer import Optimizer
from phenes_lab.driver import Progress, silent
from phenes_lab.report import table_of

SIGMA = math.log(3) / 1.2816  # of the logarithm of the times


@dataclass(frozen=True)
class AsynchronousSettings:
    """seeds: runs of each. workers: how many evaluate at once. target: weighted squared distance to
    the optimum, beside that at x0.
    """

    dim: int = 10
    workers: tuple[int, ...] = (2, 10, 40)
    seeds: int = 10
    budget: int = 4000
    target: float = 1e-3
    seed: int = 0

    @classmethod
    def quick(cls) -> "AsynchronousSettings":
        return cls(workers=(4,), seeds=2, budget=2000)


@dataclass(frozen=True)
class AsynchronousRow:
    """Medians over seeds. evaluations and time: asynchronous / by generations, below 1 where not
    waiting wins.
    """

    function: str
    workers: int
    generations_evaluations: float
    evaluations: float
    time: float
    reached: int


class Function(NamedTuple):
    """sum a_i |x_i|^power: with symmetric noise E f is least at theta = 0."""

    a: np.ndarray
    power: float = 2.0

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return np.sum(self.a * np.abs(x) ** self.power, axis=1)

    def distance(self, theta: np.ndarray) -> float:
        return float(np.sum(self.a * theta**2))


def functions(dim: int) -> dict[str, Function]:
    """The last is not smooth at the optimum: quadratic models are of little use there."""
    wide = 10 ** np.linspace(0, 3, dim)
    return {
        "sphere": Function(np.ones(dim)),
        "ellipsoid": Function(wide),
        "sharp": Function(np.ones(dim), 1.0),
    }


def run(settings: AsynchronousSettings, progress: Progress = silent) -> list[AsynchronousRow]:
    rows = []
    cases = [(name, f, w) for name, f in functions(settings.dim).items() for w in settings.workers]
    for k, (name, f, workers) in enumerate(cases):
        seeds = range(settings.seed, settings.seed + settings.seeds)
        pairs = [
            [solve(f, workers, seed, settings, waits) for waits in (True, False)] for seed in seeds
        ]
        ends = np.array(pairs, float)  # [seed, way, (evaluations, time)]
        both = ends[np.isfinite(ends).all(axis=(1, 2))]
        ratio = np.median(both[:, 1] / both[:, 0], axis=0) if len(both) else np.full(2, np.nan)
        waited = float(np.median(both[:, 0, 0])) if len(both) else np.nan
        rows.append(
            AsynchronousRow(name, workers, waited, float(ratio[0]), float(ratio[1]), len(both))
        )
        progress(k + 1, len(cases))
    return rows


def solve(
    f: Function, workers: int, seed: int, settings: AsynchronousSettings, waits: bool
) -> tuple[float, float]:
    """Evaluations and time until the target; infinite if it was not reached."""
    x0 = np.full(f.a.size, 2.0)
    popsize = max(workers, 4 + int(3 * math.log(f.a.size))) if waits else None
    opt = Optimizer(x0, 0.5, 0.1, seed=seed, budget=settings.budget, popsize=popsize)
    world = _World(opt, f, workers, np.random.default_rng([seed, 7]))
    while not opt.stop():
        world.generation() if waits else world.next()
        if f.distance(opt.mean) <= settings.target * f.distance(x0):
            return opt.nfev, world.clock
    return np.inf, np.inf


class _World:
    """The workers, their unfinished evaluations, and the simulated time."""

    def __init__(self, opt: Optimizer, f: Function, workers: int, rng: np.random.Generator):
        self.opt, self.f, self.workers, self.rng = opt, f, workers, rng
        self.clock, self.asked = 0.0, 0
        self.under_way: list[tuple[float, int, np.ndarray]] = []

    def generation(self) -> None:
        theta = self.opt.ask()
        free = [self.clock] * self.workers
        for _ in theta:
            heapq.heapreplace(free, free[0] + self._duration())
        self.clock = max(free)
        self._tell(theta)

    def next(self) -> None:
        while len(self.under_way) < self.workers:
            heapq.heappush(
                self.under_way, (self.clock + self._duration(), self.asked, self.opt.ask(1))
            )
            self.asked += 1
        self.clock, _, theta = heapq.heappop(self.under_way)
        self._tell(theta)

    def _duration(self) -> float:
        return float(np.exp(SIGMA * self.rng.standard_normal()))

    def _tell(self, theta: np.ndarray) -> None:
        x = theta + 0.1 * self.rng.standard_normal(theta.shape)
        self.opt.tell(theta, self.f(x), realised=x)


def table(rows: list[AsynchronousRow]) -> Any:
    """For people, as a `rich` table."""
    columns = {
        "function": "{function}",
        "workers": "{workers}",
        "evaluations by generations": "{generations_evaluations:.0f}",
        "evaluations, ratio": "{evaluations:.2f}",
        "time, ratio": "{time:.2f}",
        "runs that reached the target": "{reached}",
    }
    return table_of(rows, columns)
