"""The published problems with noisy inputs: regret of phenes and of cmaes against evaluations, over
many seeds.

Regret is g* - g at the recommended point, by quadrature: no luck of the draw in it. Everybody
starts uniformly in the box with a quarter of its side as the first step, is told the box, and
starts again as in `peers` when it stops itself.
"""

import contextlib
import functools
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from phenes.problems.robust import ROBUST, RobustProblem
from phenes_lab import _pinned_pool
from phenes_lab.bench.peers.libraries import Cmaes, Phenes, Search, Start
from phenes_lab.bench.peers.restarts import Restarts
from phenes_lab.bench.peers.world import Exhausted, World

CONTENDERS: dict[str, Callable[..., Search]] = {
    "phenes": Phenes,
    "phenes, told theta": functools.partial(Phenes, told_x=False),
    "cmaes": Cmaes,
    "cmaes, told x": functools.partial(Cmaes, told_x=True),
    "cmaes lr_adapt": functools.partial(Cmaes, lr_adapt=True),
    "cmaes lr_adapt, told x": functools.partial(Cmaes, lr_adapt=True, told_x=True),
}
# of phenes, at the end
ASKED = {"sine": 1e-3, "mixture of Gaussians": 1e-3, "polynomial": 0.02, "Hartmann 3": 1e-3}


@dataclass(frozen=True)
class Settings:
    seeds: int = 20
    evaluations: tuple[int, ...] = (50, 100, 200, 500, 1000, 2000, 5000, 10_000)
    seed: int = 0

    def __post_init__(self):
        object.__setattr__(self, "evaluations", tuple(self.evaluations))
        if self.seeds < 1:
            raise ValueError(f"seeds must be at least 1, got {self.seeds}")
        if (
            not self.evaluations
            or self.evaluations[0] < 1
            or list(self.evaluations) != sorted(set(self.evaluations))
        ):
            raise ValueError(f"evaluations must be positive and rise, got {self.evaluations}")

    @classmethod
    def quick(cls) -> "Settings":
        return cls(seeds=5, evaluations=(50, 200, 1000, 3000))


@dataclass(frozen=True)
class Row:
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


def run(
    settings: Settings,
    progress: Callable[[int, int], None] = lambda done, total: None,
    processes: int | None = None,
) -> list[Row]:
    """All problems and contenders, on all cores."""
    tasks = [Task(k, name) for k in range(len(ROBUST)) for name in CONTENDERS]
    rows: dict[Task, Row] = {}
    progress(0, len(tasks))
    for answer in _pinned_pool.each(
        functools.partial(regrets, settings), tasks, processes or _pinned_pool.count()
    ):
        if answer.error is not None:
            raise RuntimeError(
                f"{answer.task.contender} failed on {ROBUST[answer.task.problem].name}:"
                f" {answer.error.strip().splitlines()[-1]}"
            )
        rows[answer.task] = answer.result
        progress(len(rows), len(tasks))
    return [rows[task] for task in tasks]


def regrets(settings: Settings, task: Task) -> Row:
    problem = ROBUST[task.problem]
    each = np.array(
        [_run(settings, problem, task.contender, seed) for seed in range(settings.seeds)]
    )
    low, median, high = (tuple(q.tolist()) for q in np.quantile(each, [0.25, 0.5, 0.75], axis=0))
    return Row(problem.name, task.contender, settings.evaluations, median, low, high)


def _run(settings: Settings, problem: RobustProblem, contender: str, seed: int) -> np.ndarray:
    """Regret at each number of evaluations, at the last point recommended within it."""
    rng = np.random.default_rng([settings.seed, seed])
    (low, high), budget = problem.bounds.T, settings.evaluations[-1]
    x0 = rng.uniform(low, high)
    first = Start(x0, float(np.mean(high - low)) / 4, problem.sigma, seed, bounds=problem.bounds)
    make = CONTENDERS[contender]
    make = functools.partial(make, budget=budget) if contender.startswith("phenes") else make
    world, search = (
        World(problem.minimised, problem.sigma, budget, rng),
        Restarts(make, first, lambda: rng.uniform(low, high)),
    )
    counts, points = [0], [x0]
    with warnings.catch_warnings(), contextlib.suppress(Exhausted):
        warnings.simplefilter("ignore")  # of the libraries: trouble shows in the regret
        while True:
            search.step(world)
            counts.append(world.count)
            points.append(search.recommended(world))
    known = np.searchsorted(counts, settings.evaluations, side="right") - 1
    return problem.regret(np.clip(np.array(points)[known], low, high))


def table(rows: list[Row]) -> Any:
    """For people, as a `rich` table."""
    from rich.table import Table

    out = Table(
        title="Median regret g* - g over seeds",
        caption=f"asked of phenes at the end: {', '.join(f'{k} {v:g}' for k, v in ASKED.items())}",
    )
    for name in (
        "problem",
        "contender",
        *(f"{n}" for n in rows[0].evaluations),
        "quartiles at the end",
    ):
        out.add_column(name, justify="left" if name in ("problem", "contender") else "right")
    previous = None
    for row in rows:
        if row.problem != previous:
            out.add_section()
        name, previous = "" if row.problem == previous else row.problem, row.problem
        out.add_row(
            name,
            row.contender,
            *(f"{m:.2g}" for m in row.median),
            f"{row.low[-1]:.2g} to {row.high[-1]:.2g}",
        )
    return out


def as_json(rows: list[Row]) -> dict[str, Any]:
    """Plain numbers and strings. reached: whether phenes ends within what is asked of it."""
    reached = {
        row.problem: row.median[-1] <= ASKED[row.problem]
        for row in rows
        if row.contender == "phenes"
    }
    return {
        "benchmark": "robust",
        "asked": ASKED,
        "reached": reached,
        "rows": [asdict(row) for row in rows],
    }
