"""Values over many orders of magnitude: a model of their logarithm, where that explains more.

A cost such as exp(|x|^2) has no length over which it changes: where it is large it changes by
orders of magnitude, and a Gaussian process of it sees nothing but its largest values. Its logarithm
is smooth. The half of the values that a minimum is among stays as it is, and what is above their
median t is compressed, with s = t - min f:

    h(f) = f                            f <= t
         = t + s log(1 + (f - t) / s)   f > t.

Whatever is wanted of f is still that of f, not of h: an average over the noise is taken of the
inverse, f(h). The search compares averages M by h(M), which puts them in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phenes._validate import FloatArray
from phenes.gp import tuning
from phenes.risk import Risk


@dataclass(frozen=True)
class Warp:
    """The scale on which f is modelled: as it is up to `level`, logarithmic in `scale` above it."""

    level: float
    scale: float

    def compress(self, f: FloatArray) -> FloatArray:
        """h(f), of any shape."""
        return np.where(f > self.level, self.level + self.scale * np.log1p(self._above(f)), f)

    def slope(self, f: FloatArray) -> FloatArray:
        """dh / df."""
        return 1 / (1 + self._above(f))

    def expand(self, h: FloatArray) -> FloatArray:
        """f(h), the inverse."""
        return np.where(h > self.level, self.level + self.scale * np.expm1(self._exponent(h)), h)

    def steepness(self, h: FloatArray) -> FloatArray:
        """df / dh."""
        return np.exp(self._exponent(h))

    def _above(self, f: FloatArray) -> FloatArray:
        return np.maximum(f - self.level, 0.0) / self.scale

    def _exponent(self, h: FloatArray) -> FloatArray:
        return np.clip((h - self.level) / self.scale, 0.0, tuning.MOST_EXPONENT)


UNCHANGED = Warp(np.inf, 1.0)


def warp_for(f: FloatArray) -> Warp | None:
    """The scale of values (n,), or None if they are not spread over orders of magnitude."""
    level = float(np.median(f))
    scale = level - float(f.min())
    if not scale > 0 or float(f.max()) - level <= tuning.WIDE * scale:
        return None
    return Warp(level, scale)


@dataclass(frozen=True)
class OnScale:
    """A risk of f as a function of h, in units of h: of the mean, Kolmogorov's mean of h."""

    warp: Warp
    of: Risk

    def tangent(self, h: FloatArray) -> tuple[FloatArray, FloatArray]:
        """h of the risk of equally likely values h (..., n), and its derivatives by them."""
        risk, w = self.of.tangent(self.warp.expand(h))
        slope = np.asarray(self.warp.slope(risk))
        return self.warp.compress(risk), slope[..., None] * w * self.warp.steepness(h)
