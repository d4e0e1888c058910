"""The risks: mean, quantile, conditional value at risk, probability, and standard deviations."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from phenes import _validate
from phenes._validate import FloatArray
from phenes.risk.reference import TIE, Line, Parabola, Ramp, Reference, Step
from phenes.risk.risk import Risk
from phenes.risk.samples import (
    SIDE,
    band_mean,
    band_weights,
    quantile_bounds,
    quantile_of,
    share_bounds,
    spread,
    uniform,
)

# A quantile is searched as the average of the quantiles around it, up to this share of the way to
# the nearer end of (0, 1): a single order statistic has no slope that a search could follow.
BAND = 0.5
# A probability is searched as that of a limit blurred by this share of the spread of f.
BLUR = 0.25
TINY = 1e-300  # keeps a division finite
FLAT = 1e-9  # least standard deviation of f, relative to f, of which a tangent is taken
# The part of a law that says how it spreads: of a normal one the outer tenth has 44 % of the
# variance, of a skewed one most of it.
OUTER = 0.1
RULE_OF_THREE = 3.0  # n draws miss what has a probability of 3 / n once in twenty times
ROUNDING = 1e-9


@dataclass(frozen=True)
class Mean(Risk):
    """E f."""

    name: ClassVar[str] = "mean"

    def value(self, f: FloatArray, w: FloatArray | None = None) -> float:
        return float(uniform(f, w) @ f)

    def tangent(self, f: FloatArray) -> tuple[FloatArray, FloatArray]:
        return f.mean(axis=-1), np.full(f.shape, 1 / f.shape[-1])

    def reference(
        self, f: FloatArray, w: FloatArray | None = None, smooth: bool = True
    ) -> Reference:
        return Line()

    def label(self, sign: float = 1.0) -> str:
        return "E f(x)"


@dataclass(frozen=True)
class Cvar(Risk):
    """Mean of the worst share 1 - level: min over t of t + E (f - t)+ / (1 - level)."""

    level: float
    name: ClassVar[str] = "cvar"

    @property
    def tail(self) -> float:
        return 1 - self.level

    @property
    def least_draws(self) -> int:
        return _that_show(self.tail)

    def value(self, f: FloatArray, w: FloatArray | None = None) -> float:
        return band_mean(f, uniform(f, w), self.level, 1.0)

    def tangent(self, f: FloatArray) -> tuple[FloatArray, FloatArray]:
        weights = band_weights(f, self.level, 1.0)
        return np.sum(weights * f, axis=-1), weights

    def reference(
        self, f: FloatArray, w: FloatArray | None = None, smooth: bool = True
    ) -> Reference:
        weights = uniform(f, w)
        t = quantile_of(f, weights, self.level)
        ramp = Ramp(t, np.inf, 1 / self.tail, t, spread(f, weights), TIE if smooth else 0.0)
        return ramp.through(f, weights, self.value(f, w))

    def label(self, sign: float = 1.0) -> str:
        return f"{'' if sign > 0 else 'lower '}CVaR {100 * self.level:g} % of f(x)"


@dataclass(frozen=True)
class Quantile(Risk):
    """The value that f exceeds with probability 1 - level."""

    level: float
    name: ClassVar[str] = "quantile"

    @property
    def tail(self) -> float:
        return min(1 - self.level, self.level)

    @property
    def least_draws(self) -> int:
        return math.ceil(math.log(SIDE) / math.log1p(-self.tail) - ROUNDING)

    @property
    def _band(self) -> tuple[float, float]:
        return self.level - BAND * self.tail, self.level + BAND * self.tail

    def value(self, f: FloatArray, w: FloatArray | None = None) -> float:
        return quantile_of(f, uniform(f, w), self.level)

    def tangent(self, f: FloatArray) -> tuple[FloatArray, FloatArray]:
        weights = band_weights(f, *self._band)
        return np.sum(weights * f, axis=-1), weights

    def reference(
        self, f: FloatArray, w: FloatArray | None = None, smooth: bool = True
    ) -> Reference:
        weights, (low, high) = uniform(f, w), self._band
        ends = quantile_of(f, weights, low), quantile_of(f, weights, high)
        ramp = Ramp(*ends, 1 / (high - low), 0.0, spread(f, weights), TIE if smooth else 0.0)
        value = band_mean(f, weights, low, high) if smooth else self.value(f, w)
        return ramp.through(f, weights, value)

    def bounds(self, f: FloatArray) -> tuple[float, float] | None:
        return quantile_bounds(f, self.level)

    def label(self, sign: float = 1.0) -> str:
        share = self.level if sign > 0 else 1 - self.level
        return f"{100 * share:.4g} % quantile of f(x)"


@dataclass(frozen=True)
class ProbabilityBelow(Risk):
    """P(f > limit), whose complement the user sees."""

    limit: float
    name: ClassVar[str] = "probability_below"

    def value(self, f: FloatArray, w: FloatArray | None = None) -> float:
        return float(uniform(f, w) @ (f > self.limit))

    def tangent(self, f: FloatArray) -> tuple[FloatArray, FloatArray]:
        blur = np.maximum(BLUR * f.std(axis=-1, keepdims=True), TINY)
        off = f - self.limit
        inside = np.clip(off, -blur, blur)
        slope = np.where(np.abs(off) < blur, 1.0, TIE) / (2 * blur)
        values = 0.5 + (inside + TIE * (off - inside)) / (2 * blur)
        return values.mean(axis=-1), slope / f.shape[-1]

    def reference(
        self, f: FloatArray, w: FloatArray | None = None, smooth: bool = True
    ) -> Reference:
        if not smooth:
            return Step(self.limit)
        size = _steep(f, uniform(f, w))
        blur = BLUR * size
        return Ramp(self.limit - blur, self.limit + blur, 0.5 / blur, 0.0, size, TIE)

    def bounds(self, f: FloatArray) -> tuple[float, float] | None:
        return share_bounds(int(np.sum(f > self.limit)), f.size)

    @property
    def ends(self) -> tuple[float, float]:
        return 0.0, 1.0

    def minimised(self, sign: float) -> Risk:
        return self if sign > 0 else replace(self, limit=-self.limit)

    def shown(self, sign: float) -> tuple[float, float]:
        return 1.0, -1.0

    def label(self, sign: float = 1.0) -> str:
        return f"P(f(x) {'<=' if sign > 0 else '>='} {self.limit:g})"


class Spread(Risk):
    """Risks with a standard deviation in them."""

    @property
    def moments(self) -> bool:
        return True

    @property
    def tail(self) -> float:
        return OUTER

    @property
    def least_draws(self) -> int:
        return _that_show(self.tail)

    @property
    def kept_draws(self) -> int:
        return 1  # a model knows a spread from all evaluations, and the search needs them more


@dataclass(frozen=True)
class MeanPlusStd(Spread):
    """E f + k std f."""

    k: float
    name: ClassVar[str] = "mean_plus_std"

    def value(self, f: FloatArray, w: FloatArray | None = None) -> float:
        weights = uniform(f, w)
        return float(weights @ f) + self.k * spread(f, weights)

    def tangent(self, f: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, size, slopes = _moments(f)
        return mean + self.k * size, 1 / f.shape[-1] + self.k * slopes

    def reference(
        self, f: FloatArray, w: FloatArray | None = None, smooth: bool = True
    ) -> Reference:
        weights = uniform(f, w)
        return Parabola(float(weights @ f), _steep(f, weights), self.k, 1.0)

    def label(self, sign: float = 1.0) -> str:
        return f"E f(x) {'+' if sign > 0 else '-'} {self.k:g} std"


@dataclass(frozen=True)
class Std(Spread):
    """The standard deviation of f."""

    name: ClassVar[str] = "std"

    def value(self, f: FloatArray, w: FloatArray | None = None) -> float:
        return spread(f, uniform(f, w))

    def tangent(self, f: FloatArray) -> tuple[FloatArray, FloatArray]:
        _, size, slopes = _moments(f)
        return size, slopes

    def reference(
        self, f: FloatArray, w: FloatArray | None = None, smooth: bool = True
    ) -> Reference:
        weights = uniform(f, w)
        return Parabola(float(weights @ f), _steep(f, weights), 1.0, 0.0)

    @property
    def ends(self) -> tuple[float, float]:
        return 0.0, math.inf

    def shown(self, sign: float) -> tuple[float, float]:
        return 0.0, 1.0

    def label(self, sign: float = 1.0) -> str:
        return "std of f(x)"


def _that_show(tail: float) -> int:
    """Draws of which at most one sample in twenty has none of a tail."""
    return math.ceil(RULE_OF_THREE / tail - ROUNDING)


def _steep(f: FloatArray, w: FloatArray) -> float:
    """Standard deviation, but not so small that values beside a flat law have no finite merit."""
    return max(spread(f, w), FLAT * float(np.abs(f).max()), FLAT)


def _moments(f: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean and standard deviation of equally likely values, and the slopes of the latter."""
    mean, size = f.mean(axis=-1), f.std(axis=-1)
    slopes = (f - mean[..., None]) / np.maximum(f.shape[-1] * size, TINY)[..., None]
    return mean, size, slopes


