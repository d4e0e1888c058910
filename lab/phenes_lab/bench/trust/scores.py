"""What became of one run: is the claim covered, is the answer worse than the start, does it fail,
is it impossible?
"""

import math
from dataclasses import dataclass

import numpy as np

from phenes_lab.bench.trust.contenders import CLAIM, Answer
from phenes_lab.bench.trust.truth import CERTAIN, Judge, Truth


@dataclass(frozen=True)
class TrustRow:
    """One run and its verdict.

    truth, truth_se: E f at x without failures; share: of failures at x; value: E f at x with
    failures priced. z: how many standard errors the claim is off, by the nearer of the two;
    covered: within two of the claim's and two of the truth's. no_claim: fun or its standard error
    is not finite, which covers everything. wrong: success, and off by over three and not covered.
    over: calls or rows beyond the budget. Contenders that claim nothing have only value, worse and
    failing.
    """

    contender: str
    problem: str
    family: str
    dim: int
    budget: int
    seed: int
    x: list[float]
    fun: float
    fun_se: float
    success: bool
    truth: float
    truth_se: float
    share: float
    value: float
    start: float
    reference: float
    scale: float
    z: float
    covered: bool
    no_claim: bool
    worse: bool
    failing: bool
    impossible: bool
    wrong: bool
    over: bool
    calls: int
    verified: int
    message: str
    error: str
    seconds: float


def score(contender: str, judge: Judge, budget: int, answer: Answer) -> TrustRow:
    problem = judge.problem
    finite = bool(np.isfinite(answer.x).all())
    truth = judge.truth(answer.x) if finite else Truth(math.nan, math.nan, 1.0, judge.price, 0.0)
    claims = contender in CLAIM
    no_claim = not (math.isfinite(answer.fun) and math.isfinite(answer.fun_se))
    z, is_covered = (
        _claim(answer, truth, judge.scale) if claims and not no_claim else (math.nan, True)
    )
    return TrustRow(
        contender=contender,
        problem=problem.name,
        family=problem.family,
        dim=problem.dim,
        budget=budget,
        seed=problem.seed,
        x=answer.x.tolist(),
        fun=answer.fun,
        fun_se=answer.fun_se,
        success=answer.success,
        truth=truth.mean,
        truth_se=truth.se,
        share=truth.share,
        value=truth.priced,
        start=judge.start.priced,
        reference=judge.reference,
        scale=judge.scale,
        z=z,
        covered=is_covered,
        no_claim=claims and no_claim,
        worse=not finite or bool(judge.worse(answer.x)),
        failing=truth.share > 0.5 and judge.start.share <= 0.5,
        impossible=claims
        and not no_claim
        and impossible(answer.fun, problem.lowest, problem.highest),
        wrong=answer.success and (math.isnan(answer.fun) or (abs(z) > 3 and not is_covered)),
        over=max(answer.calls, answer.handed) > budget,
        calls=answer.calls,
        verified=answer.verified,
        message=answer.message,
        error=answer.error,
        seconds=answer.seconds,
    )


def _claim(answer: Answer, truth: Truth, scale: float) -> tuple[float, bool]:
    """z of the nearer truth, and whether either is covered."""
    truths = [(truth.mean, truth.se)] if not math.isnan(truth.mean) else []
    truths += [(truth.priced, truth.priced_se)] if truth.share > 0 else []
    zs = [z_of(answer.fun, answer.fun_se, *one, scale) for one in truths]
    return min(zs, key=abs), any(covered(answer.fun, answer.fun_se, *one, scale) for one in truths)


def covered(fun: float, fun_se: float, truth: float, truth_se: float, scale: float) -> bool:
    """Within two standard errors of each, and what rounding leaves."""
    return abs(fun - truth) <= 2 * fun_se + 2 * truth_se + _rounding(truth, scale)


def z_of(fun: float, fun_se: float, truth: float, truth_se: float, scale: float) -> float:
    off = fun - truth
    return (
        0.0
        if abs(off) <= _rounding(truth, scale)
        else off / max(math.hypot(fun_se, truth_se), 1e-300)
    )


def _rounding(truth: float, scale: float) -> float:
    return CERTAIN * (abs(truth) + scale)


def impossible(fun: float, lowest: float, highest: float) -> bool:
    """Outside of what f can be at all."""
    return fun < lowest - CERTAIN * (1 + abs(lowest)) or fun > highest + CERTAIN * (
        1 + abs(highest)
    )
