"""E f at a theta, by many draws with the same random numbers for every theta of a problem; and what
became of one run: is the claim covered, is the answer worse than the start, does it fail, is it
impossible?
"""

import dataclasses
import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from phenes_lab.bench.trust.contenders import CLAIM, Answer
from phenes_lab.bench.trust.problem import Problem, draw, number

CERTAIN = 1e-9  # relative: what rounding may do to a value that is known exactly


class Balanced:
    """Random numbers whose normal draws have mean 0 and covariance I in the sample itself.

    A claim that is exact would otherwise be missed, now and then, by the luck of the truth.
    Standard errors of a sample that is balanced so are upper bounds.
    """

    def __init__(self, seed: list[int]):
        self.rng = np.random.default_rng(seed)

    def standard_normal(self, shape: Any) -> np.ndarray:
        z = self.rng.standard_normal(shape)
        rows = z if z.ndim == 2 else z[:, None]
        if len(rows) > 2 * rows.shape[1]:
            rows = rows - rows.mean(axis=0)
            rows = np.linalg.solve(np.linalg.cholesky(rows.T @ rows / len(rows)), rows.T).T
        return rows.reshape(z.shape)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rng, name)


@dataclass(frozen=True)
class Truth:
    """mean: of the draws that did not fail, NaN if all did. se: its standard error. share: of
    failures. priced: the mean with failures.
    """

    mean: float
    se: float
    share: float
    priced: float
    priced_se: float


@dataclass(frozen=True)
class Judge:
    """What is known of a problem before anything is run.

    price: what a failure counts: the worst finite value around the start. scale: standard deviation
    of f there, spread: of f at the start itself. start: truth at the start. reference: priced E f
    at the optimum where mathematics has it, NaN elsewhere.
    """

    problem: Problem
    draws: int
    price: float = math.nan
    scale: float = 1.0
    spread: float = 0.0
    start: Truth = Truth(math.nan, math.nan, math.nan, math.nan, math.nan)
    reference: float = math.nan

    def values(self, theta: np.ndarray) -> np.ndarray:
        """f of the draws at theta, NaN where it fails."""
        n = 1 if self.problem.certain else self.draws
        rng: Any = Balanced([11, number(self.problem.name), self.problem.seed])
        return self.problem.sample(np.tile(theta, (n, 1)), rng)[1]

    def priced(self, values: np.ndarray) -> np.ndarray:
        return np.where(np.isnan(values), self.price, values)

    def truth(self, theta: np.ndarray) -> Truth:
        values = self.values(theta)
        finite = values[~np.isnan(values)]
        mean, se = _mean_se(finite)
        if self.problem.exact is not None:
            mean, se = self.problem.exact(theta), 0.0
        priced, priced_se = (
            _mean_se(self.priced(values)) if finite.size < values.size else (mean, se)
        )
        return Truth(mean, se, 1 - finite.size / values.size, priced, priced_se)

    def rise(self, theta: np.ndarray) -> tuple[float, float]:
        """Priced E f at theta less that at the start, on the same draws, and its standard error."""
        return _mean_se(self.priced(self.values(theta)) - self.priced(self.values(self.problem.x0)))

    def worse(self, theta: np.ndarray) -> bool:
        """By over five standard errors and one per cent of the spread of f at the start; if nothing
        is left to chance, at all.
        """
        rise, se = self.rise(theta)
        rounding = CERTAIN * max(abs(self.start.priced), CERTAIN)
        return rise > (
            rounding if self.problem.certain else max(5 * se, 0.01 * self.spread, rounding)
        )


def judge(problem: Problem, draws: int) -> Judge:
    price, scale = _around(problem, draws)
    if problem.failure is not None:
        price = problem.failure
    out = Judge(problem, draws, price, scale)
    at_start = out.values(problem.x0)
    reference = math.nan if problem.best is None else out.truth(problem.best).priced
    return dataclasses.replace(
        out,
        spread=float(np.std(out.priced(at_start))),
        start=out.truth(problem.x0),
        reference=reference,
    )


@functools.lru_cache(maxsize=4)
def judge_of(name: str, seed: int, base: int, draws: int) -> Judge:
    """Runs of one instance follow each other: what they share is computed once."""
    return judge(draw(name, seed, base), draws)


def _around(problem: Problem, draws: int) -> tuple[float, float]:
    """Worst finite value and standard deviation of f where a search would begin; wider if nothing
    has a value there.
    """
    rng = np.random.default_rng([12, number(problem.name), problem.seed])
    z = rng.standard_normal((draws, problem.dim))
    for factor in (1.0, 3.0, 10.0):
        theta = problem.x0 + factor * problem.sigma0 * z
        theta = theta if problem.bounds is None else np.clip(theta, *problem.bounds)
        y = problem.sample(theta, rng)[1]
        finite = y[~np.isnan(y)]
        if finite.size:
            return float(finite.max()), float(finite.std()) or 1.0
    return 1.0, 1.0


def _mean_se(values: np.ndarray) -> tuple[float, float]:
    if not values.size:
        return math.nan, math.nan
    if np.ptp(values) == 0:  # a sum of many equal numbers is not quite so many times the number
        return float(values[0]), 0.0
    return float(values.mean()), float(values.std(ddof=1)) / math.sqrt(values.size)


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
