"""The loop of `train`: chunks of generations, each followed by a look at the mean policy."""

import functools
import time
from collections.abc import Callable
from typing import Generic, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from phenes.rl.curve import Curve
from phenes.rl.problems import A, C, Problem, Readout
from phenes.rl.training.checkpoint import Checkpoint

Progress = Callable[[int, int, Curve], object]


class Now(NamedTuple):
    """Where a training is.

    readout: makes the present mean policy. looked: looks at it before these last generations.
    """

    done: int
    total: int
    curve: Curve
    readout: Callable[[], Readout]
    looked: int


def nobody(now: Now) -> bool:
    """No callback: the training is not ended early."""
    return False


class Best(NamedTuple, Generic[A]):
    """The best mean policy that was looked at: see `Problem.answer`."""

    value: Float[Array, ""]
    answer: A


class Outcome(NamedTuple):
    """readout: the last mean, or an earlier one if that is better on the same fresh episodes.

    value: its return there. solved: the target was reached, and proved.
    """

    readout: Readout
    value: float
    curve: Curve
    solved: bool
    seconds: float


def run(
    problem: Problem[C, A],
    generations: int,
    target: float | None,
    checkpoint: Checkpoint,
    progress: Progress,
    ends: Callable[[Now], bool] = nobody,
) -> Outcome:
    """Train from the start or the checkpoint until the last generation or the target.

    ends: is told after every few generations, and may end it.
    """
    carry = problem.begin()
    (carry, best), curve = checkpoint.restore((carry, _best(problem, carry, -np.inf)))
    before = float(curve.seconds[-1]) if curve.seconds.size else 0.0
    started = time.perf_counter()
    progress(curve.generations, generations, curve)
    solved, ended = _solved(problem, carry, curve, target), False
    while curve.generations < generations and not (solved or ended):
        n = min(problem.chunk, generations - curve.generations)
        looked = curve.at.size
        carry, reports, looks = problem.advance(carry, n)
        curve = curve.extended(reports, before + time.perf_counter() - started).evaluated(looks)
        if looks[-1][1] >= float(best.value):
            best = _best(problem, carry, looks[-1][1])
        checkpoint.save((carry, best), curve)
        progress(curve.generations, generations, curve)
        made = functools.partial(_readout, problem, carry, curve)
        ended = ends(Now(curve.generations, generations, curve, made, looked))
        solved = _solved(problem, carry, curve, target)
    answer, value = _chosen(problem, carry, best, curve.generations)
    readout = problem.readout(answer, carry, curve)
    checkpoint.finish()
    return Outcome(readout, value, curve, solved, before + time.perf_counter() - started)


def _readout(problem: Problem[C, A], carry: C, curve: Curve) -> Readout:
    return problem.readout(problem.answer(carry), carry, curve)


def _best(problem: Problem[C, A], carry: C, value: float) -> Best[A]:
    return Best(jnp.asarray(value, jnp.result_type(float)), problem.answer(carry))


def _chosen(problem: Problem[C, A], carry: C, best: Best[A], generations: int) -> tuple[A, float]:
    """The answer and its value, both candidates judged on the same fresh episodes."""
    answers = [problem.answer(carry)]
    if problem.keeps_best and not _same(answers[0], best.answer):
        answers.append(best.answer)
    values = [problem.prove(answer, generations + 1) for answer in answers]
    which = int(np.nan_to_num(values, nan=-np.inf).argmax())
    return answers[which], values[which]


def _same(one: A, other: A) -> bool:
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def _solved(problem: Problem[C, A], carry: C, curve: Curve, target: float | None) -> bool:
    """If the population or a look at the mean policy says so, that policy has to prove it."""
    if target is None or curve.generations == 0:
        return False
    if max(curve.mean[-1], curve.deterministic[-1]) < target:
        return False
    return problem.prove(problem.answer(carry), curve.generations) >= target
