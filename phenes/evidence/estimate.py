"""E f at a theta from observations: weights, and a control variate.

The error includes what the draws may have missed.
"""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import copy
import functools
import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from phenes._validate import BoolArray, FloatArray, IntArray
from phenes.adaptive.model.features import axis_features, full_features
from phenes.evidence.control import (
    Control,
    LocalModel,
    Surrogate,
    of_the_search,
    process,
    process_of_risk,
    quadratic,
)
from phenes.evidence.decay import decay
from phenes.evidence.law import Law
from phenes.evidence.observations import Observations
from phenes.gp.coverage import covering
from phenes.risk import Reference, Risk

ROWS_PER_FEATURE = 3  # nearest rows that a control variate is fitted to
LEAST_ROWS = 1.5  # rows for each feature below which none is fitted
MOST_FEATURES = 500  # of a control variate: d = 30 with all products
NEIGHBOURS = 400  # rows, nearest in theta, that weights and mixture are made of
MOST_ROWS = 4000  # of the observations that an estimate looks at
MOST_WEIGHED = 250  # rows with a weight, beyond which a surrogate takes too long
MOST_LOG_WEIGHT = 600.0  # far beyond any weight that is used, and below the largest double
LEAST_EXPLAINED = 4  # rows that a surrogate must explain to be one
SINGLE = 1.5  # effective draws that round to one, whose scatter says less than a model does
ALONE = 1.001  # effective draws up to which there is no scatter
NEGLIGIBLE = 1e-6  # weights, relative to the largest, that a surrogate need not explain
MISSED = 4.0  # reach: the distance that one of this many times the effective draws exceeds
HORIZON, FEW_DRAWS = 4.0, 8  # times the reach, for this many draws or fewer
FAR = 4.0  # times the horizon, for rows that show that f jumps
# A quadratic is exact nearby if it misses at most this share of how f varies there.
EXACT = 1e-6
# Power of the distance by which what it misses may grow where f is smooth, and how many times as
# much is sudden.
GROWTH, SUDDEN = 4.0, 10.0
SMOOTH_ORDER = 2
TWO_SIDED = 0.97725  # probability below two standard deviations of a normal
MOSTLY = 0.5  # share of the weight of rows whose values are those of others
TIGHTENINGS = 3  # times that a risk is linearised where a model knows the law of f better
RULE_OF_THREE = 3.0  # n draws without an event leave a probability of 3 / n for it, at 95 %


@dataclass(frozen=True)
class Estimate:
    """What is known of E f at theta. fun +- 2 se is a 95 % interval.

    Parameters
    ----------
    theta : ndarray, shape (d,)
        Where.
    fun, se : float
        The estimate and its standard error.
    error : float
        Standard error of the draws alone, without small-sample factor and without what they may
        have missed.
    unseen : float
        What one more draw as bad as the worst that is near would add.
    effective : float
        Number of draws that the weights are worth.
    draws : int
        Number of draws at theta itself.
    failed : int
        Number of these draws that failed.
    spread : float
        Standard deviation of f less the control variate.
    hoped : float
        What one more draw as good as the best would take off.
    control : str
        Kind of the control variate.
    vague : bool
        Of a spread: whether the variance may as well be zero, or twice as large.
    worth : float
        Number of draws without a control variate that would say as much.
    """

    theta: FloatArray
    fun: float
    se: float
    error: float
    unseen: float
    effective: float
    draws: int
    failed: int
    spread: float
    hoped: float = 0.0
    control: str = "none"
    vague: bool = False
    worth: float = 0.0

    @property
    def upper(self) -> float:
        """Upper bound of E f, by which answers are compared."""
        return self.fun + 2 * self.error + self.unseen

    @property
    def share(self) -> float:
        """Share of the draws at theta that failed."""
        return self.failed / self.draws if self.draws else 0.0


def nothing(theta: FloatArray, draws: int = 0, failed: int = 0) -> Estimate:
    return Estimate(theta, np.nan, np.inf, np.inf, np.inf, 0.0, draws, failed, np.nan)


def fresh_weights(seen: Observations, law: Law) -> FloatArray:
    """Weights that are one for each draw at this theta; not normalised."""
    return seen.at(law.theta).astype(float)


