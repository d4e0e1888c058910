"""What violating constraints costs an evolution strategy: an augmented Lagrangian of the rows.

A requirement is that mean + k * standard deviation of h(x) over the law of x at theta is at most 0,
k the normal quantile of the probability that is wanted (exact where h is linear in x and the noise
Gaussian). A row with h costs

    max(0, l + r y)^2 / (2 r),  y = h + k s,

with s the standard deviation at the mean of the search, estimated from all rows by importance
weights, r the stiffness, and l the multiplier: l grows by r times the bound that the mean exceeds,
so that where the search comes to rest the bound is met exactly (Hestenes, 1969; Powell, 1969; in
evolution strategies Atamna, Auger and Hansen, 2016).
"""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from phenes._validate import FloatArray
from phenes.constraints import Requirement, Wanted
from phenes.evidence.estimate import balance_weights
from phenes.evidence.law import Law
from phenes.evidence.limits import scales, worst
from phenes.evidence.observations import Observations
from phenes.evidence.standing import USED

# the multiplier follows the bound more slowly than the search follows the multiplier
DAMPING = 5.0
# and no step of it is of more than so many standard deviations of h
LONGEST = 2.0
# rows, by their weights, on which mean and standard deviation rest
ENOUGH = 4.0
NEWEST = 10  # rows that stand for the mean of the search without noise
# standard deviations of h by which the cost may begin later than at the bound: rows scatter around
# the mean, and if the stiffness is large, those beyond cost more than the bound is worth
SLACK = 3.0
# the stiffness grows if the bound is not halved in so many updates, by this factor
PATIENCE, STIFFER = 20, 2.0
# standard deviations beyond the bound below which it is near enough: estimates err by as much
FAR = 0.5


@dataclass
class Term:
    """A requirement and what it costs now. spread: k s."""

    requirement: Requirement
    factor: float
    spread: float = 0.0
    multiplier: float = 0.0
    stiffness: float = 0.0
    worst: float = np.inf  # bound when the stiffness was last looked at
    updates: int = 0

    def cost(self, h: FloatArray) -> FloatArray:
        """Of rows with h (n,)."""
        if not self.stiffness:
            return np.zeros(h.size)
        push = np.maximum(self.multiplier + self.stiffness * (h + self.spread), 0.0)
        return push**2 / (2 * self.stiffness)

    def learn(self, mean: float, deviation: float, scale: float, exact: bool = False) -> None:
        """mean, deviation: of h at the mean of the search. scale: of f. exact: without noise."""
        if not self.stiffness:
            self.stiffness = scale
        self.spread = 0.0 if exact else self.factor * deviation
        bound = mean + self.spread
        reach = LONGEST * deviation
        step = self.stiffness * max(min(bound, reach), -reach) / DAMPING
        self.multiplier = max(self.multiplier + step, -SLACK * self.stiffness * deviation)
        self.updates += 1
        if self.updates % PATIENCE == 0:
            if bound > FAR * deviation and bound > self.worst / 2:
                self.stiffness *= STIFFER
            self.worst = bound


class Penalty:
    """The cost of violating constraints.

    Parameters
    ----------
    wanted : Wanted
        How surely they must hold.
    """

    def __init__(self, wanted: Wanted):
        self._wanted = wanted
        self._terms: tuple[Term, ...] = ()
        self._scales = np.empty(0)
        self._at: FloatArray | None = None  # the mean of the search when it was last looked at

    def merit(self, told: FloatArray) -> FloatArray:
        """What is minimised, (n,), of rows (n, 1 + J): the value and what violating costs."""
        return told if told.ndim == 1 else told[:, 0] + self.values(told[:, 1:])

    def values(self, c: FloatArray) -> FloatArray:
        """What rows with constraints c (n, J) cost, (n,); NaN where one is not known."""
        total = np.zeros(len(c))
        for term in self._terms:
            total = total + term.cost(worst(c, term.requirement, self._scales))
        return np.where(np.isnan(c).any(axis=1), np.nan, total)

    def update(self, seen: Observations, law: Law) -> bool:
        """Learn from all rows where the search is now; whether there is something to learn."""
        if not seen.limits:
            return False
        c, f = seen.c, seen.f
        known = np.isfinite(f) & ~np.isnan(c).any(axis=1)
        # a mean that has not moved since does not answer to the multiplier, which must wait for it
        if known.sum() < 2 or (self._at is not None and np.array_equal(self._at, law.theta)):
            return False
        self._at = law.theta.copy()
        if not self._terms:
            wanted = self._wanted.requirements(seen.limits)
            self._terms = tuple(Term(one, _factor(one)) for one in wanted)
            self._scales = scales(c)
        spread = float(np.std(f[known])) or 1.0
        exact = not law.noisy.any()
        weights = np.where(known, balance_weights(seen, law), 0.0)
        if exact:  # no row is at the mean: those around it stand for it
            weights = np.zeros(f.size)
            weights[np.flatnonzero(known)[-NEWEST:]] = 1.0
        if weights.sum() ** 2 < ENOUGH * np.sum(weights**2) or not weights.any():
            return self._begin(spread)
        weights = weights / weights.sum()
        used = weights > 0
        for term in self._terms:
            h = worst(c[used], term.requirement, self._scales)
            mean = float(weights[used] @ h)
            deviation = float(np.sqrt(weights[used] @ (h - mean) ** 2))
            term.learn(mean, deviation, spread, exact)
        return True

    def _begin(self, spread: float) -> bool:
        """While rows are too far from each other to say more: a cost without a multiplier."""
        new = [term for term in self._terms if not term.stiffness]
        for term in new:
            term.stiffness = spread
        return bool(new)


def _factor(one: Requirement) -> float:
    """k of a requirement: the normal quantile of what a proposal may use."""
    return 0.0 if one.level is None else float(special.ndtri(1 - USED * (1 - one.level)))
