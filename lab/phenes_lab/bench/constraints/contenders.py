"""Who takes part: phenes, and inner Monte Carlo with pycma.

All begin at the same theta, uniform in [-0.5, 0.5] in every coordinate by seed, with a first step
of 0.5, and have the same evaluations of f and its limits at a realised x.
"""

import functools
import importlib.util
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

import phenes
from phenes_lab.bench.constraints.problems import Problem

OURS = "phenes"
STEP = 0.5
LEAST_GENERATIONS = 2  # of pycma, or it has not searched
# Tried with the share that violates, without the corner, at 2,000 and 20,000 evaluations, seeds 20
# to 22: feasible answers of 72 and their regret are 8 and 0.16 with a weight of 1, 32 and 0.15 with
# 10, 38 and 0.19 with 100, 4 and 1.4 with cma.ConstrainedFitnessAL on the quantile p of the draws.
PENALTY = 10.0


class Answer(NamedTuple):
    """theta, and what is claimed of it: NaN by those who claim nothing."""

    theta: np.ndarray
    evaluations: int
    lower: float = np.nan
    modelled: float = np.nan
    success: float = np.nan


class Entrant(NamedTuple):
    """run(problem, p, budget, seed) -> Answer. draws: of the noise for each theta."""

    about: str
    run: Callable[[Problem, float, int, int], Answer]
    module: str = "phenes"
    draws: int = 1


def start(problem: Problem, seed: int) -> np.ndarray:
    return np.random.default_rng([seed, 7]).uniform(-0.5, 0.5, problem.dim)


def ours(problem: Problem, p: float, budget: int, seed: int) -> Answer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = phenes.minimize(
            lambda x: (problem.f(x), problem.limits(x)),
            start(problem, seed),
            STEP,
            problem.noise,
            budget=budget,
            constraints=phenes.chance(p),
            vectorized=True,
            seed=seed,
        )
    held: Any = result.constraints
    claim = (held.all.lower, held.all.modelled, float(result.success))
    return Answer(result.x, result.nfev, *claim)


class Draws:
    """f and the worst limit of some draws at a theta; used: how many there were in all."""

    def __init__(self, problem: Problem, draws: int, seed: int):
        self.problem, self.draws, self.used = problem, draws, 0
        self._rng = np.random.default_rng([seed, 8])

    def __call__(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z = self._rng.standard_normal((self.draws, theta.size))
        x = theta + self.problem.noise * z
        self.used += self.draws
        return self.problem.f(x), np.max(list(self.problem.limits(x).values()), axis=0)


def _search(problem: Problem, seed: int) -> Any:
    import cma

    options = {"seed": seed + 1, "verbose": -9, "tolfun": 0, "tolfunhist": 0, "tolx": 0}
    return cma.CMAEvolutionStrategy(
        start(problem, seed), STEP, options | {"tolstagnation": 10**9, "tolflatfitness": 10**9}
    )


def inner(
    problem: Problem, p: float, budget: int, seed: int, draws: int, normal: bool = False
) -> Answer:
    """pycma told theta: mean f and a penalty; recommends the mean of its search.

    The penalty is on the share of draws beyond that which may violate. normal: on the quantile p
    of the worst limit instead, mean + k_p std of the draws, as far as it is above 0.
    """
    es, at = _search(problem, seed), Draws(problem, draws, seed)
    k = norm.ppf(p)

    def value(theta: np.ndarray) -> float:
        f, worst = at(theta)
        beyond = np.mean(worst > 0) - (1 - p)
        if normal:
            beyond = np.mean(worst) + k * np.std(worst, ddof=1)
        return float(np.mean(f) + PENALTY * max(beyond, 0.0))

    while at.used + es.popsize * draws <= budget:
        asked = es.ask()
        es.tell(asked, [value(theta) for theta in asked])
    return Answer(np.array(es.result.xfavorite), at.used)


def _inner(draws: int, normal: bool = False) -> Entrant:
    by = "mean + k std of the limit" if normal else "the share that violates"
    about = f"pycma told theta, {draws} draws a candidate, penalty on {by}"
    return Entrant(about, functools.partial(inner, draws=draws, normal=normal), "cma", draws)


CONTENDERS: dict[str, Entrant] = {
    OURS: Entrant("phenes.minimize with its defaults and constraints=phenes.chance(p)", ours),
    "pycma-8": _inner(8),
    "pycma-32": _inner(32),
    "pycma-8-normal": _inner(8, normal=True),
}


def installed() -> tuple[str, ...]:
    return tuple(name for name, each in CONTENDERS.items() if importlib.util.find_spec(each.module))


def takes_part(name: str, problem: Problem, budget: int) -> bool:
    """Whether a search fits into the budget: two generations of pycma's default population."""
    if name == OURS:
        return budget in problem.budgets
    popsize = 4 + int(3 * np.log(problem.dim))
    return budget >= LEAST_GENERATIONS * popsize * CONTENDERS[name].draws
