"""Where the search looks: the box of the bounds, or what x0 and sigma0 suggest, in units u."""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri

from phenes._validate import FloatArray
from phenes.gp import tuning
from phenes.space import Lattice


@dataclass(frozen=True)
class Region:
    """Units u = (theta - origin) / width, and the box in u that is searched now.

    The first box is [0, 1]^d: what the bounds allow within some sigma0 of x0. It grows with the
    answer, up to the bounds.
    """

    origin: FloatArray
    width: FloatArray
    low: FloatArray
    high: FloatArray
    least: FloatArray  # the bounds in u; -inf: none
    most: FloatArray
    lattice: Lattice | None = None  # None: all coordinates are real numbers

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return self.width.size

    def to_u(self, theta: FloatArray) -> FloatArray:
        """Rows or one vector in units of the first box."""
        return (theta - self.origin) / self.width

    def to_theta(self, u: FloatArray) -> FloatArray:
        """The reverse; rounding may leave the bounds."""
        return self.origin + self.width * u

    def covariance(self, cov: FloatArray) -> FloatArray | None:
        """Variances or a covariance in u; None if they are zero."""
        if not np.any(cov):
            return None
        return cov / (self.width**2 if cov.ndim == 1 else np.outer(self.width, self.width))

    def inside(self, u: FloatArray) -> FloatArray:
        """The nearest points of the box."""
        return np.clip(u, self.low, self.high)

    def snap(self, u: FloatArray) -> FloatArray:
        """The nearest points of the lattice, rows or one vector."""
        return u if self.lattice is None else self.to_u(self.lattice.snap(self.to_theta(u)))

    def around_point(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The sides of the box; of coordinates that are no real numbers, where u is."""
        if self.lattice is None:
            return self.low, self.high
        fixed = self.lattice.fixed
        return np.where(fixed, u, self.low), np.where(fixed, u, self.high)

    def spread(self, unit: FloatArray) -> FloatArray:
        """Points of the unit cube, all over the box."""
        return self.low + (self.high - self.low) * unit

    def normal(self, unit: FloatArray, centre: FloatArray, std: FloatArray) -> FloatArray:
        """Points of the unit cube as draws of a normal law (d,), cut off at the bounds."""
        low, high = ndtr((self.least - centre) / std), ndtr((self.most - centre) / std)
        share = np.clip(low + (high - low) * unit, tuning.TINY, 1 - tuning.ROUNDING)
        return np.clip(centre + std * ndtri(share), self.least, self.most)

    def near(self, u: FloatArray, share: float) -> Region:
        """The part of the region around u, with this share of its sides; all of each choice."""
        if share == 1:
            return self
        reach = 0.5 * share * (self.high - self.low)
        low, high = np.maximum(self.low, u - reach), np.minimum(self.high, u + reach)
        if self.lattice is not None:
            fixed = self.lattice.fixed
            low, high = np.where(fixed, self.low, low), np.where(fixed, self.high, high)
        return replace(self, low=low, high=high)

    def wider(self, factor: float) -> Region:
        """The region with the same centre and so many times as wide, where the bounds allow."""
        if factor == 1:
            return self
        reach = 0.5 * (factor - 1) * (self.high - self.low)
        low, high = (
            np.maximum(self.low - reach, self.least),
            np.minimum(self.high + reach, self.most),
        )
        return replace(self, low=low, high=high)

    def around(self, u: FloatArray) -> Region:
        """The region that reaches a share of its size beyond u, where the bounds allow."""
        reach = tuning.GROW * (self.high - self.low)
        low = np.maximum(np.minimum(self.low, u - reach), self.least)
        high = np.minimum(np.maximum(self.high, u + reach), self.most)
        return replace(self, low=low, high=high)


def make_region(
    x0: FloatArray,
    sigma0: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    lattice: Lattice | None = None,
) -> Region:
    """The region of a search from x0, within the bounds."""
    origin = np.maximum(x0 - tuning.REACH * sigma0, lower)
    width = np.minimum(x0 + tuning.REACH * sigma0, upper) - origin
    zero, one = np.zeros(x0.size), np.ones(x0.size)
    least, most = (lower - origin) / width, (upper - origin) / width
    least, most = np.minimum(least, 0.0), np.maximum(most, 1.0)
    return Region(origin, width, zero, one, least, most, lattice)