def shifted_weights(seen: Observations, law: Law, drawn: FloatArray) -> FloatArray:
    """Weights of the draws at another theta, `drawn` [d], for this law; not normalised.

    p(x | theta) / p(x | drawn), with the law there taken to be the same but for its place.
    """
    weights = fresh_weights(seen, law)
    own = seen.at(drawn)
    z = law.z(seen.point[own])
    away = law.z(drawn + (law.centre - law.theta))
    weights[own] = np.exp(0.5 * np.sum((z - away) ** 2 - z**2, axis=1))
    return weights


def balance_weights(seen: Observations, law: Law) -> FloatArray:
    """Importance weights of the rows nearest in theta, by the balance heuristic.

    p(x_i | theta) over the sum of p(x_i | theta_j): their sum is one in expectation. The rows are
    chosen by what was intended, never by what came of it, so that the mixture is the one they were
    drawn from. Draws at theta itself bound every weight by one over their number.
    """
    if not law.weighs or not seen.count:
        return fresh_weights(seen, law)
    shift = law.centre - law.theta
    chosen = np.argsort(law.squared(seen.theta, shift), kind="stable")[:NEIGHBOURS]
    aim, z = law.z(seen.theta[chosen] + shift), law.z(seen.point[chosen])
    here = -0.5 * np.sum(z**2, axis=1)
    apart = np.sum(z**2, axis=1)[:, None] + np.sum(aim**2, axis=1) - 2 * z @ aim.T
    weights = np.zeros(seen.count)
    nearest = apart.min(axis=1)
    weights[chosen] = np.exp(np.minimum(here + 0.5 * nearest, MOST_LOG_WEIGHT)) / np.sum(
        decay(-0.5 * (apart - nearest[:, None])), axis=1
    )
    fresh = fresh_weights(seen, law)
    # far from all theta that were evaluated, the weights degenerate: their sum is not near its
    # expectation, 1
    return weights if fresh.sum() >= 2 or 0.5 < weights.sum() < 2 else fresh


def estimate(
    seen: Observations,
    law: Law,
    price: float,
    weights: FloatArray,
    control: bool = True,
    surrogate: Surrogate | None = None,
    risk: Risk | None = None,
    local: LocalModel | None = None,
    valued: bool = False,
) -> Estimate:
    """E f at law.theta, by the weighted mean or a control variate, whichever has less error.

    surrogate: the model of the search, where it has one; a control variate like the quadratics.
    risk: what is estimated in place of E f, if anything.
    local: a quadratic that the search made before the draws, for where one of the rows is too dear.
    valued: of x that have a value; what the others cost is left to the caller.
    """
    own = seen.at(law.theta)
    draws, failed = int(own.sum()), int(np.isnan(seen.f[own]).sum())
    walled = seen.walled and not valued
    if not walled:
        weights = np.where(np.isnan(seen.f), 0.0, weights)
    total = weights.sum()
    if total <= 0 or not np.isfinite(price):
        return nothing(law.theta, draws, failed)
    view = _View(seen, law, price, weights / total, walled)
    view.valued = valued
    if risk is not None:
        wide = balance_weights(seen, law)
        return _of_risk(view, risk, seen.f[own], wide, control, surrogate)
    models: list[Control | None] = [None]
    if control:
        models += [fitted for crossed in (False, True) if (fitted := view.fit(crossed)) is not None]
        if surrogate is not None:
            models.append(view.explained(surrogate))
        if local is not None and full_features(law.theta.size) > MOST_FEATURES:
            models.append(of_the_search(local, law, view.point, view.f, view.failed))
    view.find_jumps(models)
    found = [view.judge(model, draws, failed) for model in models]
    best = min((each for each in found if each is not None), key=lambda each: each.se)
    return best


