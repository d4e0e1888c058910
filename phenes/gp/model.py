"""The model of a run: its rows, the kernel fitted to them, and what is believed now."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from phenes._validate import BoolArray, FloatArray, IntArray
from phenes.gp import tuning
from phenes.gp.belief import Belief
from phenes.gp.cloud import Cloud
from phenes.gp.coverage import covering
from phenes.gp.draws import gaussian_offsets
from phenes.gp.failing import Place, find_place
from phenes.gp.fit import Fitted, choose, choose_scale, follow
from phenes.gp.posterior import Posterior
from phenes.gp.risk_belief import RiskBelief, price_of
from phenes.gp.warp import OnScale, Warp
from phenes.risk import Risk, mean


class Rows:
    """Evaluations in units of the region.

    theta, x (n, d): intended and realised, unmeasured coordinates at their expectation. f (n,):
    NaN where the evaluation failed. measured (n, d): which coordinates of x were.
    """

    def __init__(self, dim: int):
        self.theta = np.empty((0, dim))
        self.x = np.empty((0, dim))
        self.f = np.empty(0)
        self.measured = np.empty((0, dim), bool)

    def add(self, theta: FloatArray, x: FloatArray, f: FloatArray, measured: BoolArray) -> None:
        """Add rows; values that are not finite have failed."""
        self.theta = np.concatenate([self.theta, theta])
        self.x = np.concatenate([self.x, x])
        self.f = np.concatenate([self.f, np.where(np.isfinite(f), f, np.nan)])
        self.measured = np.concatenate([self.measured, measured])

    @property
    def worked(self) -> BoolArray:
        """Which rows have a value, (n,)."""
        return np.isfinite(self.f)

    @property
    def flat(self) -> bool:
        """Whether no two values differ."""
        f = self.f[self.worked]
        return f.size < 2 or bool(np.ptp(f) == 0)

    def cloud(self, chosen: IntArray, noise: FloatArray | None) -> Cloud:
        """The realised x of some rows, and what is not known of them."""
        x, measured = self.x[chosen], self.measured[chosen]
        if noise is None or measured.all():
            return Cloud(x)
        return Cloud(x, unmeasured(noise, measured), each=True)


def _after(n: int) -> int:
    """The number of rows at which a kernel follows again, after n."""
    return n + 1 + int(tuning.FOLLOW_SHARE * n)


def _thinned(draws: FloatArray) -> FloatArray:
    """As many of these draws (s, d) as a model is averaged over."""
    return draws[:: max(len(draws) // tuning.RISK_DRAWS, 1)][: tuning.RISK_DRAWS]


def unmeasured(noise: FloatArray, measured: BoolArray) -> FloatArray:
    """Covariance of x given its measured coordinates, for each row: (n, d) or (n, d, d)."""
    if noise.ndim == 1:
        return noise * ~measured
    cov = np.zeros((*measured.shape, noise.shape[0]))
    for pattern in np.unique(measured, axis=0):
        rows = np.flatnonzero(np.all(measured == pattern, axis=1))
        seen, hidden = np.flatnonzero(pattern), np.flatnonzero(~pattern)
        if hidden.size:
            cross = noise[np.ix_(hidden, seen)]
            gain = np.linalg.lstsq(noise[np.ix_(seen, seen)], cross.T, rcond=None)[0]
            rest = noise[np.ix_(hidden, hidden)] - cross @ gain
            cov[np.ix_(rows, hidden, hidden)] = rest
    return cov


def _never(x: FloatArray, failed: BoolArray) -> bool:
    """Failures have a place, unless there are enough to show that they have none."""
    return False


class Model:
    """A Gaussian process of f on the realised x that follows a run.

    Parameters
    ----------
    dim : int
        Number of coordinates.
    noise : ndarray, shape (d,) or (d, d), or None
        Variances or covariance of x - theta.
    bias : ndarray, shape (d,)
        Mean of x - theta.
    compresses : bool, optional
        Whether values over orders of magnitude may be modelled by their logarithm. What is
        believed is in its units then: `in_units` makes values of it.
    anywhere : callable, optional
        x (n, d), failed (n,) -> whether these failures say nothing of where others are; by default
        they do.
    """

    def __init__(
        self,
        dim: int,
        noise: FloatArray | None,
        bias: FloatArray,
        compresses: bool = False,
        anywhere: Callable[[FloatArray, BoolArray], bool] = _never,
    ):
        self._anywhere = anywhere
        self._choose = choose_scale if compresses else choose
        self.rows, self.noise, self.bias = Rows(dim), noise, bias
        self.fitted: Fitted | None = None
        self._place: Place | None = None  # where evaluations fail, if that depends on x
        self._next_choice = self._next_follow = self._next_place = tuning.LEAST_ROWS
        self._belief: Belief | None = None
        self.risk: Risk | None = None  # None: E f
        self._offsets = np.empty((0, dim))
        self._gaussian = True

    def at_risk(self, risk: Risk | None, draws: FloatArray | None) -> None:
        """From now on believe in a risk, or in E f if it is None.

        draws (s, d): of x - theta if the law is no Gaussian.
        """
        self.risk, self._belief = risk, None
        self._gaussian = draws is None
        self._offsets = (
            gaussian_offsets(self.noise, self.bias, tuning.RISK_DRAWS)
            if draws is None
            else _thinned(draws)
        )

    def add(self, theta: FloatArray, x: FloatArray, f: FloatArray, measured: BoolArray) -> None:
        """Take in rows, and let the kernel follow when it is due.

        The fit depends on the rows and on the parts in which they came, never on what was asked.
        """
        self.rows.add(theta, x, f, measured)
        self._belief = None
        self._follow_values()
        self._follow_failures()

    def _follow_values(self) -> None:
        """The kernel of the values, when there are enough new ones."""
        n = int(self.rows.worked.sum())
        if self.rows.flat or n < self._next_follow:
            return
        chosen = self._near(self.rows.worked)
        cloud, y = self.rows.cloud(chosen, self.noise), self.rows.f[chosen]
        if self.fitted is None or n >= self._next_choice:
            self.fitted = self._choose(cloud, y, self.fitted, tuning.CHOICE_STEPS)
            self._next_choice = math.ceil(tuning.CHOICE_GROWTH * n)
        else:
            self.fitted = follow(self.fitted, cloud, y, tuning.FOLLOW_STEPS)
        self._next_follow = _after(n)

    def _follow_failures(self) -> None:
        """Where evaluations fail, if some did.

        They have a turn of their own: a search that is led to where everything fails gets no more
        values, and has to learn from that.
        """
        n = self.rows.f.size
        if self.fitted is None or self.rows.worked.all() or n < self._next_place:
            return
        self._next_place = _after(n)
        unplaced = self._anywhere(self.rows.x, ~self.rows.worked)
        self._place = None if unplaced else find_place(*self._labelled())

    def _labelled(self) -> tuple[Cloud, FloatArray]:
        """Rows, and which of them failed."""
        chosen = self._near(np.ones(self.rows.f.size, bool))
        labels = np.where(self.rows.worked[chosen], 0.0, 1.0)
        return self.rows.cloud(chosen, self.noise), labels

    def _near(self, able: BoolArray) -> IntArray:
        """The rows of the model: all, or those nearest to the best."""
        index = np.flatnonzero(able)
        if index.size <= tuning.MOST_ROWS:
            return index
        best = self.rows.x[np.nanargmin(self.rows.f)]
        scale = np.ones(best.size) if self.fitted is None else self.fitted.kernel.lengths**2
        distance = np.sum((self.rows.x[index] - best) ** 2 / (scale + self.noise_variances), axis=1)
        return index[covering(distance, best.size, tuning.MOST_ROWS)]

    def update_noise(self, noise: FloatArray | None, bias: FloatArray) -> None:
        """Go on with better knowledge of the noise: predictions change, measured rows do not."""
        self.noise, self.bias = noise, bias
        self._belief = None

    @property
    def ready(self) -> bool:
        """Whether there is something to believe."""
        return self.fitted is not None

    @property
    def belief(self) -> Belief:
        """What is believed of E f, failures included."""
        if self._belief is None:
            self._belief = self._believed()
        return self._belief

    @property
    def for_claims(self) -> Belief:
        """`belief`, by more draws of the law: a search needs differences only, a claim values."""
        found = self.belief
        if not isinstance(found, RiskBelief) or not self._gaussian:
            return found
        offsets = gaussian_offsets(self.noise, self.bias, tuning.CLAIM_DRAWS)
        return RiskBelief(found.values, found.failures, found.price, found.risk, offsets)

    def _believed(self) -> Belief:
        if self.risk is None and self.warp is None:
            return Belief(self.values(), self._failures(), float(np.nanmax(self.rows.f)))
        if not len(self._offsets):
            self._offsets = gaussian_offsets(self.noise, self.bias, tuning.RISK_DRAWS)
        return self._over(self._offsets)

    def under(self, draws: FloatArray) -> Belief:
        """What is believed where x - theta has the law of these draws (s, d)."""
        return self._over(_thinned(draws))

    def _over(self, offsets: FloatArray) -> RiskBelief:
        """What is believed where x - theta is any of these draws (s, d), as likely as others."""
        values, failures, warp = self.values(), self._failures(), self.warp
        risk = mean() if self.risk is None else self.risk
        price = price_of(risk, self.rows.f[self.rows.worked])
        if warp is None:
            return RiskBelief(values, failures, price, risk, offsets)
        price = float(warp.compress(np.array(price)))
        return RiskBelief(values, failures, price, OnScale(warp, risk), offsets)

    @property
    def warp(self) -> Warp | None:
        """The scale on which the values are modelled; None: as they are."""
        return None if self.fitted is None else self.fitted.warp

    def in_units(self, mean: FloatArray, sd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What is believed, (m,) each, in units of the values."""
        if self.warp is None:
            return mean, sd
        return self.warp.expand(mean), sd * self.warp.steepness(mean)

    def _failures(self) -> Posterior | None:
        """The posterior of the labels of failures."""
        if self._place is None:
            return None
        return self._place.posterior(*self._labelled(), self.noise, self.bias)

    def values(self) -> Posterior:
        """The posterior of F from the rows that have a value."""
        assert self.fitted is not None
        chosen = self._near(self.rows.worked)
        cloud = self.rows.cloud(chosen, self.noise)
        fitted, y = self.fitted, self.rows.f[chosen]
        if fitted.warp is not None:
            y = fitted.warp.compress(y)
        return Posterior(fitted.kernel, fitted.eta, cloud, y, self.noise, self.bias)

    @property
    def lengths(self) -> FloatArray:
        """Lengths over which f changes, (d,); at most the box."""
        assert self.fitted is not None
        return np.minimum(self.fitted.kernel.lengths, 1.0)

    @property
    def unknown(self) -> FloatArray | None:
        """Covariance of what is not measured of x on average; None if all of it is."""
        hidden = 1 - self.rows.measured.mean(axis=0)
        if self.noise is None or not hidden.any():
            return None
        return self.noise * (hidden if self.noise.ndim == 1 else np.sqrt(np.outer(hidden, hidden)))

    @property
    def noise_variances(self) -> FloatArray:
        """Variance of the noise in each coordinate, (d,)."""
        if self.noise is None:
            return np.zeros(self.rows.x.shape[1])
        return self.noise if self.noise.ndim == 1 else np.diag(self.noise)
