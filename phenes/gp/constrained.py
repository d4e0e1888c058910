"""Constraints in the search of the Gaussian process: where they are met, and the best place there.

Each constraint has a Gaussian process of its own on the realised x. What is wanted of them at theta
is a bound on mean + k * standard deviation over the law of x, k the quantile of the shape that the
model gives this law at the answer (the normal one to begin with). The expected improvement is
multiplied by the probability that the bounds are met (Schonlau, Welch and Jones, 1998).
"""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from scipy import special
from scipy.optimize import minimize

from phenes._validate import BoolArray, FloatArray
from phenes.constraints import Requirement, steps
from phenes.gp import tuning
from phenes.gp.acquisition import log_improvement
from phenes.gp.belief import Belief
from phenes.gp.cloud import Cloud
from phenes.gp.model import Model
from phenes.gp.posterior import Posterior
from phenes.gp.region import Region


class Limits:
    """The constraints of a search, in units of its region.

    Parameters
    ----------
    requirements : tuple of Requirement
        What is wanted of them.
    columns : int
        Number of constraints.
    noise, bias
        As for `Model`.
    """

    def __init__(
        self,
        requirements: tuple[Requirement, ...],
        columns: int,
        noise: FloatArray | None,
        bias: FloatArray,
    ):
        self.requirements = requirements
        self._models = tuple(Model(bias.size, noise, bias) for _ in range(columns))
        self._shapes = np.ones(len(requirements))
        self._posteriors: tuple[Posterior | None, ...] | None = None
        self._jumps: tuple[float | None, ...] | None = None

    def add(self, theta: FloatArray, x: FloatArray, c: FloatArray, measured: BoolArray) -> None:
        """Take in rows, as `Model.add`; c (n, J)."""
        for model, column in zip(self._models, c.T, strict=True):
            model.add(theta, x, column, measured)
        self._posteriors = self._jumps = None

    def update_noise(self, noise: FloatArray | None, bias: FloatArray) -> None:
        """Go on with better knowledge of the noise."""
        for model in self._models:
            model.update_noise(noise, bias)
        self._posteriors = None

    @property
    def ready(self) -> bool:
        """Whether each constraint has values: two that differ, or nothing but one."""
        return all(model.ready or model.rows.worked.any() for model in self._models)

    @property
    def _known(self) -> tuple[Posterior | None, ...]:
        """Posteriors; None of a constraint whose values are all equal."""
        if self._posteriors is None:
            self._posteriors = tuple(m.values() if m.ready else None for m in self._models)
        return self._posteriors

    @property
    def _middles(self) -> tuple[float | None, ...]:
        """Of constraints that jump the middle of the jump, where their limit is taken to be."""
        if self._jumps is None:
            rows = [model.rows for model in self._models]
            self._jumps = tuple(
                steps.middle(each.f) if steps.few_values(each.x, each.f) else None for each in rows
            )
        return self._jumps

    def beyond(self, c: FloatArray) -> BoolArray:
        """Which of the newest rows (n, J) are beyond a limit that jumps, (n,).

        They say as little of how far it is as failures do. None is, while no row at all is within.
        """
        jumps = np.array([middle is not None for middle in self._middles])
        told = np.stack([model.rows.f for model in self._models], axis=1)
        if not np.any(np.all(told[:, jumps] <= 0, axis=1)):
            return np.zeros(len(c), bool)
        return ~np.all(c[:, jumps] <= 0, axis=1)

    @property
    def factors(self) -> FloatArray:
        """k of each requirement, (R,)."""
        jumps = [middle is not None for middle in self._middles]
        used = [
            tuning.LIMIT_USED_OF_JUMPS if any(jumps[k] for k in one.members) else tuning.LIMIT_USED
            for one in self.requirements
        ]
        normal = [_normal(one, share) for one, share in zip(self.requirements, used, strict=True)]
        return self._shapes * normal

    @property
    def _scales(self) -> FloatArray:
        spread = [float(np.nanstd(model.rows.f)) for model in self._models]
        return np.array([each if each > 0 else 1.0 for each in spread])

    def _over_draws(self, u: FloatArray, draws: FloatArray) -> FloatArray:
        """What constraints are expected to be at u + draws, in their units, (m, s, J)."""
        dim, bias = u.shape[1], self._models[0].bias
        points = Cloud((u[:, None, :] + bias + draws).reshape(-1, dim))
        out = np.empty((len(u), len(draws), len(self._models)))
        for k, (model, known) in enumerate(zip(self._models, self._known, strict=True)):
            if known is None:
                out[..., k] = np.nanmax(model.rows.f)
            else:
                found = known.predicted(known.kernel.covariance(points, known.rows))
                out[..., k] = found.reshape(len(u), len(draws))
        limits = [0.0 if middle is None else middle for middle in self._middles]
        return (out - limits) / self._scales

    def margins(self, u: FloatArray) -> FloatArray:
        """mean + k * standard deviation of each requirement at u (m, d), (m, R); good below 0."""
        c = self._over_draws(u, self._draws())
        columns = [
            _bound(np.max(c[..., list(one.members)], axis=2), k)
            for one, k in zip(self.requirements, self.factors, strict=True)
        ]
        return np.stack(columns, axis=1)

    def _draws(self) -> FloatArray:
        """Draws of the noise whose mean and covariance are exact, (s, d)."""
        noise = self._models[0].noise
        dim = self._models[0].bias.size
        if noise is None:
            return np.zeros((1, dim))
        z = _matched(dim)
        return z * np.sqrt(noise) if noise.ndim == 1 else z @ _root(noise).T

    def errors(self, u: FloatArray) -> FloatArray:
        """Standard deviations of the margins by the models, (m, R)."""
        own = np.zeros((len(u), len(self._models)))
        for k, known in enumerate(self._known):
            if known is not None:
                own[:, k] = known.at(u)[1] * known.doubt(u)
        own = own / self._scales
        return np.stack([own[:, list(one.members)].max(axis=1) for one in self.requirements], 1)

    def log_met(self, u: FloatArray) -> FloatArray:
        """Logarithm of the probability that all requirements are met at u (m, d), (m,)."""
        error = np.maximum(self.errors(u), tuning.LEAST_LIMIT_ERROR)
        return np.sum(special.log_ndtr(-self.margins(u) / error), axis=1)

    def cautious(self, u: FloatArray) -> FloatArray:
        """The worst margin, with the error of the models against it, (m,); good below 0."""
        return np.max(self.margins(u) + tuning.LIMIT_CAUTION * self.errors(u), axis=1)

    def calibrate(self, u: FloatArray) -> None:
        """Learn k from the shape of the law of each requirement at u (d,)."""
        noise = self._models[0].noise
        if noise is None:
            return
        z = _many(u.size)
        draws = z * np.sqrt(noise) if noise.ndim == 1 else z @ _root(noise).T
        c, few = self._over_draws(u[None], draws)[0], self._over_draws(u[None], self._draws())[0]
        for r, one in enumerate(self.requirements):
            if one.level is None:
                continue
            members, level = list(one.members), min(one.level, tuning.SEEN_LEVEL)
            quantile = float(np.quantile(np.max(c[:, members], axis=1), level))
            h = np.max(few[:, members], axis=1)  # by which margins are judged
            normal = float(special.ndtri(level)) * float(h.std())
            if abs(normal) > tuning.TINY:
                ratio = (quantile - float(h.mean())) / normal
                least, most = tuning.SHAPES
                self._shapes[r] = min(max(ratio, least), most)


