"""Fronts of two objectives beside NSGA-II of pymoo with inner Monte Carlo.

The score of a set of designs is the area that their true values rule, as a share of the area of the
exact front: closed forms, or quadrature over a grid. Every contender returns at most so many
designs, so that no set is better by being larger. NSGA-II sees theta, and both objectives as
estimated from a number of draws of f there; its designs are those of its last population that no
other beats by these estimates.
"""

# pyright: reportMissingImports=false
# (pymoo may not be installed)

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import phenes
from phenes.gp.draws import quasi_normal
from phenes.pareto.hypervolume import evenly, hypervolume, nondominated
from phenes.risk import parse
from phenes_lab.driver import Progress, each, silent
from phenes_lab.report import grouped, rich_table
from phenes_lab.settings import Checked

DESIGNS = 12  # that each contender may return
BEYOND = 0.1  # of the exact front's ranges, from its worst values to the reference
DRAWS = 2**12  # of the noise, for what has no closed form
GRID = 121  # theta along each coordinate, from which an exact front is taken
POPULATION = 40  # of NSGA-II


class Problem(NamedTuple):
    """f of rows (n, d), which returns (n,) or two of them; x = theta + noise (d,), in a box (d, 2).

    truth: both objectives at rows theta; None: by quadrature. best: theta whose values are the
    exact front; None: all of a grid.
    """

    f: Callable[[np.ndarray], Any]
    noise: np.ndarray
    box: np.ndarray
    objectives: tuple[str, str]
    truth: Callable[[np.ndarray], np.ndarray] | None = None
    best: np.ndarray | None = None


def saddle(x: np.ndarray) -> np.ndarray:
    """(c - 1)² + 2 c z with c exact: the front is at the least z, c from 0 to 1.5."""
    return (x[:, 0] - 1) ** 2 + 2 * x[:, 0] * x[:, 1]


def saddle_truth(theta: np.ndarray) -> np.ndarray:
    return np.stack([saddle(theta), 2 * np.abs(theta[:, 0]) * 0.3], axis=1)


def twins(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Squared distances from two points: the front is between them."""
    return np.sum((x - 1) ** 2, axis=1), np.sum((x + 1) ** 2, axis=1)


def twins_truth(theta: np.ndarray) -> np.ndarray:
    return np.stack(twins(theta), axis=1) + theta.shape[1] * 0.2**2


def ledge(x: np.ndarray) -> np.ndarray:
    """Falls slowly towards an edge at 0.5, behind which it rises steeply."""
    over = np.maximum(x[:, 0] - 0.5, 0.0)
    return np.sum((x - 0.5) ** 2, axis=1) + 20 * over**2 + 4 * over


_T = np.linspace(0, 1, 2001)[:, None]
PROBLEMS = {
    "saddle": Problem(
        saddle,
        np.array([0.0, 0.3]),
        np.array([[-1.0, 2.5], [-0.5, 0.5]]),
        ("mean", "std"),
        saddle_truth,
        np.hstack([1.5 * _T, np.full((len(_T), 1), -0.5)]),
    ),
    "twins": Problem(
        twins,
        np.full(3, 0.2),
        np.tile([-2.0, 2.0], (3, 1)),
        ("mean", "mean"),
        twins_truth,
        np.tile(2 * _T - 1, 3),
    ),
    "ledge": Problem(ledge, np.full(2, 0.3), np.tile([-2.0, 2.0], (2, 1)), ("mean", "cvar(0.9)")),
    "ledge-std": Problem(ledge, np.full(2, 0.3), np.tile([-2.0, 2.0], (2, 1)), ("mean", "std")),
}


def true(problem: Problem, theta: np.ndarray) -> np.ndarray:
    """Both objectives at rows theta, (k, 2)."""
    if problem.truth is not None:
        return problem.truth(theta)
    risks = [parse(word) for word in problem.objectives]
    draws = problem.noise * quasi_normal(problem.noise.size, DRAWS)
    values = [problem.f(row + draws) for row in theta]
    return np.array([[risk.value(f) for risk in risks] for f in values])


@functools.cache
def exact(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Values of the exact front, and the reference."""
    problem = PROBLEMS[name]
    theta = problem.best
    if theta is None:
        sides = [np.linspace(low, high, GRID) for low, high in problem.box]
        theta = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, len(sides))
    values = true(problem, theta)
    values = values[nondominated(values)]
    return values, values.max(axis=0) + BEYOND * np.ptp(values, axis=0)


def score(name: str, theta: np.ndarray) -> float:
    """Share of the exact area that the true values at theta rule."""
    front, reference = exact(name)
    return hypervolume(true(PROBLEMS[name], theta), reference) / hypervolume(front, reference)


def ceiling(name: str) -> float:
    """The share of as many designs, spread along the exact front."""
    front, reference = exact(name)
    chosen = front[evenly(front, DESIGNS)]
    return hypervolume(chosen, reference) / hypervolume(front, reference)


class Found(NamedTuple):
    """Designs, and the share of phenes' intervals that cover; NaN of others."""

    theta: np.ndarray
    covered: float = np.nan


