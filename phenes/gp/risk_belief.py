"""What is believed of a risk of f(x), x ~ p_theta: a belief like that of E f.

The model stays one of f on the realised x, where f is exact and smooth, whatever the risk makes of
it. At a theta, draws of its law have values by the model; the derivatives of the risk by these
values are weights, and the sum of f over the draws with these weights is linear in f: its
posterior mean and variance are exact.
"""

from __future__ import annotations

import functools
import math
from typing import Protocol

import numpy as np

from phenes._validate import FloatArray
from phenes.gp import tuning
from phenes.gp.belief import Belief
from phenes.gp.cloud import Cloud
from phenes.gp.posterior import Posterior, Slopes
from phenes.risk import Risk


class Functional(Protocol):
    """What is made of the values of a model at draws of x: a risk, maybe on another scale."""

    def tangent(self, f: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Its value for equally likely values (..., n), and its derivatives by them."""
        ...


class RiskBelief(Belief):
    """A risk of f where evaluations succeed, and what failures cost.

    Parameters
    ----------
    values, failures, price, believed
        As for `Belief`; the price in units of the risk.
    risk : Functional
        What is minimised.
    offsets : ndarray, shape (s, d)
        Draws of x - theta. Any first part of them stands for the law: many theta are compared by
        few draws.
    """

    def __init__(
        self,
        values: Posterior,
        failures: Posterior | None,
        price: float,
        risk: Functional,
        offsets: FloatArray,
        believed: Posterior | None = None,
    ):
        super().__init__(values, failures, price, believed)
        self.risk, self.offsets = risk, offsets

    def _modelled(self, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Mean, standard deviation and doubt where evaluations succeed."""
        mean, sd = np.empty(len(theta)), np.empty(len(theta))
        draws = self._draws(len(theta))
        step = max(tuning.RISK_ENTRIES // (len(draws) * len(self.values.rows)), 1)
        for first in range(0, len(theta), step):
            some = slice(first, first + step)
            mean[some], sd[some] = self._some(theta[some], draws)
        return mean, sd, self.doubt(theta)

    def _draws(self, m: int) -> FloatArray:
        """As many draws as m theta can be compared by."""
        most = tuning.RISK_ENTRIES // max(m * len(self.values.rows), 1)
        n = min(max(most, tuning.LEAST_RISK_DRAWS), len(self.offsets))
        return self.offsets[: max(n - n % 2, 1)]  # pairs, where they are mirrored

    def _some(self, theta: FloatArray, draws: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation by the model, without doubt and failures."""
        kernel = self.values.kernel
        m, s = len(theta), len(draws)
        cloud = Cloud((theta[:, None, :] + draws).reshape(m * s, -1))
        k = kernel.covariance(cloud, self._sure.rows)
        n = len(self.values.rows)
        mean, w = self.risk.tangent(self.values.predicted(k[:, :n]).reshape(m, s))
        k = np.einsum("ms,msn->mn", w, k.reshape(m, s, -1))
        own = np.sum(w @ self._between[:s, :s] * w, axis=1)
        if kernel.shape.quadratic:
            phi = np.einsum("ms,msp->mp", w, cloud.features.reshape(m, s, -1))
            own += phi**2 @ kernel.amplitudes
        return mean, self._sure.functionals(k, w, own)

    @property
    def _sure(self) -> Posterior:
        """The posterior that says how much is uncertain; rows of `values` are its first."""
        return self.values if self.believed is None else self.believed

    @functools.cached_property
    def _between(self) -> FloatArray:
        """Covariances between draws of the same law, without the quadratic part, (s, s)."""
        cloud = Cloud(self.offsets)
        return self.values.kernel.stationary(cloud, cloud)

    def _weights(self, points: FloatArray) -> tuple[float, FloatArray]:
        """The risk of f by the model at points (s, d), and its derivatives (s,)."""
        k = self.values.kernel.covariance(Cloud(points), self.values.rows)
        mean, w = self.risk.tangent(self.values.predicted(k))
        return float(mean), w

    def difference(self, here: FloatArray, there: FloatArray) -> tuple[float, float]:
        """By how much the risk is expected to be lower there than here, and the error of that."""
        both = np.stack([here, there])
        points = [theta + self.offsets for theta in both]
        (high, up), (low, down) = (self._weights(at) for at in points)
        error = self.values.functional(np.concatenate(points), np.concatenate([up, -down]))
        p = self.failing(both)
        mean = np.array([high, low])
        mean = mean + p * (self.price - mean)
        return float(mean[0] - mean[1]), float(self.doubt(both).max()) * error

    def _slopes(self, theta: FloatArray, doubt: float) -> Slopes:
        """Where evaluations succeed; the weights are taken to be constant in sd."""
        points = theta + self.offsets
        mean, w = self._weights(points)
        sd, rise, dk = self._sure.functional_slopes(points[w != 0], w[w != 0])
        mean_slope = self.values.dual @ dk[: len(self.values.rows)]
        return Slopes(mean, doubt * sd, mean_slope, doubt * rise)

    def most_slopes(self, steps: int) -> int:
        """Evaluations of `slopes`: where draws change places there are kinks, which take many."""
        return math.ceil(tuning.RISK_SLOPES * steps)

    def believing(self, theta: FloatArray, unknown: FloatArray | None) -> Belief:
        """As if evaluations under way had the values that are expected of them."""
        if not len(theta):
            return self
        believed = self.values.believing(theta, unknown)
        return RiskBelief(self.values, self.failures, self.price, self.risk, self.offsets, believed)


def price_of(risk: Risk, f: FloatArray) -> float:
    """What a failure counts as in units of a risk, from values (n,)."""
    price = risk.reference(f).failed(float(f.max()))
    return price if math.isfinite(price) else float(f.max())