def mean() -> Risk:
    """E f(x), which is minimised where nothing else is said.

    Returns
    -------
    Risk
    """
    return Mean()


def quantile(level: float) -> Risk:
    """The value that f(x) does not exceed with this probability.

    `maximize` takes the other tail: the value that f(x) is at least, with this probability.

    Parameters
    ----------
    level : float
        Probability, such as 0.95; between 0 and 1.

    Returns
    -------
    Risk

    Raises
    ------
    ValueError
        If the level is not between 0 and 1.

    Examples
    --------
    >>> import numpy as np, phenes
    >>> phenes.risk.quantile(0.95).value(np.arange(100.0))
    94.0
    """
    return Quantile(_probability("level of a quantile", level))


def cvar(level: float) -> Risk:
    """Conditional value at risk: the mean of the worst values of f(x), a share 1 - level of all.

    Also known as expected shortfall. `maximize` takes the other tail: the mean of the lowest.

    Parameters
    ----------
    level : float
        Probability of all others, such as 0.9; between 0 and 1.

    Returns
    -------
    Risk

    Raises
    ------
    ValueError
        If the level is not between 0 and 1.

    Examples
    --------
    >>> import numpy as np, phenes
    >>> phenes.risk.cvar(0.9).value(np.arange(100.0))
    94.5
    """
    return Cvar(_probability("level of a CVaR", level))