def ours(name: str, budget: int, seed: int) -> Found:
    problem = PROBLEMS[name]
    low, high = problem.box.T

    def f(x: np.ndarray) -> Any:
        out = problem.f(x[None])
        return tuple(float(each[0]) for each in out) if isinstance(out, tuple) else float(out[0])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = phenes.front(
            f,
            (low + high) / 2,
            (high - low) / 4,
            problem.noise,
            objectives=[parse(word) for word in problem.objectives],
            bounds=list(zip(low, high, strict=True)),
            budget=budget,
            points=DESIGNS,
            seed=seed,
        )
    low, high = np.moveaxis(found.intervals, 2, 0)
    truth = true(problem, found.vectors)
    slack = 1e-6 * np.ptp(exact(name)[0], axis=0)  # of quadrature
    return Found(found.vectors, float(np.mean((low - slack <= truth) & (truth <= high + slack))))


def nsga2(name: str, budget: int, seed: int, draws: int) -> Found:
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import Problem as Posed
    from pymoo.optimize import minimize

    problem, rng = PROBLEMS[name], np.random.default_rng([seed, 8])
    risks = [parse(word) for word in problem.objectives]
    dim = problem.noise.size

    class Noisy(Posed):
        def __init__(self):
            super().__init__(n_var=dim, n_obj=2, xl=problem.box[:, 0], xu=problem.box[:, 1])

        def _evaluate(self, x: np.ndarray, out: dict[str, Any], *args: Any, **more: Any) -> None:
            noise = problem.noise * rng.standard_normal((len(x), draws, dim))
            f = problem.f((x[:, None] + noise).reshape(-1, dim))
            both = f if isinstance(f, tuple) else (f, f)
            parts = [one.reshape(len(x), draws) for one in both]
            out["F"] = np.array(
                [
                    [risk.value(v[k]) for risk, v in zip(risks, parts, strict=True)]
                    for k in range(len(x))
                ]
            )

    size = min(POPULATION, max(budget // draws // 2, 4))
    found = minimize(
        Noisy(), NSGA2(pop_size=size), ("n_eval", budget // draws), seed=seed + 1, verbose=False
    )
    theta, values = np.atleast_2d(found.X), np.atleast_2d(found.F)
    return Found(theta[evenly(values, DESIGNS)])


class Entrant(NamedTuple):
    run: Callable[[str, int, int], Found]
    budgets: tuple[int, ...]


def _entrants() -> dict[str, Entrant]:
    many = (2_000, 20_000)
    return {
        "phenes": Entrant(ours, (60, 120)),
        "nsga2-8": Entrant(functools.partial(nsga2, draws=8), (120, *many)),
        "nsga2-32": Entrant(functools.partial(nsga2, draws=32), many),
    }


CONTENDERS = _entrants()


@dataclass(frozen=True)
class FrontSettings(Checked):
    problems: tuple[str, ...] = tuple(PROBLEMS)
    contenders: tuple[str, ...] = tuple(CONTENDERS)
    seeds: int = 5
    seed: int = 0

    def __post_init__(self):
        self.tuples()
        self.counts("seeds")
        self.among("problems", PROBLEMS)
        self.among("contenders", CONTENDERS)

    @classmethod
    def quick(cls) -> "FrontSettings":
        return cls(problems=("twins",), seeds=2)


@dataclass(frozen=True)
class FrontRow:
    """Scores of one contender on one problem, by seed, and what its claims cover."""

    problem: str
    contender: str
    budget: int
    scores: tuple[float, ...]
    covered: float
    ceiling: float


class Task(NamedTuple):
    problem: str
    contender: str
    budget: int

    def __str__(self) -> str:
        return f"{self.contender} on {self.problem}, {self.budget} evaluations"


def run(
    settings: FrontSettings, progress: Progress = silent, processes: int | None = None
) -> list[FrontRow]:
    """All problems, contenders and budgets."""
    tasks = [
        Task(problem, name, budget)
        for problem in settings.problems
        for name in settings.contenders
        for budget in CONTENDERS[name].budgets
    ]
    found = each(functools.partial(scores, settings), tasks, str, progress, processes)
    rows = {answer.task: answer.result for answer in found}
    return [rows[task] for task in tasks]


def scores(settings: FrontSettings, task: Task) -> FrontRow:
    runs = [
        CONTENDERS[task.contender].run(task.problem, task.budget, settings.seed + k)
        for k in range(settings.seeds)
    ]
    found = tuple(score(task.problem, one.theta) for one in runs)
    covered = float(np.mean([one.covered for one in runs]))
    return FrontRow(*task, found, covered, ceiling(task.problem))


def table(rows: list[FrontRow]) -> Any:
    """For people, as a `rich` table."""
    return rich_table(
        ("problem", "contender", "evaluations", "area", "least and most", "intervals that cover"),
        grouped(rows, lambda row: f"{row.problem} (at most {row.ceiling:.3f})", _cells),
        f"Area of {DESIGNS} designs as a share of the exact front's, median over seeds",
        left=2,
    )


def _cells(row: FrontRow) -> list[str]:
    low, middle, high = np.min(row.scores), np.median(row.scores), np.max(row.scores)
    covered = f"{row.covered:.0%}" if np.isfinite(row.covered) else ""
    spread = f"{low:.3f} to {high:.3f}"
    return [row.contender, f"{row.budget:,}", f"{middle:.3f}", spread, covered]
