"""What each policy of the adaptive search gains: each is switched off in turn.

Measured on functions whose E f is known exactly, by two ratios, without the policy over with it: of
the evaluations to a target, and of the regret at the end. Above 1 the policy gains. The target is
the regret that the complete search has reached, in the median over seeds, after half of its
evaluations. A run that does not reach it counts with all of its evaluations, so that large gains
are understated.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, special

from phenes.adaptive import Adaptive
from phenes.adaptive.policies import SWITCHES
from phenes_lab.driver import Progress, each, silent
from phenes_lab.report import grouped, quartiles, rich_table, rows_as_json
from phenes_lab.settings import Checked

Function = Callable[[np.ndarray], np.ndarray]
COMPLETE = "none"  # the policy that is switched off in the search that is compared with
SMALLEST = 1e-12  # regrets below this are rounding


class Case(NamedTuple):
    """A function f of rows x, its E f up to a constant, and the noise."""

    f: Function
    smooth: Function
    dim: int
    noise: float = 0.0  # of the inputs
    value_noise: float = 0.0

    def floor(self) -> float:
        """The least of E f, from several starts."""
        starts = (np.full(self.dim, start) for start in (0.0, 0.3, 1.0))
        found = [
            optimize.minimize(lambda m: self.smooth(m[None])[0], x0, tol=1e-14).fun for x0 in starts
        ]
        return float(min(found))


def _sphere(x: np.ndarray) -> np.ndarray:
    return np.sum((x - 0.3) ** 2, axis=1)


def _ellipsoid(x: np.ndarray) -> np.ndarray:
    return np.sum(np.logspace(0, 3, x.shape[1]) * (x - 0.3) ** 2, axis=1)


def _kinks(x: np.ndarray) -> np.ndarray:
    return np.sum(np.abs(x - 0.3), axis=1)


def _smooth_kinks(theta: np.ndarray, noise: float = 0.1) -> np.ndarray:
    """E |r + noise z| = noise (a (1 - 2 Phi(-a)) + 2 phi(a)), a = r / noise."""
    a = (theta - 0.3) / noise
    density = np.exp(-(a**2) / 2) / np.sqrt(2 * np.pi)
    return np.sum(noise * (a * (1 - 2 * special.ndtr(-a)) + 2 * density), axis=1)


def _rosenbrock(x: np.ndarray) -> np.ndarray:
    return np.sum(100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1 - x[:, :-1]) ** 2, axis=1)


def _smooth_rosenbrock(theta: np.ndarray, noise: float = 0.05) -> np.ndarray:
    """By the moments of a Gaussian."""
    a, b, s = theta[:, :-1], theta[:, 1:], noise**2
    square = b**2 + s - 2 * b * (a**2 + s) + a**4 + 6 * a**2 * s + 3 * s**2
    return np.sum(100 * square + (1 - a) ** 2 + s, axis=1)


def _rastrigin(x: np.ndarray, damping: float = 1.0) -> np.ndarray:
    return np.sum(x**2 + 3 * (1 - damping * np.cos(2 * np.pi * x)), axis=1)


def _smooth_rastrigin(theta: np.ndarray, noise: float = 0.05) -> np.ndarray:
    """E cos(2 pi (m + noise z)) = cos(2 pi m) exp(-2 pi^2 noise^2)."""
    return _rastrigin(theta, float(np.exp(-2 * (np.pi * noise) ** 2)))


def _walled(x: np.ndarray) -> np.ndarray:
    """Fails on one side, close to the optimum."""
    return np.where(x[:, 0] > 0.6, np.nan, _ellipsoid(x))


def _island(x: np.ndarray) -> np.ndarray:
    """Fails further than 1 from the optimum; most starts are outside."""
    return np.where(_sphere(x) > 1, np.nan, _ellipsoid(x))


def _stairs(x: np.ndarray) -> np.ndarray:
    return np.sum(np.floor(20 * np.abs(x)), axis=1)


def _scrap(x: np.ndarray) -> np.ndarray:
    """0 for what passes, 1 for what does not: far from the optimum all values are equal."""
    return np.where(np.all(np.abs(x - 0.3) < 0.5, axis=1), 0.0, 1.0)


def _smooth_scrap(theta: np.ndarray, noise: float = 0.1) -> np.ndarray:
    above, below = (0.8 - theta) / noise, (-0.2 - theta) / noise
    return 1 - np.prod(special.ndtr(above) - special.ndtr(below), axis=1)


CASES = {
    "ellipsoid-noise": Case(_ellipsoid, _ellipsoid, 10, 0.1),
    "ellipsoid-exact": Case(_ellipsoid, _ellipsoid, 10),
    "kinks-noise": Case(_kinks, _smooth_kinks, 10, 0.1),
    "rosenbrock-noise": Case(_rosenbrock, _smooth_rosenbrock, 10, 0.05),
    "rosenbrock-exact": Case(_rosenbrock, _rosenbrock, 10),
    "rastrigin-noise": Case(_rastrigin, _smooth_rastrigin, 3, 0.05),
    "rastrigin-exact": Case(_rastrigin, _rastrigin, 3),
    "sphere-noisy-values": Case(_sphere, _sphere, 5, value_noise=0.1),
    "ellipsoid-wall": Case(_walled, _ellipsoid, 4, 0.05),
    "ellipsoid-island": Case(_island, _ellipsoid, 8),
    "stairs-exact": Case(_stairs, _stairs, 4),
    "scrap-noise": Case(_scrap, _smooth_scrap, 4, 0.1),
}


@dataclass(frozen=True)
class AblateSettings(Checked):
    """budget: evaluations for each dimension."""

    cases: tuple[str, ...] = tuple(CASES)
    policies: tuple[str, ...] = tuple(SWITCHES)
    seeds: int = 15
    budget: int = 400
    seed: int = 0

    def __post_init__(self):
        self.tuples()
        self.counts("seeds", "budget")
        self.among("cases", CASES)
        self.among("policies", SWITCHES)

    @classmethod
    def quick(cls) -> "AblateSettings":
        return cls(cases=("ellipsoid-noise", "rastrigin-exact", "sphere-noisy-values"), seeds=3)


@dataclass(frozen=True)
class AblateRow:
    """One policy switched off on one case: quartiles over seeds of two ratios, without over with.

    reached: share of the runs without the policy that came to the target.
    """

    case: str
    policy: str
    target: float
    evaluations: tuple[float, float, float]
    regret: tuple[float, float, float]
    reached: float


class Task(NamedTuple):
    case: str
    policy: str  # switched off, or COMPLETE
    seed: int

    def __str__(self) -> str:
        return f"{self.case} without {self.policy}, seed {self.seed}"


class Curve(NamedTuple):
    """Regret of the recommendation after each generation."""

    evaluations: np.ndarray
    regret: np.ndarray

    def needed(self, target: float, budget: int) -> int:
        """Evaluations until the target, or all of them."""
        below = np.flatnonzero(self.regret <= target)
        return int(self.evaluations[below[0]]) if below.size else budget

    def at(self, evaluations: int) -> float:
        """Regret at the last generation within these evaluations."""
        within = np.searchsorted(self.evaluations, evaluations, side="right") - 1
        return float(self.regret[max(within, 0)])


def run(
    settings: AblateSettings, progress: Progress = silent, processes: int | None = None
) -> list[AblateRow]:
    """All cases, policies and seeds, on all cores."""
    tasks = [
        Task(case, policy, seed)
        for case in settings.cases
        for policy in (COMPLETE, *settings.policies)
        for seed in range(settings.seeds)
    ]
    found = each(functools.partial(descended, settings), tasks, str, progress, processes)
    curves = {answer.task: answer.result for answer in found}
    return [
        compared(settings, case, policy, curves)
        for case in settings.cases
        for policy in settings.policies
    ]


def descended(settings: AblateSettings, task: Task) -> Curve:
    """One run of the search."""
    case = CASES[task.case]
    world = np.random.default_rng([settings.seed, task.seed, 1])
    search = Adaptive(
        world.uniform(-1, 1, case.dim),
        np.full(case.dim, 0.5),
        np.full(case.dim, case.noise**2),
        rng=np.random.default_rng([settings.seed, task.seed, 0]),
        without=frozenset() if task.policy == COMPLETE else frozenset({task.policy}),
    )
    budget, floor = settings.budget * case.dim, case.floor()
    evaluations: list[int] = []
    regrets: list[float] = []
    while search.evaluations < budget:
        theta = search.ask()
        x = theta + case.noise * world.standard_normal(theta.shape)
        search.tell(theta, x, case.f(x) + case.value_noise * world.standard_normal(len(x)))
        evaluations.append(search.evaluations)
        regrets.append(max(float(case.smooth(search.mean[None])[0]) - floor, SMALLEST))
    return Curve(np.array(evaluations), np.array(regrets))


def compared(
    settings: AblateSettings, case: str, policy: str, curves: dict[Task, Curve]
) -> AblateRow:
    """The search without a policy beside the complete one, seed by seed."""
    budget, seeds = settings.budget * CASES[case].dim, range(settings.seeds)
    whole = [curves[Task(case, COMPLETE, seed)] for seed in seeds]
    part = [curves[Task(case, policy, seed)] for seed in seeds]
    target = float(np.median([curve.at(budget // 2) for curve in whole]))
    speed = [
        p.needed(target, budget) / w.needed(target, budget)
        for p, w in zip(part, whole, strict=True)
    ]
    ends = [p.at(budget) / w.at(budget) for p, w in zip(part, whole, strict=True)]
    reached = float(np.mean([bool(np.any(curve.regret <= target)) for curve in part]))
    return AblateRow(case, policy, target, quartiles(speed), quartiles(ends), reached)


def table(rows: list[AblateRow]) -> Any:
    """For people, as a `rich` table."""
    return rich_table(
        ("case", "without", "evaluations to target", "regret at the end", "reached"),
        grouped(rows, lambda row: row.case, _cells),
        "Without a policy over with it: median (quartiles) over seeds; above 1 it gains",
        left=2,
        caption="target: what the complete search has reached after half of its evaluations",
    )


def _cells(row: AblateRow) -> list[str]:
    return [row.policy, _spread(row.evaluations), _spread(row.regret), f"{row.reached:.0%}"]


def _spread(three: tuple[float, float, float]) -> str:
    low, middle, high = three
    return f"{middle:.2g} ({low:.2g} to {high:.2g})"


def as_json(rows: list[AblateRow]) -> dict[str, Any]:
    """gain: geometric mean over cases of the median ratio of evaluations, for each policy."""
    by_policy = {row.policy: [r for r in rows if r.policy == row.policy] for row in rows}
    gain = {
        policy: float(np.exp(np.mean([np.log(row.evaluations[1]) for row in of])))
        for policy, of in by_policy.items()
    }
    return rows_as_json("ablate", rows, gain=gain)
