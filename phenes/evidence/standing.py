"""What is known of the requirements at a theta, and what may be claimed of them.

A claim is covered by its bound: by a model with its error against it, where a model resolves the
limit; by counting draws, where it does not; else there is no claim.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phenes.constraints import Requirement, bounds

# confidence at which fresh draws contradict that a requirement is met: every round of draws is a
# look, and one wrong look costs a good answer
CONTRADICTED = 0.999
# share of the allowed violations that a proposal may use: what is exactly at its limit is half of
# the time beyond it
USED = 0.95
# the same of a limit that no model resolves: its edge lies somewhere between two rows, and draws
# confirm only what is violated much more rarely than it may be
USED_UNRESOLVED = 0.2


def used(resolved: bool) -> float:
    """Share of the allowed violations that a proposal may use."""
    return USED if resolved else USED_UNRESOLVED


class Standing(NamedTuple):
    """What is known of one requirement at a theta.

    draws, violated: fresh draws there, and how many violate it. violation: its probability by the
    model, of which a share that failed there without constraints knows nothing and is added, the
    mean excess if the mean is wanted; NaN without a model. cautious: the same with
    the model's error against it. excess: mean of what is above the limit, in units of the
    constraint. low, high: bounds of the mean by the draws, at the confidence of a contradiction and
    at 95 %. unresolved: names of the limits that no model resolves. uncounted: the probability with
    which these may be violated by the draws alone, at 95 %; infinite if the mean is wanted, which
    `high` bounds. reached: so many evaluations that count here did not fail, and none did: what
    fails more rarely is not known of.
    """

    requirement: Requirement
    draws: int
    violated: int
    violation: float
    cautious: float
    excess: float
    low: float = -np.inf
    high: float = np.inf
    unresolved: tuple[str, ...] = ()
    uncounted: float = 0.0
    reached: int = 0

    @property
    def allowed(self) -> float:
        """What the violation may be."""
        level = self.requirement.level
        return 0.0 if level is None else 1 - level

    @property
    def contradicted(self) -> bool:
        """Whether fresh draws show that it is not met; they are looked at many times."""
        level = self.requirement.level
        if level is None:
            return self.low > 0
        held = self.draws - self.violated
        return self.draws > 0 and bounds.upper(held, self.draws, CONTRADICTED) < level

    @property
    def confirmed(self) -> bool:
        """Whether fresh draws alone show that it is met, at 95 %."""
        level = self.requirement.level
        if level is None:
            return self.high <= 0
        return bounds.lower(self.draws - self.violated, self.draws) >= level

    @property
    def expected(self) -> bool:
        """Whether the model expects it, or draws confirm it, and none contradict it.

        Of a limit that no model resolves more draws may not violate it than are allowed: the model
        takes its edge to lie in the middle between two rows.
        """
        supported = self.violation <= self.allowed  # NaN is no support
        if self.unresolved and self.requirement.level is not None:
            supported = supported and self.violated <= self.allowed * self.draws
        return not self.contradicted and (supported or self.confirmed)

    @property
    def bound(self) -> float:
        """What the violation may be by all that is believed: the model, and counts without one."""
        return self.cautious + self.uncounted

    @property
    def met(self) -> bool:
        """Whether it may be claimed: the bound is allowed, or draws alone confirm it."""
        return not self.contradicted and (self.bound <= self.allowed or self.confirmed)

    @property
    def safe(self) -> bool:
        """Whether it is met with a margin, for a proposal."""
        return not self.contradicted and self.cautious <= used(not self.unresolved) * self.allowed

    @property
    def strictness(self) -> float:
        """Share of what is allowed that a model may use which fresh draws have contradicted."""
        if not self.contradicted or not self.violated:
            return 1.0
        return self.allowed * self.draws / self.violated

    @property
    def shortfall(self) -> float:
        """By how much more it is violated than allowed; infinite if nothing is known."""
        counted = self.violated / self.draws if self.draws else np.nan
        known = [each for each in (self.violation, counted) if np.isfinite(each)]
        if self.requirement.level is None:
            known = [each for each in (self.violation, self.excess) if np.isfinite(each)]
        return max(max(known) - self.allowed, 0.0) if known else np.inf


class Place(NamedTuple):
    """All requirements at a theta. each: violations of the single constraints by the model."""

    standings: tuple[Standing, ...]
    each: tuple[float, ...] = ()

    @property
    def met(self) -> bool:
        """Whether it may be claimed that all are met."""
        return all(one.met for one in self.standings)

    @property
    def expected(self) -> bool:
        """Whether all are expected to be met."""
        return all(one.expected for one in self.standings)

    @property
    def safe(self) -> bool:
        """Whether all are met with a margin."""
        return all(one.safe for one in self.standings)

    @property
    def strictness(self) -> float:
        """The least of all."""
        return min((one.strictness for one in self.standings), default=1.0)

    @property
    def badness(self) -> tuple[float, float]:
        """By which places that do not meet them are compared."""
        return (
            max((one.shortfall for one in self.standings), default=0.0),
            max((one.excess for one in self.standings), default=0.0),
        )