def _normal(one: Requirement, used: float) -> float:
    """k of a normal law, for the share of the allowed violations that a proposal may use."""
    return 0.0 if one.level is None else float(special.ndtri(1 - used * (1 - one.level)))


def _bound(h: FloatArray, k: float) -> FloatArray:
    """h (m, s) over draws -> (m,)."""
    return h.mean(axis=1) + k * h.std(axis=1)


@functools.lru_cache(maxsize=4)
def _many(dim: int) -> FloatArray:
    return np.random.default_rng(dim).standard_normal((tuning.SHAPE_DRAWS, dim))


@functools.lru_cache(maxsize=4)
def _matched(dim: int) -> FloatArray:
    """Standard normal rows in pairs z, -z, whose covariance is the identity exactly."""
    half = np.random.default_rng([dim, 1]).standard_normal(
        (max(tuning.LIMIT_DRAWS // 2, 2 * dim), dim)
    )
    z = np.concatenate([half, -half])
    return z @ np.linalg.inv(np.linalg.cholesky(z.T @ z / len(z))).T


def _root(cov: FloatArray) -> FloatArray:
    value, vector = np.linalg.eigh(cov)
    return vector * np.sqrt(np.maximum(value, 0.0))


def best_within(model: Model, limits: Limits, region: Region) -> FloatArray:
    """The theta (d,) in u of least E f that meets the constraints, near one that was tried.

    Where none does, the one that violates them least.
    """
    belief = model.belief
    tried = np.unique(region.inside(model.rows.theta[model.rows.worked]), axis=0)
    over = limits.cautious(tried)
    mean, sd = belief.at(tried)
    cost = mean + tuning.CAUTION * sd
    reach = np.sqrt(model.noise_variances + (tuning.LIMIT_NEAR * model.lengths) ** 2)
    # those that meet them by value, then those that nearly do
    order = np.lexsort((cost, np.maximum(over, 0.0)))
    starts: list[FloatArray] = []
    for k in order:
        if len(starts) == tuning.ANSWERS:
            break
        if all(np.max(np.abs(tried[k] - other) / reach) >= 1 for other in starts):
            starts.append(tried[k])
    found = np.array([*starts, *(_polish(belief, limits, at, reach, region) for at in starts)])
    over = np.maximum(limits.cautious(found) - tuning.LIMIT_TOLERANCE, 0.0)
    mean, sd = belief.at(found)
    best = found[np.lexsort((mean + tuning.CAUTION * sd, over))[0]]
    limits.calibrate(best)
    return best


def _polish(
    belief: Belief, limits: Limits, start: FloatArray, reach: FloatArray, region: Region
) -> FloatArray:
    """The least cautious E f within reach of `start` that meets the constraints (SLSQP)."""
    doubt = float(belief.doubt(start[None])[0])
    scale = float(np.std(belief.values.y)) or 1.0
    low, high = region.around_point(start)
    low, high = np.maximum(start - reach, low), np.minimum(start + reach, high)

    def value(u: FloatArray) -> tuple[float, FloatArray]:
        at = belief.slopes(u, doubt)
        cost = at.mean + tuning.CAUTION * at.sd
        return cost / scale, (at.mean_slope + tuning.CAUTION * at.sd_slope) / scale

    error = tuning.LIMIT_CAUTION * limits.errors(start[None])[0]
    steps = tuning.DIFFERENCE * np.eye(start.size)

    def slack(u: FloatArray) -> FloatArray:
        return -(limits.margins(u[None])[0] + error)

    def slack_slope(u: FloatArray) -> FloatArray:
        both = limits.margins(np.concatenate([u + steps, u - steps]))
        n = start.size
        return -(both[:n] - both[n:]).T / (2 * tuning.DIFFERENCE)

    constraint = {"type": "ineq", "fun": slack, "jac": slack_slope}
    box = list(zip(low, high, strict=True))
    options = {"maxiter": tuning.LIMIT_STEPS, "ftol": tuning.LIMIT_FTOL}
    try:
        solved = minimize(
            value,
            start,
            jac=True,
            method="SLSQP",
            bounds=box,
            constraints=constraint,
            options=options,
        )
    except (ValueError, np.linalg.LinAlgError):
        return start
    if not np.all(np.isfinite(solved.x)):
        return start
    return region.snap(np.clip(solved.x, low, high))


def most_promising_within(
    belief: Belief,
    limits: Limits,
    answer: FloatArray,
    pending: FloatArray,
    points: Callable[[FloatArray, float], FloatArray],
) -> tuple[FloatArray, float]:
    """The point of the largest expected improvement times the probability of meeting the limits.

    points(centre, share): candidates around a centre, with steps of this share of the usual. While
    no place is known that meets them, only that probability counts.
    """
    met = bool(limits.cautious(answer[None])[0] <= tuning.LIMIT_TOLERANCE)
    known = np.concatenate([answer[None], pending])
    best = (
        float(belief.at(known)[0][limits.cautious(known) <= tuning.LIMIT_TOLERANCE].min())
        if met
        else 0.0
    )

    def score(u: FloatArray) -> FloatArray:
        total = limits.log_met(u)
        if met:
            mean, sd = belief.at(u)
            sd = np.maximum(sd, tuning.TINY)
            total = total + np.log(sd) + log_improvement((best - mean) / sd)
        return total

    centre, top = answer, -np.inf
    for share in tuning.LIMIT_ROUNDS:
        tries = points(centre, share)
        values = score(tries)
        k = int(np.argmax(values))
        if values[k] > top:
            centre, top = tries[k], float(values[k])
    return centre, top
