"""E f at a theta, by many draws with the same random numbers for every theta of a problem."""

import dataclasses
import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

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
