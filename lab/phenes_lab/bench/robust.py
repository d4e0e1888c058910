"""The published problems with noisy inputs: regret of phenes and of cmaes against evaluations, over
many seeds.

Regret is g* - g at the recommended point, by quadrature, without sampling error. All contenders
start uniformly in the box with a quarter of its side as the first step, know the bounds, and
restart as in `peers` when they stop.
"""

import contextlib
import functools
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from phenes.problems.robust import ROBUST, RobustProblem
from phenes_lab import contenders
from phenes_lab.driver import Progress, each, silent
from phenes_lab.report import grouped, rich_table, rows_as_json
from phenes_lab.restarts import Restarts
from phenes_lab.rivals import Start
from phenes_lab.settings import Checked
from phenes_lab.simulator import Exhausted, World, gaussian, known_within

# what they are called here, and in `phenes_lab.contenders`
CONTENDERS = {
    "phenes": "phenes",
    "phenes, told theta": "phenes-theta",
    "cmaes": "cmaes",
    "cmaes, told x": "cmaes-x",
    "cmaes lr_adapt": "cmaes-lra",
    "cmaes lr_adapt, told x": "cmaes-lra-x",
}
# of phenes, at the end
ASKED = {"sine": 1e-3, "mixture of Gaussians": 1e-3, "polynomial": 0.02, "Hartmann 3": 1e-3}


@dataclass(frozen=True)
class RobustSettings(Checked):
    seeds: int = 20
    evaluations: tuple[int, ...] = (50, 100, 200, 500, 1000, 2000, 5000, 10_000)
    seed: int = 0

    def __post_init__(self):
        self.tuples()
        self.counts("seeds")
        rising = list(self.evaluations) == sorted(set(self.evaluations))
        if not self.evaluations or self.evaluations[0] < 1 or not rising:
            raise ValueError(f"evaluations must be positive and rise, got {self.evaluations}")

    @classmethod
    def quick(cls) -> "RobustSettings":
        return cls(seeds=5, evaluations=(50, 200, 1000, 3000))


@dataclass(frozen=True)
class RobustRow:
    """Regret of one contender on one problem: quantiles over seeds at each number of
    evaluations.
    """

    problem: str
    contender: str
    evaluations: tuple[int, ...]
    median: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


class Task(NamedTuple):
    problem: int  # its place in ROBUST
    contender: str

    def __str__(self) -> str:
        return f"{self.contender} on {ROBUST[self.problem].name}"


def run(
    settings: RobustSettings, progress: Progress = silent, processes: int | None = None
) -> list[RobustRow]:
    """All problems and contenders, on all cores."""
    tasks = [Task(k, name) for k in range(len(ROBUST)) for name in CONTENDERS]
    found = each(functools.partial(regrets, settings), tasks, str, progress, processes)
    rows = {answer.task: answer.result for answer in found}
    return [rows[task] for task in tasks]


def regrets(settings: RobustSettings, task: Task) -> RobustRow:
    problem = ROBUST[task.problem]
    runs = [_run(settings, problem, task.contender, seed) for seed in range(settings.seeds)]
    low, median, high = (tuple(q.tolist()) for q in np.quantile(runs, [0.25, 0.5, 0.75], axis=0))
    return RobustRow(problem.name, task.contender, settings.evaluations, median, low, high)


def _run(settings: RobustSettings, problem: RobustProblem, contender: str, seed: int) -> np.ndarray:
    """Regret at each number of evaluations, at the last point recommended within it."""
    rng = np.random.default_rng([settings.seed, seed])
    (low, high), budget = problem.bounds.T, settings.evaluations[-1]
    x0 = rng.uniform(low, high)
    first = Start(x0, float(np.mean(high - low)) / 4, problem.sigma, seed, bounds=problem.bounds)
    make = contenders.CONTENDERS[CONTENDERS[contender]].search
    make = functools.partial(make, budget=budget) if contender.startswith("phenes") else make
    world = World(gaussian(problem.minimised, problem.sigma, rng), budget)
    forgiving = not contender.startswith("phenes")
    search = Restarts(make, first, lambda: rng.uniform(low, high), forgiving)
    counts, points = [], []
    with warnings.catch_warnings(), contextlib.suppress(Exhausted):
        warnings.simplefilter("ignore")  # of the libraries: trouble shows in the regret
        while True:
            search.step(world)
            counts.append(world.count)
            points.append(search.recommended(world))
    _, known = known_within(settings.evaluations, counts, points, x0)
    return problem.regret(np.clip(known, low, high))


def table(rows: list[RobustRow]) -> Any:
    """For people, as a `rich` table."""
    return rich_table(
        ("problem", "contender", *map(str, rows[0].evaluations), "quartiles at the end"),
        grouped(rows, lambda row: row.problem, _cells),
        "Median regret g* - g over seeds",
        left=2,
        caption=f"asked of phenes at the end: {', '.join(f'{k} {v:g}' for k, v in ASKED.items())}",
    )


def _cells(row: RobustRow) -> list[str]:
    medians = [f"{m:.2g}" for m in row.median]
    return [row.contender, *medians, f"{row.low[-1]:.2g} to {row.high[-1]:.2g}"]


def as_json(rows: list[RobustRow]) -> dict[str, Any]:
    """reached: whether phenes ends within what is asked of it."""
    ours = [row for row in rows if row.contender == "phenes"]
    reached = {row.problem: row.median[-1] <= ASKED[row.problem] for row in ours}
    return rows_as_json("robust", rows, asked=ASKED, reached=reached)
