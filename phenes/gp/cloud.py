"""Points, each known up to a Gaussian, and what is expected of polynomials there."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from phenes._validate import FloatArray, IntArray

BOX_STD = 1 / math.sqrt(12)  # standard deviation of a uniform law on [0, 1]


@dataclass(frozen=True)
class Cloud:
    """Points, each known up to a Gaussian: x_i ~ N(points_i, V_i).

    Parameters
    ----------
    points : ndarray, shape (n, d)
        Means.
    cov : ndarray or None
        None: the points are exact. Shape (d,) or (d, d): variances or covariance of all. Shape
        (n, d) or (n, d, d) with `each`: one for each row.
    each : bool
        Whether every row has its own.
    """

    points: FloatArray
    cov: FloatArray | None = None
    each: bool = False

    def __len__(self) -> int:
        return len(self.points)

    def some(self, index: IntArray) -> Cloud:
        """Some of the points."""
        cov = self.cov[index] if self.each and self.cov is not None else self.cov
        return Cloud(self.points[index], cov, self.each)

    @property
    def full(self) -> bool:
        """Whether covariances are matrices."""
        return self.cov is not None and self.cov.ndim == (3 if self.each else 2)

    def variances(self) -> FloatArray:
        """Variance of each coordinate, (n, d) or (1, d)."""
        if self.cov is None:
            return np.zeros((1, self.points.shape[1]))
        cov = self.cov if self.each else self.cov[None]
        return np.diagonal(cov, axis1=1, axis2=2) if self.full else cov

    @functools.cached_property
    def coordinates(self) -> tuple[Cloud, ...]:
        """Each coordinate alone: d clouds in one dimension."""
        columns = np.split(self.points, self.points.shape[1], axis=1)
        if self.cov is None:
            return tuple(Cloud(column) for column in columns)
        if self.each:
            variances = self.variances()
            spread = np.split(variances, variances.shape[1], axis=1)
            return tuple(
                Cloud(column, v, each=True) for column, v in zip(columns, spread, strict=True)
            )
        variances = self.variances()[0]
        return tuple(Cloud(column, v[None]) for column, v in zip(columns, variances, strict=True))

    @functools.cached_property
    def features(self) -> FloatArray:
        """E phi(x): z_j, (z_j^2 - 1) / sqrt 2, z_i z_j; (n, p)."""
        z = (self.points - 0.5) / BOX_STD
        i, j = pairs(z.shape[1])
        squares = z**2 + self.variances() / BOX_STD**2
        crossed = z[:, i] * z[:, j] + self.products() / BOX_STD**2
        return np.concatenate([z, (squares - 1) / math.sqrt(2), crossed], axis=1)

    @functools.cached_property
    def feature_slopes(self) -> FloatArray:
        """Derivatives of `features` of the only point, (p, d)."""
        return feature_slopes(self.points[0])

    @functools.cached_property
    def parts(self) -> list[tuple[IntArray, Cloud]]:
        """Rows that are exact, and rows that are not, with their indices.

        Where the latter all have the same covariance, it is a shared one, which costs less.
        """
        if not self.each or self.cov is None:
            return [(np.arange(len(self)), self)]
        flat = self.cov.reshape(len(self), -1)
        sure = ~np.any(flat, axis=1)
        found: list[tuple[IntArray, Cloud]] = []
        if sure.any():
            found.append((np.flatnonzero(sure), Cloud(self.points[sure])))
        if not sure.all():
            points, cov = self.points[~sure], self.cov[~sure]
            same = bool(np.all(cov == cov[0]))
            cloud = Cloud(points, cov[0]) if same else Cloud(points, cov, each=True)
            found.append((np.flatnonzero(~sure), cloud))
        return found

    def products(self) -> FloatArray:
        """Covariances of the pairs i < j of coordinates, (n, p) or (1, p)."""
        dim = self.points.shape[1]
        i, j = pairs(dim)
        if self.cov is None or not self.full:
            return np.zeros((1, i.size))
        return (self.cov if self.each else self.cov[None])[:, i, j]


def added(a: FloatArray | None, b: FloatArray | None) -> FloatArray | None:
    """The sum of covariances that may be variances or nothing."""
    if a is None or b is None:
        return b if a is None else a
    if a.ndim == b.ndim:
        return a + b
    return (np.diag(a) if a.ndim == 1 else a) + (np.diag(b) if b.ndim == 1 else b)


@functools.lru_cache(maxsize=8)
def pairs(dim: int) -> tuple[IntArray, IntArray]:
    """Indices i < j of all pairs of coordinates."""
    return np.triu_indices(dim, 1)


def feature_slopes(theta: FloatArray) -> FloatArray:
    """Derivatives of `features` at one theta, (p, d)."""
    z = (theta - 0.5) / BOX_STD
    i, j = pairs(z.size)
    axis, product = np.arange(z.size), 2 * z.size + np.arange(i.size)
    slopes = np.zeros((2 * z.size + i.size, z.size))
    slopes[axis, axis] = 1.0
    slopes[z.size + axis, axis] = math.sqrt(2) * z
    slopes[product, i] = z[j]
    slopes[product, j] = z[i]
    return slopes / BOX_STD


def summed_slopes(points: FloatArray, w: FloatArray) -> FloatArray:
    """The sum of `feature_slopes` at points (s, d) with weights w (s,); they are affine, (p, d)."""
    middle = np.full(points.shape[1], 0.5)
    still = feature_slopes(middle)
    return float(w.sum()) * still + feature_slopes(middle + w @ (points - middle)) - still


def squared_features(a: Cloud) -> tuple[FloatArray, FloatArray]:
    """E phi(x)' phi(x), of the axes and of the products: fourth moments of a Gaussian, (n,)."""
    z = (a.points - 0.5) / BOX_STD
    v = a.variances() / BOX_STD**2
    i, j = pairs(z.shape[1])
    c = a.products() / BOX_STD**2
    second = z**2 + v
    fourth = z**4 + 6 * z**2 * v + 3 * v**2  # E z^4
    axes = second + (fourth - 2 * second + 1) / 2
    crossed = second[:, i] * second[:, j] + 4 * z[:, i] * z[:, j] * c + 2 * c**2
    return axes.sum(axis=1), crossed.sum(axis=1)
