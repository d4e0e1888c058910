"""The search for a front: Gaussian processes of f on the realised x, and where to look next.

One archive serves both objectives: whatever was evaluated, for whichever part of the front, is a
value of f at a realised x, and any risk at any theta follows from the model of these values. The
next theta is the one that is expected to add most to the area that the front rules
(`hypervolume.expected_improvement`), so that evaluations spread along it by themselves.
"""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from typing import Protocol

import numpy as np

from phenes._threads import one_thread
from phenes._validate import BoolArray, FloatArray
from phenes.adaptive.archive import may_be_anywhere
from phenes.gp import tuning as gp_tuning
from phenes.gp.acquisition import candidates, polish
from phenes.gp.model import Model
from phenes.gp.posterior import Slopes
from phenes.gp.region import Region, make_region
from phenes.gp.search import design_size
from phenes.gp.surrogate import Surrogate
from phenes.optimizer.noise.state import NoiseState
from phenes.optimizer.setup import Setup
from phenes.pareto.hypervolume import evenly, expected_improvement, nondominated, staircase
from phenes.pareto.objectives import Objective
from phenes.risk import mean

# The reference of the area: this share of the front's ranges beyond its worst values, so that its
# ends are worth something too.
BEYOND = 0.2
# Theta of the front around which candidates are made, how many around each, and all over.
CENTRES, LOCAL, GLOBAL = 12, 24, 256
# Theta that are compared by all draws of the law at once.
SHORT_LIST = 24
# Sizes of the last looks around the most promising candidate, and how many each has.
LOOKS, LOOKED = (0.3, 0.1), 24
# Rounds in which the model's front is improved: sizes of steps within reach of what was tried, and
# how many steps a round has.
ROUNDS, STEPS = (1.0, 0.5, 0.25, 0.1, 0.05), 240
MOST_KEPT = 40  # theta of the model's front between rounds
# Steps by which each design is polished, and how sharp the maximum of two gains is then.
POLISH, SHARP = 15, 50.0
END = 50.0  # by how much less the other objective counts at an end of the front
TINY = 1e-300


