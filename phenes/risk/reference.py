"""Linearisations of a risk at a law: functions of single values, whose mean is the risk there."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from phenes._validate import FloatArray

# Slope where a linearisation is flat, relative to where it is not: equal merits would be in no
# order, and a search by ranks would see nothing. A thousandth moves no optimum that draws could
# tell.
TIE = 1e-3
LEAST = 0.1  # by which share a spread may be smaller where it is known better


class Reference(ABC):
    """A function g of values of f: E g(f) is the risk at the law that it was made of."""

    @abstractmethod
    def values(self, f: FloatArray) -> FloatArray:
        """g of each value.

        Parameters
        ----------
        f : ndarray
            Values as minimised; NaN stays NaN.

        Returns
        -------
        ndarray, shape of f
        """

    @abstractmethod
    def slopes(self, f: FloatArray) -> FloatArray:
        """Derivative of g at each value.

        Parameters
        ----------
        f : ndarray
            Values as minimised.

        Returns
        -------
        ndarray, shape of f
        """

    def excess(self, f: FloatArray) -> FloatArray:
        """What each value adds by lying in a tail without an end; 0 where there is none.

        Parameters
        ----------
        f : ndarray
            Values as minimised.

        Returns
        -------
        ndarray, shape of f
        """
        return np.zeros(f.shape)

    def failed(self, price: float) -> float:
        """What a failure counts as.

        Parameters
        ----------
        price : float
            What it would count as in units of f.

        Returns
        -------
        float
        """
        return float(self.values(np.array(price)))

    def risk_of(self, value: float) -> float:
        """The risk where E g(f) is `value`, also where that is far from the tangent.

        Parameters
        ----------
        value : float
            E g(f) of this g.

        Returns
        -------
        float
            The same, unless the risk is known to be a curved function of it.
        """
        return value

    @property
    def least(self) -> float:
        """The least that `risk_of` says."""
        return -math.inf

    def tightened(self, mean: float, value: float) -> Reference | None:
        """The linearisation at a law of which E f and E g(f) are known, where these say it.

        Parameters
        ----------
        mean, value : float
            E f, and E g(f) of this g.

        Returns
        -------
        Reference or None
            None if they do not say where the law is.
        """
        return None

    @abstractmethod
    def near(self, other: Reference, share: float) -> bool:
        """Whether another one of the same kind differs by less than a share of the spread.

        Parameters
        ----------
        other : Reference
            A newer one.
        share : float
            Of the spread of f.

        Returns
        -------
        bool
        """


@dataclass(frozen=True)
class Line(Reference):
    """g(f) = f, of the mean."""

    def values(self, f: FloatArray) -> FloatArray:
        return f

    def slopes(self, f: FloatArray) -> FloatArray:
        return np.ones(f.shape)

    def near(self, other: Reference, share: float) -> bool:
        return isinstance(other, Line)


@dataclass(frozen=True)
class Step(Reference):
    """g(f) = 1 where f is above the limit, else 0."""

    limit: float

    def values(self, f: FloatArray) -> FloatArray:
        return np.where(np.isnan(f), np.nan, np.where(f > self.limit, 1.0, 0.0))

    def slopes(self, f: FloatArray) -> FloatArray:
        return np.zeros(f.shape)

    def failed(self, price: float) -> float:
        return 1.0  # whatever a limit of values is, a failure is not within

    def near(self, other: Reference, share: float) -> bool:
        return self == other


@dataclass(frozen=True)
class Ramp(Reference):
    """level + slope (clip(f, low, high) - low): of averages of quantiles, and of probabilities.

    spread: standard deviation of f at the law, by which another one is compared. tie: slope outside
    of low to high, relative to `slope`.
    """

    low: float
    high: float
    slope: float
    level: float
    spread: float
    tie: float = 0.0

    def values(self, f: FloatArray) -> FloatArray:
        inside = np.clip(f, self.low, self.high)
        return self.level + self.slope * (inside - self.low + self.tie * (f - inside))

    def slopes(self, f: FloatArray) -> FloatArray:
        rises = (f > self.low) & (f < self.high)
        return self.slope * np.where(rises, 1.0, self.tie)

    def near(self, other: Reference, share: float) -> bool:
        if not isinstance(other, Ramp):
            return False
        most = share * other.spread
        ends = self.high == other.high or abs(self.high - other.high) <= most
        return ends and abs(self.low - other.low) <= most

    def excess(self, f: FloatArray) -> FloatArray:
        if np.isfinite(self.high):
            return np.zeros(f.shape)
        return self.slope * np.maximum(f - self.low, 0.0)

    def through(self, f: FloatArray, w: FloatArray, value: float) -> Ramp:
        """The same, at a level with which the weighted mean of g(f) is `value`."""
        return replace(self, level=self.level + value - float(w @ self.values(f)))


@dataclass(frozen=True)
class Parabola(Reference):
    """linear f + k / 2 ((f - mean)^2 / spread + spread): a tangent of the square root."""

    mean: float
    spread: float
    k: float
    linear: float

    def values(self, f: FloatArray) -> FloatArray:
        bent = (f - self.mean) ** 2 / self.spread + self.spread
        return self.linear * f + 0.5 * self.k * bent

    def slopes(self, f: FloatArray) -> FloatArray:
        return self.linear + self.k * (f - self.mean) / self.spread

    def risk_of(self, value: float) -> float:
        """What is linear in the law of f is its variance: the root is taken of that.

        A variance that may be ten times as large is a spread that may be three times as large; its
        tangent would say five times, and of a spread near zero any number.
        """
        if not self.k > 0 or not np.isfinite(value):
            return value
        variance = self.spread * (2 * (value - self.least) / self.k - self.spread)
        return self.least + self.k * math.sqrt(max(variance, 0.0))

    @property
    def least(self) -> float:
        return self.linear * self.mean

    def tightened(self, mean: float, value: float) -> Reference | None:
        if not self.k > 0:
            return None
        bent = 2 * (value - self.linear * mean) / self.k - self.spread
        variance = self.spread * bent - (mean - self.mean) ** 2
        if not (np.isfinite(variance) and variance > 0):
            return None
        return replace(self, mean=mean, spread=max(math.sqrt(variance), LEAST * self.spread))

    def near(self, other: Reference, share: float) -> bool:
        if not isinstance(other, Parabola):
            return False
        most = share * other.spread
        return abs(self.mean - other.mean) <= most and abs(self.spread - other.spread) <= most
