"""`phenes.maximize` on the same problem: its runs and their verified answers."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from phenes.demo.problem import assembly, optimum
from phenes.demo.settings import DemoSettings
from phenes.optimizer import maximize

NAME = "phenes.maximize"


class Answer(NamedTuple):
    """One run of `maximize`.

    evaluations [updates] and aims [updates, 2 parts]: the theta it would have recommended by then.
    x [2 parts], fun, fun_se: the answer, and the claimed E f there with its standard error.
    """

    evaluations: np.ndarray
    aims: np.ndarray
    x: np.ndarray
    fun: float
    fun_se: float
    nfev: int


def run_product(
    settings: DemoSettings, progress: Callable[[int], Any] = lambda done: None
) -> tuple[Answer, ...]:
    """`maximize` from the same start with the same spread and noise, otherwise its defaults."""
    answers = []
    for seed in range(min(settings.product_seeds, settings.seeds)):
        result = maximize(
            assembly,
            np.ravel(settings.starts),
            settings.spread,
            settings.noise,
            budget=settings.product_budget,
            vectorized=True,
            seed=settings.seed + seed,
        )
        answers.append(
            Answer(
                result.history["nfev"],
                result.history["x"],
                result.x,
                result.fun,
                result.fun_se,
                result.nfev,
            )
        )
        progress(seed + 1)
    return tuple(answers)


def answer_regret(answer: Answer, noise: float) -> float:
    """max E f - E f(answer), exact."""
    return float(optimum(noise)[1] - assembly(answer.x, noise))


def covered(answer: Answer, noise: float) -> bool:
    """Whether E f at the answer is within two standard errors of what is claimed."""
    return abs(float(assembly(answer.x, noise)) - answer.fun) <= 2 * answer.fun_se


def curves(
    answers: tuple[Answer, ...], noise: float
) -> tuple[np.ndarray, Float[np.ndarray, "seeds n"]]:
    """Evaluations, and the regret of the theta that each run would have recommended by then.

    Runs update at numbers of evaluations of their own: each keeps its last regret until the next.
    """
    evaluations = np.unique(np.concatenate([each.evaluations for each in answers]))
    first = max(each.evaluations[0] for each in answers)
    evaluations = evaluations[evaluations >= first]
    rows = []
    for each in answers:
        last = np.searchsorted(each.evaluations, evaluations, side="right") - 1
        rows.append(optimum(noise)[1] - assembly(each.aims[last], noise))
    return evaluations, np.array(rows)