def _of_risk(
    view: _View,
    risk: Risk,
    own: FloatArray,
    wide: FloatArray,
    control: bool,
    surrogate: Surrogate | None,
) -> Estimate:
    """A risk at view.law.theta: the mean of its linearisation, where the law of f is known best.

    By the model of the search, or by the rows with their weights `wide`: E g(f) of a g that was
    not made of the draws alone is not below the risk. own: values of the draws at theta.
    """
    draws, failed = own.size, int(np.isnan(own).sum())
    found: list[Estimate | None] = []
    bounds = risk.bounds(own[np.isfinite(own)])
    stepped = bounds is not None and view.stepped  # between values that f takes a model has others
    if control and surrogate is not None and not stepped:
        explained = view.explained_risk(surrogate, risk)
        if explained is not None:
            model, reference = explained
            judged = view.risk_by(model, reference, risk, draws, failed)
            if judged is not None:
                doubt = view.tail_doubt(model, reference, risk, judged)
                judged = replace(judged, se=math.hypot(judged.se, doubt))
            found.append(judged)
    # between the values that f takes, a linearisation at a wider law says others
    reference = risk.reference(*(view.drawn if stepped else view.sample(wide)), smooth=False)
    plain = [view.risk_by(None, reference, risk, draws, failed)]
    if control and bounds is None:  # what jumps has no quadratic model
        plain += [view.quadratic_of(reference, risk, each, draws, failed) for each in (False, True)]
    known = [each for each in found if each is not None]
    if known and own.size and np.ptp(own) == 0:  # draws that are all equal show no spread
        return known[0]
    alone = [widened(each, bounds) for each in plain if each is not None]
    # by the model of the search and by the draws alone: quadratics of few rows say anything
    by_draws = [each for each in alone if each.control == "none"]
    best = min(known + alone, key=lambda each: each.se)
    return replace(_reconciled(best, known + by_draws), worth=_worth(best, by_draws))


def _worth(best: Estimate, by_draws: list[Estimate]) -> float:
    """Draws without a control variate that leave as large an error as those at hand with it."""
    count = best.draws - best.failed
    if not count or not by_draws or not 0 < by_draws[0].spread < np.inf:
        return count
    with np.errstate(divide="ignore"):
        return float(count * np.square(np.divide(by_draws[0].spread, best.spread)))


def _reconciled(best: Estimate, others: list[Estimate]) -> Estimate:
    """The same with an interval that reaches what is said of the same thing in contradiction.

    The error of draws is too small where the law has a tail that they have not shown, that of a
    model where f is not as smooth: if they contradict one another, either may be right.
    """
    reach = [
        abs(each.fun - best.fun) / 2 + each.se
        for each in others
        if abs(each.fun - best.fun) > 2 * math.hypot(each.se, best.se)
    ]
    return replace(best, se=max([best.se, *reach]))


def resolved(known: Estimate, reference: Reference) -> Estimate:
    """What an estimate of E g(f) says of the risk, where that is a curved function of it."""

    def away(by: float) -> float:
        return abs(reference.risk_of(known.fun + by) - fun)

    fun = reference.risk_of(known.fun)
    se, error = (max(away(2 * each), away(-2 * each)) / 2 for each in (known.se, known.error))
    unseen, hoped = away(known.unseen), away(-known.hoped)
    vague = reference.risk_of(known.fun - 2 * known.se) <= reference.least < fun
    return replace(known, fun=fun, se=se, error=error, unseen=unseen, hoped=hoped, vague=vague)


def widened(known: Estimate, bounds: tuple[float, float] | None) -> Estimate:
    """The same with two standard errors that reach both ends of an interval."""
    if bounds is None:
        return known
    low, high = bounds
    return replace(known, se=max(known.se, (high - known.fun) / 2, (known.fun - low) / 2))


