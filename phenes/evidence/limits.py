"""Whether a theta meets its constraints: fresh draws are counted, and a model says the rest.

Counting alone needs thousands of draws for a probability of 0.999. The constraints are measured as
numbers at the realised x, so that a model of them knows how far the limit is; the draws at theta
must not contradict it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from phenes._validate import BoolArray, FloatArray
from phenes.adaptive.archive import have_a_place, may_be_anywhere
from phenes.constraints import Requirement, Wanted, bounds
from phenes.evidence.estimate import balance_weights
from phenes.evidence.law import Law
from phenes.evidence.observations import Observations
from phenes.evidence.resolution import between_steps, jumping, unresolved
from phenes.evidence.standing import CONTRADICTED, Place, Standing, used
from phenes.evidence.tails import violating
from phenes.gp.fit import Fitted
from phenes.gp.limits import LimitModel

CAUTION = 2.0  # standard deviations of the model that count against what is claimed
# and against a proposal whose mean is bounded: the last draws move the model a little
CAUTION_OF_MEAN = 3.0
RULE_OF_THREE = 3.0  # n draws miss what has a probability of 3 / n once in twenty times
NEAR = 1.0  # distance, in standard deviations of the noise, up to which a model is used again
TAIL = 0.25  # share of the worst draws whose mean says in which direction a constraint rises
DRAWS = 256  # of the law, for means and slopes
FARTHEST = 4.0  # standard deviations of the noise that a proposal is moved at once
HALVINGS = 9  # of that distance
MOVES = 4


class Failing(NamedTuple):
    """How often constraints are not known at a theta.

    share: as far as it is known. more: what it may be beside that, at 95 %. reached: if no
    evaluation that counts there lacks one, so many did; 0 otherwise. anywhere: share of all rows
    that lack one, if they are too few to tell whether that depends on theta.
    """

    share: float
    more: float
    reached: int = 0
    anywhere: float = 0.0


class Limits:
    """The constraints of a run.

    Parameters
    ----------
    wanted : Wanted
        How surely they must hold.
    """

    def __init__(self, wanted: Wanted):
        self.wanted = wanted
        self._models: list[tuple[FloatArray, LimitModel]] = []
        self._rows = -1
        self._jumps, self._looked = False, -1
        self._places: dict[tuple[int, ...], tuple[int, bool]] = {}
        self._doubted: dict[tuple[int, ...], tuple[int, bool]] = {}

    def place(self, seen: Observations, law: Law, exact: bool = False) -> Place:
        """What is known at law.theta.

        Parameters
        ----------
        seen : Observations
            All rows of the run.
        law : Law
            Of x at the theta.
        exact : bool, optional
            Whether one evaluation says all: there is no noise.

        Returns
        -------
        Place
        """
        own = seen.at(law.theta)
        model = None if exact else self._model(seen, law)
        scale = scales(seen.c)
        wanted = self.wanted.requirements(seen.limits)
        failing = [self._failing(seen, law, one.members) for one in wanted]
        standings = tuple(
            self._standing(one, seen.c[own], law, model, scale, exact, fails.share)
            for one, fails in zip(wanted, failing, strict=True)
        )
        if not exact:
            unknown = unresolved(seen, model)
            standings = tuple(
                _by_counts(each, seen, own, unknown, fails)
                for each, fails in zip(standings, failing, strict=True)
            )
        each: list[float] = []
        for k in range(len(seen.limits)):
            single = Requirement((k,), 0.5, seen.limits[k])
            if model is None:
                each.append(float(np.mean(~(seen.c[own][:, k] <= 0))) if own.any() else np.nan)
            else:
                violation = _violation(single, law, model, scale, 0.0)
                each.append(_or_failing(violation, self._failing(seen, law, (k,)).share))
        return Place(standings, tuple(each))

    def _standing(
        self,
        one: Requirement,
        c: FloatArray,
        law: Law,
        model: LimitModel | None,
        scale: FloatArray,
        exact: bool,
        failing: float,
    ) -> Standing:
        """c (n, J): constraints of the draws at this theta. failing: share that has none."""
        h = worst(c, one, scale)
        draws, violated = h.size, int(np.sum(~(h <= 0)))
        above = np.where(np.isnan(h), np.inf, np.maximum(h, 0.0))
        excess = float(above.mean()) if draws else np.nan
        low, high = -np.inf, np.inf
        if one.level is None and draws:
            mean, low, high = bounds.of_mean(h, CONTRADICTED)
            excess = max(mean, 0.0) if np.isfinite(mean) else np.inf
        if exact and draws:
            share = violated / draws if one.level is not None else float(np.mean(h))
            share = np.inf if np.isnan(share) else share
            return Standing(one, draws, violated, share, share, excess, low, high)
        if model is None:
            return Standing(one, draws, violated, np.nan, np.inf, excess, low, high)
        violation = _violation(one, law, model, scale, 0.0)
        cautious = _violation(one, law, model, scale, CAUTION)
        if not draws:
            x = law.x(law.draws[:DRAWS])
            excess = float(np.mean(np.maximum(worst(model.at(x, True)[0], one, scale), 0.0)))
        if one.level is not None:
            violation, cautious = (_or_failing(each, failing) for each in (violation, cautious))
        return Standing(one, draws, violated, violation, cautious, excess, low, high)

    def _model(self, seen: Observations, law: Law) -> LimitModel | None:
        """The model of the rows around a theta, or one that was made nearby."""
        rows = seen.count + seen.dropped
        known: tuple[Fitted | None, ...] = ()
        if rows != self._rows:
            known = self._models[-1][1].fitted if self._models else ()
            self._models, self._rows = [], rows
        for at, model in self._models:
            if np.linalg.norm(law.z(at + (law.centre - law.theta))) <= NEAR:
                return model if model.ready else None
        spread = 1 / law.whiten if law.whiten.ndim == 1 else np.sqrt(np.diag(law.cov))
        model = LimitModel(seen.point, between_steps(seen), law.centre, spread**2, known)
        self._models.append((law.theta, model))
        return model if model.ready else None

    def safer(
        self,
        seen: Observations,
        law_at: Callable[[FloatArray], Law],
        theta: FloatArray,
        inside: Callable[[FloatArray], FloatArray],
        strictness: float = 1.0,
    ) -> FloatArray:
        """The nearest theta that meets all requirements with a margin, by the model.

        Parameters
        ----------
        seen : Observations
            All rows of the run.
        law_at : callable
            theta (d,) -> `Law` of x there.
        theta : ndarray, shape (d,)
            Where to begin.
        inside : callable
            The nearest points (n, d) within the bounds.
        strictness : float, optional
            Share of the allowed violations that may be used, if the model was contradicted.

        Returns
        -------
        ndarray, shape (d,)
            The least violating that was found, if none meets them.
        """
        model = self._model(seen, law_at(theta))
        if model is None:
            return theta
        scale = scales(seen.c)
        wanted = self.wanted.requirements(seen.limits)
        unknown, at = unresolved(seen, model), theta
        may = [
            _usable(
                strictness * used(not unknown[list(one.members)].any()) * _allowed(one),
                self._failing(seen, law_at(theta), one.members),
            )
            for one in wanted
        ]
        for _ in range(MOVES):
            law = law_at(at)
            over = [
                _over(one, law, model, scale, share) for one, share in zip(wanted, may, strict=True)
            ]
            k = int(np.argmax(over))
            if over[k] <= 0:
                break
            at = _retreat(wanted[k], law_at, at, model, scale, inside, may[k])
        return at

    def _failing(self, seen: Observations, law: Law, members: tuple[int, ...]) -> Failing:
        """How often constraints are not known at law.theta.

        Where failures come at any theta alike, by all rows: a few draws without a failure do not
        show that there are none. Where they have a place, by the rows that weigh here, if one lies
        where x may be; else none is expected. The same where they are too few to tell, but they may
        come here as often as anywhere, unless they are further away than most rows.
        """
        gone = _missing(seen.c, members)
        if not gone.any():
            return Failing(0.0, 0.0, gone.size)
        if not self._have_a_place(seen, gone, members):
            anywhere, own = _counted(gone, np.ones(gone.size)), seen.at(law.theta)
            here = float(gone[own].mean()) if own.any() else 0.0
            share = max(here, anywhere.share)
            return Failing(share, max(anywhere.share + anywhere.more - share, 0.0))
        reach = float(np.linalg.norm(law.draws, axis=1).max())
        away = np.linalg.norm(law.z(seen.point), axis=1)
        near = away <= reach
        doubted = self._doubtful(seen, gone, members) and not _far(away, gone)
        if np.any(gone & near):
            here = _counted(gone, balance_weights(seen, law))
        else:
            here = Failing(0.0, 0.0, 0 if doubted else int(near.sum()))
        if not doubted:
            return here
        anywhere = _counted(gone, np.ones(gone.size))
        most = anywhere.share + anywhere.more
        return here._replace(more=max(here.more, most - here.share), anywhere=anywhere.share)

    def _doubtful(self, seen: Observations, gone: BoolArray, members: tuple[int, ...]) -> bool:
        """Whether rows that lack a constraint are too few to tell if that depends on theta."""
        rows = seen.count + seen.dropped
        if self._doubted.get(members, (-1, True))[0] != rows:
            self._doubted[members] = (rows, may_be_anywhere(seen.point, gone))
        return self._doubted[members][1]

    def _have_a_place(self, seen: Observations, gone: BoolArray, members: tuple[int, ...]) -> bool:
        """Whether it depends on theta which rows lack a constraint."""
        if np.array_equal(gone, np.isnan(seen.f)):
            return seen.walled
        rows = seen.count + seen.dropped
        if self._places.get(members, (-1, True))[0] != rows:
            self._places[members] = (rows, have_a_place(seen.point, gone))
        return self._places[members][1]

    def kept_draws(self, seen: Observations, most: int) -> int:
        """Draws of the answer that would confirm what no model supports; 0 if more than `most`."""
        if not seen.limits or not self._jump(seen):
            return 0
        levels = [one.level for one in self.wanted.requirements(seen.limits)]
        least = max((bounds.needed(level) for level in levels if level is not None), default=0)
        return least if least <= most else 0

    def _jump(self, seen: Observations) -> bool:
        """Whether a constraint jumps: by the first rows, twice as many from time to time."""
        rows = 2 ** int(np.log2(max(seen.count, 1)))
        if rows != self._looked:
            self._jumps, self._looked = bool(jumping(seen, rows).any()), rows
        return self._jumps


def _far(away: FloatArray, gone: BoolArray) -> bool:
    """Whether failures are further away than rows in any order would be, at 95 %.

    All of them are among the furthest r of n rows with the probability C(r, k) / C(n, k).
    """
    k, furthest = int(gone.sum()), int(np.sum(away >= away[gone].min()))
    return math.comb(furthest, k) <= (1 - bounds.SURE) * math.comb(gone.size, k)


def _counted(gone: BoolArray, weights: FloatArray) -> Failing:
    """By rows that count with their weights, (n,)."""
    total = float(weights.sum())
    if not total > 0:
        return Failing(0.0, 1.0)
    effective = total**2 / float(np.sum(weights**2))
    share = float(weights @ gone) / total
    return Failing(share, bounds.upper(share * effective, effective) - share)


def _by_counts(
    one: Standing, seen: Observations, own: BoolArray, unresolved: BoolArray, failing: Failing
) -> Standing:
    """The same, where no model resolves some limits: of these only the draws `own` count.

    A mean may have more above it than so few draws have shown, whatever they scatter: the rule of
    three. failing: how often rows here lack a constraint, which no model tells.
    """
    members = [k for k in one.requirement.members if unresolved[k]]
    names = tuple(seen.limits[k] for k in members)
    if one.requirement.level is None:
        h = worst(seen.c, one.requirement, scales(seen.c))
        most = float(np.max(h, initial=-np.inf, where=np.isfinite(h)))
        more = RULE_OF_THREE * (most - float(np.mean(h[own]))) / one.draws if one.draws else np.inf
        uncounted = np.inf if members else 0.0
        return one._replace(unresolved=names, uncounted=uncounted, high=one.high + more)
    if not members:
        return one._replace(uncounted=failing.more, reached=failing.reached)
    violates = ~np.all(seen.c[own][:, members] <= 0, axis=1)
    may = bounds.upper(int(violates.sum()), violates.size)
    return one._replace(unresolved=names, uncounted=may)  # failures are among them


def _retreat(
    one: Requirement,
    law_at: Callable[[FloatArray], Law],
    theta: FloatArray,
    model: LimitModel,
    scale: FloatArray,
    inside: Callable[[FloatArray], FloatArray],
    most: float,
) -> FloatArray:
    """The nearest theta down the slope of a requirement that is violated at most so often."""
    law = law_at(theta)
    slope = _slope(one, law, model, scale)
    length = float(np.linalg.norm(slope))
    if not length > 0:
        return theta

    def moved(t: float) -> FloatArray:
        step = law.x(-t * slope / length) - law.centre
        return inside((theta + step)[None])[0]

    def over(t: float) -> float:
        return _over(one, law_at(moved(t)), model, scale, most)

    high = 1.0
    while over(high) > 0 and high < FARTHEST:
        high *= 2
    if over(high) > 0:
        return min(
            (moved(t) for t in (0.5, 1.0, 2.0, FARTHEST)),
            key=lambda at: _violation(one, law_at(at), model, scale, CAUTION),
        )
    low = 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if over(middle) <= 0 else (middle, high)
    return moved(high)


def _slope(one: Requirement, law: Law, model: LimitModel, scale: FloatArray) -> FloatArray:
    """Slope of the mean of the worst draws in whitened coordinates, (d,), by differences."""
    z = law.draws[:DRAWS] if law.noisy.any() else np.zeros((1, law.theta.size))
    steps = np.eye(law.theta.size) / 2

    def tail(shift: FloatArray) -> float:
        mean, sd = model.at(law.x(z + shift))
        h = np.sort(worst(mean + CAUTION * sd, one, scale))
        return float(h[-max(int(TAIL * h.size), 1) :].mean())

    return np.array([tail(step) - tail(-step) for step in steps])


def _allowed(one: Requirement) -> float:
    return 0.0 if one.level is None else 1 - one.level


def _over(one: Requirement, law: Law, model: LimitModel, scale: FloatArray, most: float) -> float:
    """By how much a proposal violates it more than it may, with the model's error against it."""
    caution = CAUTION_OF_MEAN if one.level is None else CAUTION
    return _violation(one, law, model, scale, caution) - most


