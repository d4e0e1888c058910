"""The contenders: phenes by `minimize` and by ask and tell, and libraries with their defaults."""

import contextlib
import functools
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from phenes_lab.bench.trust.problem import Problem
from phenes_lab.bench.trust.simulator import Workplace
from phenes_lab.restarts import BROKEN
from phenes_lab.rivals import Cmaes, Pycma, Search, Start
from phenes_lab.simulator import Exhausted, World


@dataclass(frozen=True)
class Answer:
    """Where to aim and what is claimed of it; calls: of f, handed: rows given out by ask. error:
    what the contender itself raised.
    """

    x: np.ndarray
    fun: float = math.nan
    fun_se: float = math.inf
    success: bool = False
    calls: int = 0
    handed: int = 0
    verified: int = 0
    failing: float = math.nan
    message: str = ""
    error: str = ""
    seconds: float = 0.0


def phenes(
    problem: Problem, world: Workplace, budget: int, seed: int, engine: str = "auto"
) -> Answer:
    """`phenes.minimize` with its defaults, or with another engine."""
    from phenes.optimizer import minimize

    options: dict[str, Any] = {"bounds": problem.bounds, "budget": budget, "seed": seed}
    options["engine"] = engine
    if problem.told != "law":
        options["realises"] = True
    f = world.of_x if problem.told == "law" else world.of_theta
    return said(minimize(f, problem.x0, problem.sigma0, problem.noise, **options))


POPSIZE = 7  # of ask and tell: divides no budget


def asktell(problem: Problem, world: Workplace, budget: int, seed: int) -> Answer:
    """`phenes.Optimizer` in the loop that its documentation shows."""
    from phenes.optimizer import Optimizer

    options: dict[str, Any] = {"popsize": POPSIZE, "budget": budget, "seed": seed}
    opt = Optimizer(problem.x0, problem.sigma0, problem.noise, bounds=problem.bounds, **options)
    handed = 0
    while not opt.stop():
        theta = opt.ask()
        handed += len(theta)
        x, f = world.rows(theta)
        opt.tell(theta, f, realised=world.seen(x))
    return said(opt.result, handed)


def pycma(problem: Problem, world: Workplace, budget: int, seed: int) -> Answer:
    """cma.CMAEvolutionStrategy until no generation is left: where it would stop, on plains above
    all, it goes on.
    """
    search = Pycma(_start(problem, seed), bounded=True)
    if search.popsize > budget:
        return Answer(_best_of(search.es.ask(budget), problem, world))
    _exhaust(search, world, budget)
    return Answer(np.array(search.es.result.xfavorite, float))


def cmaes(problem: Problem, world: Workplace, budget: int, seed: int) -> Answer:
    """cmaes.CMA in the same way; its mean."""
    search = Cmaes(_start(problem, seed))
    if search.popsize > budget:
        return Answer(_best_of([search.cma.ask() for _ in range(budget)], problem, world))
    _exhaust(search, world, budget)
    return Answer(search.mean if problem.bounds is None else np.clip(search.mean, *problem.bounds))


def _start(problem: Problem, seed: int) -> Start:
    bounds = None if problem.bounds is None else np.column_stack(problem.bounds)
    return Start(problem.x0.astype(float), problem.sigma0, 0.0, seed, bounds=bounds)


def _exhaust(search: Search, world: Workplace, budget: int) -> None:
    simulated = World(world.plainly, budget)
    with contextlib.suppress(Exhausted, *BROKEN):  # the latter long after convergence
        while True:
            search.step(simulated)


CONTENDERS: dict[str, Callable[[Problem, Workplace, int, int], Answer]] = {
    "phenes": phenes,
    "phenes-adaptive": functools.partial(phenes, engine="adaptive"),
    "phenes-asktell": asktell,
    "pycma": pycma,
    "cmaes": cmaes,
}
CLAIM = ("phenes", "phenes-adaptive", "phenes-asktell")  # those that say what E f is


def ask(name: str, problem: Problem, budget: int, seed: list[int]) -> Answer:
    """One run. What a contender raises is its answer too: it stays where it began and claims
    nothing.
    """
    world, started = Workplace(problem, [*seed, budget]), time.perf_counter()
    with warnings.catch_warnings():
        # of laws that do not fit and of flat functions, which is the reader's business in runs of
        # his own
        warnings.simplefilter("ignore")
        try:
            answer = CONTENDERS[name](problem, world, budget, _one(seed))
        except Exception as error:
            answer = Answer(problem.x0, error=f"{type(error).__name__}: {error}")
    spent = {
        "calls": world.calls,
        "handed": max(answer.handed, world.calls),
        "seconds": time.perf_counter() - started,
    }
    return Answer(**{**vars(answer), **spent})


def _one(seed: list[int]) -> int:
    """A single number for libraries that take one."""
    return int(np.random.default_rng(seed).integers(2**31 - 2))


def _best_of(theta: list[Any], problem: Problem, world: Workplace) -> np.ndarray:
    _, f = world.plainly(np.asarray(theta))
    return np.array(theta[int(np.argmin(f))], float) if len(f) else problem.x0


def said(result: Any, handed: int = 0) -> Answer:
    return Answer(
        np.asarray(result.x, float),
        float(result.fun),
        float(result.fun_se),
        bool(result.success),
        handed=handed,
        verified=int(getattr(result, "verified", 0) or 0),
        failing=float(getattr(getattr(result, "failing", None), "share", math.nan)),
        message=str(result.message),
    )
