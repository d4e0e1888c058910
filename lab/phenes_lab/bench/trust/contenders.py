"""Who is asked: phenes at both of its doors, and the libraries that people use, with their
defaults.
"""

import contextlib
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from phenes_lab.bench.trust.problem import Problem
from phenes_lab.bench.trust.world import World


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


def phenes(problem: Problem, world: World, budget: int, seed: int) -> Answer:
    """`phenes.minimize` with its defaults."""
    from phenes.optimizer import minimize

    options: dict[str, Any] = {"bounds": problem.bounds, "budget": budget, "seed": seed}
    if problem.told == "law":
        return _said(minimize(world.of_x, problem.x0, problem.sigma0, problem.noise, **options))
    return _said(
        minimize(
            world.of_theta, problem.x0, problem.sigma0, problem.noise, realises=True, **options
        )
    )


POPSIZE = 7  # of ask and tell: divides no budget


def asktell(problem: Problem, world: World, budget: int, seed: int) -> Answer:
    """`phenes.Optimizer` in the loop that its documentation shows."""
    from phenes.optimizer import Optimizer

    opt = Optimizer(
        problem.x0,
        problem.sigma0,
        problem.noise,
        bounds=problem.bounds,
        popsize=POPSIZE,
        budget=budget,
        seed=seed,
    )
    handed = 0
    while not opt.stop():
        theta = opt.ask()
        handed += len(theta)
        x, f = world.rows(theta)
        opt.tell(theta, f, realised=world.seen(x))
    return _said(opt.result, handed)


def pycma(problem: Problem, world: World, budget: int, seed: int) -> Answer:
    """cma.CMAEvolutionStrategy until no generation is left: where it would stop, on plains above
    all, it goes on.
    """
    import cma

    # -10: silent, and no file is looked for; a seed of 0 would mean the clock
    options: dict[str, Any] = {"seed": seed + 1, "verbose": -10}
    if problem.bounds is not None:
        options["bounds"] = [bound.tolist() for bound in problem.bounds]
    es = cma.CMAEvolutionStrategy(problem.x0, problem.sigma0, options)
    if es.popsize > budget:
        return Answer(_best_of(es.ask(budget), problem, world))
    # long after convergence
    with contextlib.suppress(ArithmeticError, AssertionError, ValueError, np.linalg.LinAlgError):
        while world.calls + es.popsize <= budget:
            theta = es.ask()
            es.tell(theta, world.plainly(np.asarray(theta)))
    return Answer(np.array(es.result.xfavorite, float))


def cmaes(problem: Problem, world: World, budget: int, seed: int) -> Answer:
    """cmaes.CMA in the same way; its mean."""
    from cmaes import CMA

    bounds = None if problem.bounds is None else np.column_stack(problem.bounds)
    search = CMA(problem.x0.astype(float), problem.sigma0, bounds, seed=seed)
    if search.population_size > budget:
        return Answer(_best_of([search.ask() for _ in range(budget)], problem, world))
    with contextlib.suppress(ArithmeticError, AssertionError, ValueError, np.linalg.LinAlgError):
        while world.calls + search.population_size <= budget:
            theta = [search.ask() for _ in range(search.population_size)]
            search.tell(list(zip(theta, world.plainly(np.asarray(theta)), strict=True)))
    mean = search.mean.copy()
    return Answer(mean if problem.bounds is None else np.clip(mean, *problem.bounds))


CONTENDERS: dict[str, Callable[[Problem, World, int, int], Answer]] = {
    "phenes": phenes,
    "phenes-asktell": asktell,
    "pycma": pycma,
    "cmaes": cmaes,
}
CLAIM = ("phenes", "phenes-asktell")  # those that say what E f is


def ask(name: str, problem: Problem, budget: int, seed: list[int]) -> Answer:
    """One run. What a contender raises is its answer too: it stays where it began and claims
    nothing.
    """
    world, started = World(problem, [*seed, budget]), time.perf_counter()
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


def _best_of(theta: list[Any], problem: Problem, world: World) -> np.ndarray:
    f = world.plainly(np.asarray(theta))
    return np.array(theta[int(np.argmin(f))], float) if len(f) else problem.x0


def _said(result: Any, handed: int = 0) -> Answer:
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