def _worth_a_look(distance: FloatArray, f: FloatArray, weights: FloatArray) -> BoolArray:
    """Which rows a view is made of, [n].

    All of short runs; of long ones the nearest, some of all others, failures and extremes.
    """
    if f.size <= MOST_ROWS:
        return np.ones(f.size, bool)
    order = np.argsort(distance, kind="stable")
    chosen = weights > 1e-3 * weights.max()
    chosen[order[: MOST_ROWS // 2]] = True
    chosen[order[:: -(-f.size * 4 // MOST_ROWS)]] = True
    near = order[: f.size // 2]  # extremes of a wide restart are irrelevant here
    ranked = near[np.argsort(np.where(np.isnan(f[near]), np.inf, f[near]), kind="stable")]
    chosen[ranked[: MOST_ROWS // 20]] = True
    chosen[ranked[-MOST_ROWS // 5 :]] = True
    return chosen


class _View:
    """The observations from where theta is.

    Whitened rows, values with failures at their price, weights that sum to one.
    """

    def __init__(
        self, seen: Observations, law: Law, price: float, weights: FloatArray, walled: bool
    ):
        self.law, self.price = law, price
        self.low = min(seen.lowest, price)
        self.high = max(seen.highest, price)
        distance, f = law.squared(seen.point), seen.f
        chosen = _worth_a_look(distance, f, weights)
        if not walled:
            chosen &= ~np.isnan(f)
        rows = slice(None) if chosen.all() else chosen  # no copy of all
        self.chosen, self.tail = chosen, 1.0
        self.point, self.f, self.w = seen.point[rows], f[rows], weights[rows]
        self.distance = distance[rows]
        self.failed = np.isnan(self.f)
        self.f = np.where(self.failed, price, self.f)
        self.effective = 1 / float(np.sum(self.w**2))
        self.ratio, self.horizon = self._distances()
        self.nearness = self._nearness(self.horizon)
        self.jumps = np.zeros(self.f.size, bool)
        self.valued = False  # is the share of x that fails none of its concern?

    @functools.cached_property
    def z(self) -> FloatArray:
        """Whitened rows, which models are fitted to."""
        return self.law.z(self.point)

    def _nearness(self, horizon: float) -> FloatArray:
        """How much of what is missed at a row may be missed here as well, [n].

        All within reach of as many draws, less further out. What is missed grows with the distance,
        for smooth functions like its square at least, so that a row at twice the reach counts a
        quarter. What jumps still shows. (The fourth power, which a quadratic leaves, gave intervals
        a quarter to a half narrower where f is smooth, and 1.5 instead of 1.1 % of successes that
        were off by three standard errors.) Beyond the horizon f is another: rows of the first steps
        and of restarts, whose values may be larger by any factor, say nothing. The more draws there
        are, the better is known where jumps begin, and the nearer is the horizon.
        """
        near = np.maximum(self.ratio, 1.0) ** -float(SMOOTH_ORDER)
        return np.where(self.ratio <= horizon, near, 0.0)

    def _distances(self) -> tuple[FloatArray, float]:
        """Distances of the rows in units of the reach, [n], and the horizon."""
        # no input noise: the reach is the distance of the rows that a model would be fitted to
        if not self.law.noisy.any():
            others, count = (
                np.sort(self.distance[self.distance > 0]),
                ROWS_PER_FEATURE * axis_features(self.law.theta.size),
            )
            reach = math.sqrt(others[min(count, others.size) - 1]) if others.size else 1.0
        else:
            length = np.sort(np.linalg.norm(self.law.draws, axis=1))
            reach = length[
                min(int(len(length) * (1 - 1 / (MISSED * self.effective))), len(length) - 1)
            ]
        horizon = 1 + (HORIZON - 1) * math.sqrt(min(1.0, FEW_DRAWS / self.effective))
        return np.sqrt(self.distance) / reach, horizon

    def find_jumps(self, models: list[Control | None]) -> None:
        """Which rows beyond the horizon show that f jumps somewhere on the way.

        They have the value of another row; or a quadratic is exact nearby, and misses them by more
        than what it misses nearby can have grown to. What one model shows holds for all.
        """
        near, far = self.ratio <= 1, (self.ratio > self.horizon) & ~self.failed
        if not self.law.noisy.any() or not near.any() or not far.any():
            return
        grown = SUDDEN * np.maximum(self.ratio, 1.0) ** GROWTH
        self.jumps = far & self._plateaus()
        varies = float(np.ptp(self.f[near]))
        for model in models:
            if model is None or model.alone is not None:
                continue
            off = np.abs(self._off(model))
            least = float(off[near].max())
            if least <= EXACT * varies:
                self.jumps |= far & (off > least * grown)

    def _plateaus(self) -> BoolArray:
        """Rows with a value that another has at another x, [n]: a penalty, a step, scrap."""
        _, first, group = np.unique(self.f, return_index=True, return_inverse=True)
        again = np.flatnonzero(first[group] != np.arange(self.f.size))
        elsewhere = np.zeros(self.f.size, bool)
        elsewhere[again] = np.any(self.point[again] != self.point[first[group[again]]], axis=1)
        return np.isin(group, group[elsewhere])

    @property
    def stepped(self) -> bool:
        """Whether f takes few values here: most that have a weight are those of other rows too."""
        return float(self.w @ (self._plateaus() & ~self.failed)) > MOSTLY

    def _off(self, model: Control | None) -> FloatArray:
        """What a model misses of the rows, beside what it misses on average here, [n]."""
        rest = self.f if model is None else model.rest
        return rest - float(self.w @ rest)

    def _missed(self, off: FloatArray) -> float:
        """The most that the draws may have missed of what the model does not explain.

        A cliff that was met far away may begin anywhere on the way from here. Answers are not
        compared by it: whatever is compared may have it as near.
        """
        far = np.where(self.jumps, self._nearness(FAR * self.horizon), 0.0)
        return float(np.abs(off * np.maximum(self.nearness, far)).max())

    def explained(self, surrogate: Surrogate) -> Control | None:
        """The model of the search, of the nearest rows that have a value."""
        rows = self._explaining(surrogate)
        return None if rows is None else process(surrogate, self.law, self.point, self.f, rows)

    def _explaining(self, surrogate: Surrogate) -> IntArray | None:
        """Rows that the model of the search is made of; None if they are too few or too many."""
        weighed = (self.w > NEGLIGIBLE * self.w.max()) & ~self.failed
        others = np.flatnonzero(~weighed & ~self.failed)
        if weighed.sum() > MOST_WEIGHED or weighed.sum() + others.size < LEAST_EXPLAINED:
            return None
        dim = int(self.law.noisy.sum())
        more = others[covering(self.distance[others], dim, surrogate.most_rows)]
        return np.sort(np.concatenate([np.flatnonzero(weighed), more]))

    def explained_risk(self, surrogate: Surrogate, risk: Risk) -> tuple[Control, Reference] | None:
        """The same of a risk."""
        rows = self._explaining(surrogate)
        if rows is None:
            return None
        return process_of_risk(surrogate, self.law, self.point, self.f, rows, risk)

    def sample(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values and weights (of all observations) of the law of f, failures at their price."""
        w = weights[self.chosen]
        used = w > 0
        return (self.f[used], w[used]) if used.any() else self.drawn

    @property
    def drawn(self) -> tuple[FloatArray, FloatArray]:
        """The same by the weights of this view."""
        used = self.w > 0
        return self.f[used], self.w[used]

    def tail_doubt(
        self, model: Control, reference: Reference, risk: Risk, known: Estimate
    ) -> float:
        """What the model may miss in the part of a tail that the draws have not seen.

        The share that it misses of rows of the tail when they are left out, within and beyond
        reach, of all that the tail adds; of a tail that many draws have met, less.
        """
        if not reference.excess(np.array([np.inf])).any():
            return 0.0
        rows = (self.nearness > 0) & ~self.failed
        adds = reference.excess(self.f[rows])
        total = float(np.sum(adds**2))
        if total == 0:
            return np.inf
        rest = model.rest[rows][adds > 0]
        share = min(math.sqrt(float(np.sum(rest**2)) / total), 1.0)
        base = float(reference.values(self.f).min())
        met = RULE_OF_THREE / max(known.effective * risk.tail, RULE_OF_THREE)
        return share * max(known.fun - base, 0.0) * met

    def linear(self, reference: Reference, risk: Risk) -> _View:
        """The same observations with the linearisation of a risk in place of their values."""
        other = copy.copy(self)
        other.price = reference.failed(self.price)
        other.f = np.where(self.failed, other.price, reference.values(self.f))
        other.low, other.high = float(other.f.min()), float(other.f.max())
        other.tail = risk.tail
        # g is as steep as a tail is rare: what is far out of reach would drown all that is within
        other.nearness = np.where(self.nearness == 1, 1.0, 0.0)
        return other

    def risk_by(
        self, model: Control | None, reference: Reference, risk: Risk, draws: int, failed: int
    ) -> Estimate | None:
        """A risk by its linearisation, with a model of that or none."""
        found = self.linear(reference, risk).judge(model, draws, failed)
        return None if found is None else resolved(found, reference)

    def quadratic_of(
        self, reference: Reference, risk: Risk, crossed: bool, draws: int, failed: int
    ) -> Estimate | None:
        """A risk by a quadratic; None if there is none.

        E g(f) is above the risk, by the square of how far off the law is at which g was made. The
        scatter of the draws does not show it: where a quadratic is exact, nothing of it is left.
        So g is made once more, and again, at what the quadratic says of the law.
        """
        mean = self.fit(crossed)
        found: Estimate | None = None
        for _ in range(TIGHTENINGS):
            linear = self.linear(reference, risk)
            model = linear.fit(crossed)
            if model is None:
                return found
            judged = linear.judge(model, draws, failed)
            found = None if judged is None else resolved(judged, reference)
            if found is None or mean is None:
                return found
            value = float(self.w @ model.values)
            tighter = reference.tightened(float(self.w @ mean.values), value)
            if tighter is None:
                return found
            reference = tighter
        return found

    def fit(self, crossed: bool) -> Control | None:
        dim = self.law.theta.size
        p = full_features(dim) if crossed else axis_features(dim)
        if p > MOST_FEATURES or (crossed and dim == 1):
            return None
        # failures have no value that a model could explain
        order = np.argsort(np.where(self.failed, np.inf, self.distance), kind="stable")
        rows = np.zeros(len(self.z), bool)
        rows[order[: ROWS_PER_FEATURE * p]] = True
        rows = (rows | (self.w > 0)) & ~self.failed
        if rows.sum() < LEAST_ROWS * p + 2:
            return None
        return quadratic(self.law, self.z, self.f, rows, self.failed, self.price, crossed)

    def _other(self) -> float:
        """If all draws here are equal: the difference of the nearest other value from theirs."""
        f = self.f[self.w > 0]
        if np.ptp(f) > 0:
            return 0.0
        differs = np.where(self.f != f[0], self.distance, np.inf)
        nearest = int(np.argmin(differs))
        return float(self.f[nearest] - f[0]) if np.isfinite(differs[nearest]) else 0.0

    def _tied(self) -> bool:
        """Whether other rows have exactly the value of a row that was drawn here."""
        drawn = self.w > 0
        return bool(np.isin(self.f[~drawn & ~self.failed], self.f[drawn]).any())

    def _variance(self, values: FloatArray, fun: float, alone: FloatArray | None) -> float:
        """Of the weighted mean, by the scatter of the draws; a single one has what a model says.

        Where one draw has nearly all the weight, the mean is near it whatever the others are: they
        count with their share of the draws then, so that two draws show what two equal ones do.
        """
        n = self.effective
        off = (values - fun) ** 2
        if n > SINGLE:
            return float(np.sum(self.w**2 * off)) * n / max(n - 1, 1e-9)
        if alone is not None:
            return float(alone[np.argmax(self.w)]) ** 2
        return float(self.w @ off) / (n - 1) if n > ALONE else np.inf

    def judge(self, model: Control | None, draws: int, failed: int) -> Estimate | None:
        """None if the estimate leaves the range of everything that was seen."""
        values = self.f if model is None else model.values
        drawn = values[self.w > 0]
        # a mean of equal numbers is that number
        fun = float(np.clip(self.w @ values, drawn.min(), drawn.max()))
        if model is not None and not self.low <= fun <= self.high:
            return None
        n = self.effective
        variance = self._variance(values, fun, None if model is None else model.alone)
        share = failed / draws if draws else float(self.w @ self.failed)
        off = self._off(model)
        other = self._other()
        missed = max(self._missed(off), abs(other))
        off = off * self.nearness
        error = math.hypot(math.sqrt(variance), 0.0 if model is None else model.error)
        spare = n if model is None else min(n, model.spare)
        if model is None or model.alone is None:
            spare *= self.tail  # draws beside the part that counts say nothing of its scatter
        factor = special.stdtrit(max(spare - 1, 1.0), TWO_SIDED) / 2
        cost = 0.0 if self.valued else share * (self.price - fun)
        se = math.sqrt(
            factor**2 * variance
            + (error**2 - variance if np.isfinite(variance) else 0)
            + cost**2
            + (RULE_OF_THREE / 2 / n * missed) ** 2
        )
        # f takes few values: the next draw may have the other one, however far away it was seen
        other = other if self._tied() else 0.0
        unseen, hoped = (
            max(float(off.max()), other, 0.0) / n,
            # whatever the model misses nearby, no draw is better than all that were ever made
            min(max(float(-off.min()), -other, 0.0), max(fun - self.low, 0.0)) / n,
        )
        spread = math.sqrt(variance * n) if np.isfinite(variance) else np.inf
        name = "none" if model is None else model.name
        return Estimate(
            self.law.theta, fun, se, error, unseen, n, draws, failed, spread, hoped, name
        )