class Believed(Protocol):
    """What is believed of an objective; `phenes.gp.belief.Belief`."""

    def at(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (m,) at rows (m, d)."""
        ...

    def believing(self, theta: FloatArray, unknown: FloatArray | None) -> Believed:
        """As if evaluations under way had the values that are expected."""
        ...

    def doubt(self, theta: FloatArray) -> FloatArray:
        """By how much the model is to be doubted at rows (m, d), (m,)."""
        ...

    def slopes(self, theta: FloatArray, doubt: float) -> Slopes:
        """The same as `at` of one theta (d,), with derivatives."""
        ...


class Level:
    """The belief in values that are all equal."""

    def __init__(self, value: float):
        self.value = value

    def at(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """See `Believed`."""
        return np.full(len(theta), self.value), np.zeros(len(theta))

    def believing(self, theta: FloatArray, unknown: FloatArray | None) -> Believed:
        """See `Believed`."""
        return self

    def doubt(self, theta: FloatArray) -> FloatArray:
        """See `Believed`."""
        return np.ones(len(theta))

    def slopes(self, theta: FloatArray, doubt: float) -> Slopes:
        """See `Believed`."""
        return Slopes(self.value, 0.0, np.zeros(theta.size), np.zeros(theta.size))


class FrontSearch:
    """Asks for theta along the front of two objectives, both as small as possible.

    Parameters
    ----------
    setup : Setup
        The start, the first steps, the bounds.
    noise : NoiseState
        The law of x, as it is known.
    objectives : tuple of Objective
        Two.
    columns : int
        Values that f returns.
    budget : int
        Evaluations that there will be.
    seed : int
        Of all randomness of the search.
    """

    def __init__(
        self,
        setup: Setup,
        noise: NoiseState,
        objectives: tuple[Objective, Objective],
        columns: int,
        budget: int,
        seed: int,
    ):
        self.setup, self.noise, self.objectives, self.seed = setup, noise, objectives, seed
        x0 = np.clip(setup.x0, setup.lower, setup.upper)
        self.region: Region = make_region(x0, setup.sigma0, setup.lower, setup.upper, setup.lattice)
        cov = self.region.covariance(noise.known.cov)
        shift = noise.known.bias / self.region.width
        self.models = tuple(
            Model(x0.size, cov, shift, anywhere=may_be_anywhere) for _ in range(columns)
        )
        self.design = design_size(x0.size, budget)
        self.asked = 0
        self._centre = x0
        self._beliefs: tuple[Believed, Believed] | None = None

    @property
    def told(self) -> int:
        """Number of rows that were told."""
        return self.models[0].rows.f.size

    @property
    def batch(self) -> int:
        """How many theta are asked for at once: what the design lacks, then a few."""
        if self.asked < self.design:
            return self.design - self.asked
        share = int(gp_tuning.BATCH_SHARE * self.told)
        return min(max(share, 1), gp_tuning.LARGEST_BATCH)

    @property
    def ready(self) -> bool:
        """Whether some value has a model."""
        return any(model.ready for model in self.models)

    @one_thread
    def ask(self, n: int) -> FloatArray:
        """The next theta.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        ndarray, shape (n, d)
        """
        pending = np.empty((0, self.setup.x0.size))
        for _ in range(n):
            u = self._next(pending)
            pending = np.concatenate([pending, u[None]])
            self.asked += 1
        return self.to_theta(pending)

    def to_theta(self, u: FloatArray) -> FloatArray:
        """Rows in the user's coordinates, within the bounds and on the lattice."""
        theta = np.clip(self.region.to_theta(u), self.setup.lower, self.setup.upper)
        lattice = self.region.lattice
        return theta if lattice is None else lattice.snap(theta)

    def _next(self, pending: FloatArray) -> FloatArray:
        explores = self.asked % gp_tuning.EXPLORE == gp_tuning.EXPLORE - 1
        if self.asked < self.design or explores or not self.ready:
            u = self.region.spread(_spread_point(self.seed, self.asked, self.region.dim))
            return self.region.snap(u)
        return self._most_promising(pending)

    @one_thread
    def tell(self, theta: FloatArray, x: FloatArray, f: FloatArray, measured: BoolArray) -> None:
        """Take in rows.

        Parameters
        ----------
        theta, x : ndarray, shape (n, d)
            What was intended, and realised (in the coordinates of theta, unmeasured coordinates at
            their expectation).
        f : ndarray, shape (n, c)
            Values as minimised; NaN where the evaluation failed.
        measured : ndarray of bool, shape (n, d)
            Which coordinates of x were.
        """
        known = np.all(np.isfinite(x), axis=1)
        to_u = self.region.to_u
        for model, column in zip(self.models, f.T, strict=True):
            model.add(to_u(theta[known]), to_u(x[known]), column[known], measured[known])
        self._beliefs = None

    def update_noise(self) -> None:
        """Go on with the noise as it is known now."""
        cov = self.region.covariance(self.noise.known.cov)
        for model in self.models:
            model.update_noise(cov, self.noise.known.bias / self.region.width)
        self._beliefs = None

    def _believed(self) -> tuple[Believed, Believed]:
        """The beliefs in both objectives, of the same rows."""
        if self._beliefs is None:
            law = self.noise.law_at(self._centre)
            draws: FloatArray | None = None
            if isinstance(law, np.ndarray):
                draws = (law - self._centre) / self.region.width
            first, second = (self._belief(each, draws) for each in self.objectives)
            self._beliefs = (first, second)
        return self._beliefs

    def _belief(self, objective: Objective, draws: FloatArray | None) -> Believed:
        model = self.models[objective.column]
        if not model.ready:
            f = model.rows.f[model.rows.worked]
            return Level(objective.risk.value(f[:1]) if f.size else 0.0)
        plain = draws is None and objective.risk == mean()
        model.at_risk(None if plain else objective.risk, draws)
        return model.belief

    def _tried(self) -> FloatArray:
        return np.unique(self.region.inside(self.models[0].rows.theta), axis=0)

    def _known_front(self, beliefs: tuple[Believed, Believed]) -> tuple[FloatArray, FloatArray]:
        """Tried u that no other beats by cautious values, and what is expected there."""
        tried = self._tried()
        cautious = np.column_stack([_cautious(each, tried) for each in beliefs])
        near = tried[_ranked(cautious, 2 * SHORT_LIST)]
        mean_sd = [_by_all_draws(each, near) for each in beliefs]
        cautious = np.column_stack([m + gp_tuning.CAUTION * s for m, s in mean_sd])
        best = nondominated(cautious)
        return near[best], np.column_stack([m for m, _ in mean_sd])[best]

    def _most_promising(self, pending: FloatArray) -> FloatArray:
        """The u that is expected to add most to the area, with those under way believed."""
        rng = np.random.default_rng([self.seed, 2, self.asked])
        beliefs = self._believed()
        front, values = self._known_front(beliefs)
        for u in front:
            self.region = self.region.around(u)
        self._centre = self.region.to_theta(front[len(front) // 2])
        first, second = (
            each.believing(pending, self.models[one.column].unknown)
            for each, one in zip(beliefs, self.objectives, strict=True)
        )
        lengths = np.min([model.lengths for model in self.models if model.ready], axis=0)
        std = np.minimum(np.sqrt(lengths**2 + self.models[0].noise_variances), 1.0)
        centres = front[evenly(values, CENTRES)]
        points = [candidates(self.region, centres[0], std, rng, (GLOBAL, 0))]
        points += [candidates(self.region, each, std, rng, (0, LOCAL)) for each in centres]
        # what is under way is believed: the next point must add to that too
        known = np.concatenate([front, pending])
        area = _Area((first, second), known)
        found = area.best(np.concatenate(points), SHORT_LIST)
        for share in LOOKS:
            near = candidates(self.region, found[0], share * std, rng, (0, LOOKED))
            found = area.best(np.concatenate([found[:1], near]), LOOKED)
        return found[0]

    @one_thread
    def front(self, n: int) -> FloatArray:
        """At most n theta along the front by the model, near theta that were tried.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        ndarray, shape (m, d)
            At least one: the start, if nothing is known.
        """
        if not self.ready:
            rows = self.models[0].rows
            known = rows.theta[rows.worked]
            return self.to_theta(known[:1]) if len(known) else self.setup.x0[None].copy()
        rng = np.random.default_rng([self.seed, 4])
        beliefs = self._believed()
        tried = self._tried()
        lengths = np.min([model.lengths for model in self.models if model.ready], axis=0)
        reach = np.sqrt(self.models[0].noise_variances + (gp_tuning.NEAR * lengths) ** 2)
        points, values = self._merged(beliefs, self._known_front(beliefs)[0])
        for size in ROUNDS:
            parents = points[rng.integers(len(points), size=STEPS)]
            step = size * reach * rng.standard_normal(parents.shape)
            moved = self.region.snap(self.region.inside(parents + step))
            moved = moved[_within(moved, tried, reach)]
            points, values = self._merged(beliefs, np.concatenate([points, moved]))
        kept = evenly(values, min(n, _told_apart(beliefs, points, values)))
        span = np.maximum(np.ptp(values, axis=0), TINY)
        spans = np.tile(span, (len(kept), 1))
        if len(kept) > 1:  # an end of the front is as far as its own objective goes
            spans[0, 1] *= END
            spans[-1, 0] *= END
        chosen = [
            self._polished(beliefs, points[k], values[k], unit, reach)
            for k, unit in zip(kept, spans, strict=True)
        ]
        return np.unique(self.to_theta(self._merged(beliefs, np.array(chosen))[0]), axis=0)

    def _polished(
        self,
        beliefs: tuple[Believed, Believed],
        u: FloatArray,
        values: FloatArray,
        span: FloatArray,
        reach: FloatArray,
    ) -> FloatArray:
        """A u within reach that is better in both values, by as much of their ranges.

        That is the least of the larger of the two gains (Chebyshev's scalarisation), with a smooth
        maximum.
        """
        doubts = [each.doubt(u[None])[0] for each in beliefs]

        def value(at: FloatArray) -> tuple[float, FloatArray]:
            found = [each.slopes(at, float(d)) for each, d in zip(beliefs, doubts, strict=True)]
            cost = np.array([each.mean + gp_tuning.CAUTION * each.sd for each in found])
            rise = np.array([each.mean_slope + gp_tuning.CAUTION * each.sd_slope for each in found])
            gain = SHARP * (cost - values) / span
            weight = np.exp(gain - gain.max())
            most = float(gain.max() + np.log(weight.sum())) / SHARP
            return most, (weight / weight.sum()) @ (rise / span[:, None])

        low, high = self.region.around_point(u)
        low, high = np.maximum(u - reach, low), np.minimum(u + reach, high)
        return polish(value, u, low, high, POLISH, 2 * POLISH)[0]

    def _merged(
        self, beliefs: tuple[Believed, Believed], points: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The points that no other beats, at most so many, and their cautious values."""
        cautious = []
        for each in beliefs:
            expected, sd = _by_all_draws(each, points)
            cautious.append(expected + gp_tuning.CAUTION * sd)
        values = np.column_stack(cautious)
        best = nondominated(values)
        points, values = points[best], values[best]
        kept = evenly(values, MOST_KEPT)
        return points[kept], values[kept]

    def surrogate(self, column: int) -> Surrogate | None:
        """The model of a value, as a control variate."""
        fitted = self.models[column].fitted
        return None if fitted is None else Surrogate(fitted, self.region)

    @property
    def scale(self) -> FloatArray:
        """Units of coordinates without noise, (d,)."""
        if not self.ready:
            return self.setup.sigma0.copy()
        lengths = np.min([model.lengths for model in self.models if model.ready], axis=0)
        return gp_tuning.SPREAD * lengths * self.region.width


class _Area:
    """What points add to the area of what is known, by beliefs in both values."""

    def __init__(self, beliefs: tuple[Believed, Believed], known: FloatArray):
        self.beliefs, self.known = beliefs, known

    def best(self, points: FloatArray, n: int) -> FloatArray:
        """The n points that are expected to add most, best first, (n, d)."""
        if len(points) > 2 * n:
            points = points[np.argsort(-self._gains(points), kind="stable")[:n]]
        return points[np.argsort(-self._gains(points), kind="stable")]

    def _gains(self, points: FloatArray) -> FloatArray:
        """Expected gains (m,), the known front by the same draws of the law as the points."""
        k = len(self.known)
        at = np.concatenate([self.known, points])
        found = [each.at(at) for each in self.beliefs]
        mean = np.column_stack([m for m, _ in found])
        sd = np.column_stack([s for _, s in found])
        stairs = staircase(mean[:k])
        span = np.ptp(stairs, axis=0)
        span = np.where(span > 0, span, np.maximum(mean.std(axis=0), TINY))
        reference = stairs.max(axis=0) + BEYOND * span
        gain = expected_improvement(mean[k:], sd[k:], stairs, reference)
        # where nothing promises anything, what is least known
        return gain / np.prod(span) + TINY * np.sum(sd[k:] / span, axis=1)


def _cautious(belief: Believed, u: FloatArray) -> FloatArray:
    expected, sd = belief.at(u)
    return expected + gp_tuning.CAUTION * sd


def _by_all_draws(belief: Believed, u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """`at`, of a few at a time, which all draws of the law are affordable for."""
    parts = [belief.at(u[k : k + SHORT_LIST]) for k in range(0, len(u), SHORT_LIST)]
    return np.concatenate([m for m, _ in parts]), np.concatenate([s for _, s in parts])


def _told_apart(beliefs: tuple[Believed, Believed], points: FloatArray, values: FloatArray) -> int:
    """How many designs of a front the model can tell apart, at least one.

    As many as there are standard errors from end to end, in the objective that shows more: designs
    nearer to each other are one to whoever chooses, and draws at each would be draws too few.
    """
    sd = np.array([np.median(_by_all_draws(each, points)[1]) for each in beliefs])
    lengths = np.ptp(values, axis=0) / np.maximum(sd, TINY)
    return 1 + int(min(float(lengths.max()), len(points)))


def _ranked(values: FloatArray, n: int) -> BoolArray:
    """The first n rows or more, front after front."""
    chosen = np.zeros(len(values), bool)
    while chosen.sum() < min(n, len(values)):
        left = np.flatnonzero(~chosen)
        chosen[left[nondominated(values[left])]] = True
    return chosen


def _within(points: FloatArray, tried: FloatArray, reach: FloatArray) -> BoolArray:
    """Which points are within reach of one that was tried, (m,)."""
    away = np.abs(points[:, None, :] - tried) / np.maximum(reach, TINY)
    return np.any(np.all(away <= 1, axis=2), axis=1)


def _spread_point(seed: int, k: int, dim: int) -> FloatArray:
    """Point k of a space-filling sequence in the unit cube."""
    from scipy.stats import qmc  # takes a while to import: here if anywhere

    sobol = qmc.Sobol(dim, scramble=True, rng=np.random.default_rng([seed, 1]))
    return sobol.fast_forward(k).random(1)[0] if k else sobol.random(1)[0]