def _violation(
    one: Requirement, law: Law, model: LimitModel, scale: FloatArray, caution: float
) -> float:
    """By a model: the probability that it does not hold, or the mean if that is wanted."""
    members = list(one.members)

    def at(x: FloatArray) -> FloatArray:
        mean, sd = model.at(x, sure=caution == 0)
        return (mean + caution * sd)[:, members] / scale[members]

    if one.level is not None:
        return violating(law, at)
    (k,) = one.members
    if law.exact or not law.noisy.any():
        mean, sd = model.averaged(law.centre, law.cov)
        return float((mean[k] + caution * sd[k]) / scale[k])
    return float(at(law.x(law.draws)).max(axis=1).mean())


def _or_failing(violation: float, failing: float) -> float:
    """P(violation or failure): a model of the constraints is one of rows that have them."""
    return violation + failing * (1 - violation)


def _usable(allowed: float, failing: Failing) -> float:
    """What a model may use of what is allowed, beside what fails.

    With the error of that against it, if this leaves something; without, if that does. Else no
    theta meets it by what is known, and what the limits add to the failures is kept small.
    """
    likely = max(failing.share, failing.anywhere)
    for fails in (failing.share + failing.more, likely):
        if fails < allowed:
            return (allowed - fails) / (1 - fails)
    return used(resolved=False) * allowed


def _missing(c: FloatArray, members: tuple[int, ...]) -> BoolArray:
    """Rows (n, J) that lack one of some constraints, (n,); failures lack all."""
    return np.any(np.isnan(c[:, list(members)]), axis=1)


def worst(c: FloatArray, one: Requirement, scale: FloatArray) -> FloatArray:
    """The worst of the members of a requirement, in units of each constraint, (n,)."""
    members = list(one.members)
    return np.max(c[:, members] / scale[members], axis=1, initial=-np.inf)


def scales(c: FloatArray) -> FloatArray:
    """Units of the constraints, (J,): their standard deviation over all rows."""
    out = np.ones(c.shape[1])
    for k in range(c.shape[1]):
        finite = c[np.isfinite(c[:, k]), k]
        out[k] = float(np.std(finite)) if finite.size > 1 else 1.0
    return np.where((out > 0) & np.isfinite(out), out, 1.0)


def worst_excess(c: FloatArray) -> FloatArray:
    """By how much rows (n, J) violate their worst constraint, in its units; at most 0 is good."""
    most = np.max(c / scales(c), axis=1, initial=-np.inf)
    return np.where(np.isnan(most), np.inf, most)
