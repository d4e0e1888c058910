"""What is claimed of a design of the front: fresh draws there, those near it, and the model."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from phenes._validate import FloatArray, IntArray
from phenes.constraints import bounds
from phenes.evidence import Observations
from phenes.evidence.estimate import Estimate, balance_weights, estimate, fresh_weights
from phenes.evidence.law import Law, gaussian_law, sampled_law
from phenes.optimizer.answer.unmet_failures import shift
from phenes.optimizer.noise.state import NoiseState
from phenes.pareto.objectives import Objective
from phenes.pareto.search import FrontSearch
from phenes.risk import mean

# Rows that a search chose, weighed for all designs, agree with the model more than fresh draws at
# one design would. Where f has a kink, 83 and 88 % of the intervals of E f cover with its own error
# (problems ledge and ledge-std of `phenes bench front`, seeds 0 to 5), with twice that 100 and 93 %
# (seeds 0 to 9).
WIDER = 2.0


class Claimed(NamedTuple):
    """Both objectives at the designs, as minimised.

    Attributes
    ----------
    values, errors : ndarray, shape (k, 2)
        Estimates and their standard errors.
    draws, failed : ndarray of int, shape (k,)
        Fresh draws at each design, and how many of them failed.
    """

    values: FloatArray
    errors: FloatArray
    draws: IntArray
    failed: IntArray


class Archive:
    """All rows of a run, of each value that f returns.

    Parameters
    ----------
    dim : int
        Coordinates of theta.
    columns : int
        Values that f returns.
    early : int
        Rows by which it is judged what a failure costs.
    """

    def __init__(self, dim: int, columns: int, early: int):
        self.seen = tuple(Observations(dim) for _ in range(columns))
        self.early = early

    def add(
        self, theta: FloatArray, x: FloatArray, points: FloatArray, f: FloatArray, phase: str
    ) -> None:
        """Add rows; f (n, c) as minimised."""
        for seen, column in zip(self.seen, f.T, strict=True):
            seen.add(theta, x, points, column, phase)

    def claim(
        self,
        theta: FloatArray,
        objectives: tuple[Objective, Objective],
        search: FrontSearch,
        noise: NoiseState,
    ) -> Claimed:
        """Both objectives at designs theta (k, d), from the draws made there and near them."""
        for seen in self.seen:
            for row in theta:
                seen.compare_failures(row)
        found = [[self._one(row, each, search, noise) for each in objectives] for row in theta]
        values = np.array([[each.fun for each in pair] for pair in found])
        errors = np.array([[each.se for each in pair] for pair in found])
        draws = np.array([pair[0].draws for pair in found])
        failed = np.array([pair[0].failed for pair in found])
        return Claimed(values, errors, draws, failed)

    def _one(
        self, theta: FloatArray, objective: Objective, search: FrontSearch, noise: NoiseState
    ) -> Estimate:
        """Designs are closer to each other than the noise: draws at one are weighed for all.

        The values of a risk by weights alone have seen too little of the tails: their error is at
        least that of the draws at the design itself. Which of its few draws failed says as little:
        what is claimed is of x that have a value. Its error allows for a tail of the law that may
        lack one, by the share of all rows that weigh there and failed.
        """
        seen = self.seen[objective.column]
        law = _law(theta, noise, search.scale)
        price, control = seen.price(self.early), noise.one_pattern and noise.warning is None
        surrogate = search.surrogate(objective.column) if noise.complete else None
        risk = None if objective.risk == mean() else objective.risk

        wide = balance_weights(seen, law)

        def by(weights: FloatArray) -> Estimate:
            return estimate(seen, law, price, weights, control, surrogate, risk, valued=True)

        known = by(wide)
        if noise.noiseless:
            return _exactly(known, seen)
        if known.control != "none":
            known = replace(known, se=WIDER * known.se)
        if risk is not None and (surrogate is None or known.control != surrogate.name):
            known = replace(known, se=max(known.se, by(fresh_weights(seen, law)).se))
        cut = _cut_off(seen, wide) / math.sqrt(objective.risk.tail)
        return replace(known, se=math.hypot(known.se, cut))


def _cut_off(seen: Observations, weights: FloatArray) -> float:
    """By how much a tail of x without a value may change the mean or spread of f: a standard error.

    Two of them allow for as large a share as may fail, at 95 %. Zero where failures are no matter
    of place: then x that have a value are like all others.
    """
    gone = np.isnan(seen.f)
    works = weights * ~gone
    if not gone.any() or not seen.walled or not works.any():
        return 0.0
    draws = float(weights.sum() ** 2 / np.sum(weights**2))
    f, works = seen.f[~gone], works[~gone] / works.sum()
    spread = math.sqrt(float(works @ (f - works @ f) ** 2))
    most = bounds.upper(draws * float(weights @ gone / weights.sum()), draws)
    return spread * shift(most) / 2 if most < 1 else math.inf


def _law(theta: FloatArray, noise: NoiseState, scale: FloatArray) -> Law:
    known = noise.law_at(theta)
    if isinstance(known, np.ndarray):
        return sampled_law(theta, known, scale)
    return gaussian_law(theta, *known, scale=scale)


def _exactly(known: Estimate, seen: Observations) -> Estimate:
    """Without noise a value is what it is, unless evaluations at the same theta differ."""
    own = seen.f[seen.at(known.theta)]
    own = own[np.isfinite(own)]
    if not own.size or np.ptp(own) > 0:
        return known
    return replace(known, fun=float(own[0]), se=0.0)