def probability_below(limit: float) -> Risk:
    """The probability that f(x) is at most the limit, which is made as large as possible.

    `maximize` takes the other tail: the probability that f(x) is at least the limit.

    Parameters
    ----------
    limit : float
        What f(x) should not exceed.

    Returns
    -------
    Risk
        Its value, as minimised, is the probability of the contrary.

    Raises
    ------
    ValueError
        If the limit is not a finite number.
    """
    return ProbabilityBelow(_validate.number("limit of probability_below", limit))


def mean_plus_std(k: float) -> Risk:
    """E f(x) + k std f(x); `maximize` takes E f(x) - k std f(x).

    Parameters
    ----------
    k : float
        Standard deviations, not negative.

    Returns
    -------
    Risk

    Raises
    ------
    ValueError
        If k is negative or not a finite number.
    """
    number = _validate.number("k of mean_plus_std", k)
    if number < 0:
        raise ValueError(f"k of mean_plus_std must not be negative, got {_validate.quote(k)}")
    return MeanPlusStd(number)


def std() -> Risk:
    """The standard deviation of f(x): the design whose f varies least, whatever its mean.

    The least, whether f is minimised or maximised.

    Returns
    -------
    Risk
    """
    return Std()


def _probability(name: str, value: float) -> float:
    number = _validate.number(name, value)
    if not 0 < number < 1:
        raise ValueError(f"{name} must be between 0 and 1, got {_validate.quote(value)}")
    return number
