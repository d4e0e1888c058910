"""What is believed of the E f that is minimised: the posterior of F, and what failures cost."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from phenes._validate import FloatArray
from phenes.gp import tuning
from phenes.gp.posterior import Posterior, Slopes


class Hope(NamedTuple):
    """What may be found at a theta where it is not known whether evaluations fail.

    Either all fail there, or no larger share than explains the mean and the error of P. `mean` and
    `sd` are those of the second case, whose probability has the logarithm `log_chance`.
    """

    mean: FloatArray
    sd: FloatArray
    log_chance: FloatArray


class HopeSlopes(NamedTuple):
    """`Hope` at one theta, and derivatives (d,)."""

    found: Slopes
    log_chance: float
    log_chance_slope: FloatArray


class Belief:
    """(1 - P) F + P price, with P the probability that an evaluation at theta fails.

    P is the posterior mean of a Gaussian process of the labels 0 (a value) and 1 (none) at the
    realised x, averaged over the noise like F itself. What fails anywhere, at random, has the same
    P everywhere and moves nothing. Standard deviations are those of the posterior of F times its
    doubt.

    Parameters
    ----------
    values : Posterior
        F where evaluations succeed.
    failures : Posterior or None
        The labels; None if nothing failed.
    price : float
        The value that a failure counts as.
    believed : Posterior, optional
        F with evaluations under way, which says how much is uncertain then; by default `values`.
        What is expected does not change by believing what is expected, so that means are always
        those of `values`: solving for them again would only add rounding errors.
    """

    def __init__(
        self,
        values: Posterior,
        failures: Posterior | None = None,
        price: float = 0.0,
        believed: Posterior | None = None,
    ):
        self.values, self.failures, self.price = values, failures, price
        self.believed = believed

    def doubt(self, theta: FloatArray) -> FloatArray:
        """By how much the model is to be doubted at theta (m, d), (m,); see `Posterior.doubt`."""
        return self.values.doubt(theta)

    def at(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation, (m,) each, at theta (m, d)."""
        mean, sd, _ = self.doubted(theta)
        return mean, sd

    def doubted(self, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """`at`, and the doubt that its standard deviations contain, (m,) each."""
        mean, sd, doubt = self._modelled(theta)
        p = self.failing(theta)
        return mean + p * (self.price - mean), (1 - p) * (sd * doubt), doubt

    def _modelled(self, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Mean, standard deviation and doubt where evaluations succeed."""
        return self.values.explained(theta, self.believed)

    def failing(self, theta: FloatArray) -> FloatArray:
        """Probability of failing at theta (m, d), (m,)."""
        if self.failures is None:
            return np.zeros(len(theta))
        return np.clip(self.failures.at(theta)[0], 0.0, 1.0)

    def hope(self, theta: FloatArray) -> tuple[Hope, FloatArray]:
        """What may be found at theta (m, d), and the doubt that its errors contain."""
        mean, sd, doubt = self._modelled(theta)
        if self.failures is None:
            return Hope(mean, sd * doubt, np.zeros(len(theta))), doubt
        p, error = self.failures.at(theta)
        works = np.clip(1 - p, tuning.ROUNDING, 1.0)
        share = works + np.minimum(error**2, (1 - works) * works) / works
        hope = Hope(
            mean + (1 - share) * (self.price - mean), share * sd * doubt, np.log(works / share)
        )
        return hope, doubt

    def hope_slopes(self, theta: FloatArray, doubt: float) -> HopeSlopes:
        """The same at one theta (d,), with derivatives; the doubt is taken to be constant."""
        f, none = self._slopes(theta, doubt), np.zeros(theta.size)
        if self.failures is None:
            return HopeSlopes(f, 0.0, none)
        p = self.failures.slopes(theta)
        works = min(max(1 - p.mean, tuning.ROUNDING), 1.0)
        fall = -p.mean_slope if works == 1 - p.mean else none
        if p.sd**2 < (1 - works) * works:
            share = works + p.sd**2 / works
            rise = (1 - p.sd**2 / works**2) * fall + 2 * p.sd / works * p.sd_slope
        else:
            share, rise = 1.0, none
        found = Slopes(
            f.mean + (1 - share) * (self.price - f.mean),
            max(share * f.sd, tuning.TINY),
            share * f.mean_slope - (self.price - f.mean) * rise,
            share * f.sd_slope + f.sd * rise,
        )
        return HopeSlopes(found, math.log(works / share), fall / works - rise / share)

    def difference(self, here: FloatArray, there: FloatArray) -> tuple[float, float]:
        """By how much F is expected to be lower there than here (d,), and the error of that."""
        both = np.stack([here, there])
        mean, joint = self.values.joint(both)
        error = math.sqrt(max(joint[0, 0] + joint[1, 1] - 2 * joint[0, 1], 0.0))
        p = self.failing(both)
        mean = mean + p * (self.price - mean)
        return float(mean[0] - mean[1]), float(self.doubt(both).max()) * error

    def slopes(self, theta: FloatArray, doubt: float) -> Slopes:
        """The same at one theta (d,), with derivatives; the doubt is taken to be constant."""
        return self._with_failures(self._slopes(theta, doubt), theta)

    def _slopes(self, theta: FloatArray, doubt: float) -> Slopes:
        """Where evaluations succeed."""
        f = self.values.slopes(theta, self.believed)
        return f._replace(sd=doubt * f.sd, sd_slope=doubt * f.sd_slope)

    def _with_failures(self, f: Slopes, theta: FloatArray) -> Slopes:
        """What failures add to mean and standard deviation where evaluations succeed."""
        if self.failures is None:
            return f
        p = self.failures.slopes(theta)
        share = min(max(p.mean, 0.0), 1.0)
        rise = p.mean_slope if share == p.mean else np.zeros(theta.size)
        return Slopes(
            f.mean + share * (self.price - f.mean),
            max((1 - share) * f.sd, tuning.TINY),
            (1 - share) * f.mean_slope + (self.price - f.mean) * rise,
            (1 - share) * f.sd_slope - f.sd * rise,
        )

    def most_slopes(self, steps: int) -> int:
        """Evaluations of `slopes` that so many steps of L-BFGS may take: as good as no limit."""
        return tuning.MOST_SLOPES

    def believing(self, theta: FloatArray, unknown: FloatArray | None) -> Belief:
        """As if evaluations under way at theta (m, d) had the values that are expected.

        unknown: covariance of what will not be measured of their x, as for `Posterior`.
        """
        if not len(theta):
            return self
        believed = self.values.believing(theta, unknown)
        return Belief(self.values, self.failures, self.price, believed)
