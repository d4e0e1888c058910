"""Covariances of f, and of f averaged over Gaussian inputs, in closed form.

A kernel is a mixture of squared exponentials plus a quadratic part,

    k(x, x') = sum_g w_g exp(-r^2 / 2g) + phi(x)' R phi(x'),    r^2 = (x - x')' L^-1 (x - x').

One node g = 1 is the squared exponential; nodes of a Gamma law are Matern 5/2. phi are the linear,
quadratic and product terms of z, the coordinates in units of the box. If x ~ N(a, V) and
x' ~ N(b, V') are independent, the expectation of k(x, x') has the same form, with gL + V + V' in
the place of gL and the expected phi. That one formula serves rows that were measured (V = 0), rows
that were not (V = what is not known of x), evaluations under way, and F(theta) = E f(x) (V = C).
"""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from scipy import special
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.spatial.distance import cdist

from phenes._validate import FloatArray, IntArray
from phenes.gp import tuning

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


@dataclass(frozen=True)
class Shape:
    """Which kernel: nodes and weights of the mixture, and whether it has a quadratic part."""

    name: str
    nodes: tuple[float, ...]
    weights: tuple[float, ...]
    quadratic: bool


@functools.cache
def squared_exponential(quadratic: bool) -> Shape:
    """One node: infinitely smooth."""
    return Shape("SE + quadratic" if quadratic else "SE", (1.0,), (1.0,), quadratic)


@functools.cache
def matern(quadratic: bool) -> Shape:
    """Matern 5/2: g ~ Gamma(5/2, rate 5/2), by Gauss-Laguerre quadrature."""
    order = tuning.MATERN_ORDER
    nodes, weights = special.roots_genlaguerre(tuning.MATERN_NODES, order - 1)
    name = "Matern + quadratic" if quadratic else "Matern"
    shares = weights / weights.sum()
    return Shape(name, tuple(map(float, nodes / order)), tuple(map(float, shares)), quadratic)


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters. lengths [d]; axes, products: amplitudes of the quadratic part.

    The amplitude of the mixture is 1: the variance of f multiplies the whole.
    """

    shape: Shape
    lengths: FloatArray
    axes: float = 0.0
    products: float = 0.0

    def covariance(self, a: Cloud, b: Cloud) -> FloatArray:
        """E k(x, x') for independent x of a and x' of b, (m, n)."""
        return self.stationary(a, b) + self.quadratic(a, b)

    def stationary(self, a: Cloud, b: Cloud) -> FloatArray:
        """The part of the mixture of squared exponentials, (m, n)."""
        if len(a.parts) == len(b.parts) == 1:
            return self._block(a.parts[0][1], b.parts[0][1])
        value = np.zeros((len(a), len(b)))
        for rows, one in a.parts:
            for columns, other in b.parts:
                value[np.ix_(rows, columns)] = self._block(one, other)
        return value

    def _block(self, a: Cloud, b: Cloud) -> FloatArray:
        value = np.zeros((len(a), len(b)))
        for g, weight in zip(self.shape.nodes, self.shape.weights, strict=True):
            scale = g * self.lengths**2
            if a.each or b.each:
                value += weight * Pairs(scale, a, b).value
            else:
                white = Whitening(scale, added(a.cov, b.cov))
                each = cdist(white(a.points), white(b.points), "sqeuclidean")
                each *= -0.5  # in place: it is large, and this is most of what an ask does
                np.exp(each, out=each)
                each *= weight * math.exp(white.log_factor)
                value += each
        return value

    def at(self, blurred: Cloud, rows: Cloud) -> tuple[FloatArray, FloatArray]:
        """`covariance` of one blurred theta with the rows (n,), and its slope (n, d)."""
        theta, noise = blurred.points[0], blurred.cov
        k, slope = np.zeros(len(rows)), np.zeros((len(rows), theta.size))
        for index, part in rows.parts:
            apart = theta - part.points
            for g, weight in zip(self.shape.nodes, self.shape.weights, strict=True):
                scale = g * self.lengths**2
                if part.each:
                    each = Pairs(scale, blurred, part)
                    value, solved = weight * each.value[0], each.solved[0]
                else:
                    white = Whitening(scale, added(noise, part.cov))
                    solved = white.solve(apart)
                    square = np.einsum("ij,ij->i", apart, solved)
                    value = weight * np.exp(white.log_factor - 0.5 * square)
                k[index] += value
                slope[index] -= value[:, None] * solved
        if self.shape.quadratic:
            weighed = rows.features * self.amplitudes
            k += weighed @ blurred.features[0]
            slope += weighed @ blurred.feature_slopes
        return k, slope

    def weighed(
        self, points: FloatArray, w: FloatArray, rows: Cloud
    ) -> tuple[FloatArray, FloatArray]:
        """Covariance of the sum of f at points (s, d), with weights w (s,), with the rows (n,).

        And its slope (n, d) as all points move alike.
        """
        k, slope = np.zeros(len(rows)), np.zeros((len(rows), points.shape[1]))
        for index, part in rows.parts:
            for g, weight in zip(self.shape.nodes, self.shape.weights, strict=True):
                scale = g * self.lengths**2
                if part.each:
                    each = Pairs(scale, Cloud(points), part)
                    value = (weight * w)[:, None] * each.value
                    slope[index] -= np.einsum("sn,snd->nd", value, each.solved)
                else:
                    white = Whitening(scale, part.cov)
                    r2 = cdist(white(points), white(part.points), "sqeuclidean")
                    factor = weight * math.exp(white.log_factor)
                    value = (factor * w)[:, None] * np.exp(-0.5 * r2)
                    apart = value.T @ points - value.sum(axis=0)[:, None] * part.points
                    slope[index] -= white.solve(apart)
                k[index] += value.sum(axis=0)
        if self.shape.quadratic:
            weighed = rows.features * self.amplitudes
            k += weighed @ (w @ Cloud(points).features)
            slope += weighed @ summed_slopes(points, w)
        return k, slope

    def weighed_own(self, points: FloatArray, w: FloatArray) -> tuple[float, FloatArray]:
        """Prior variance of the sum of f at points (s, d), with weights w, and its slope (d,)."""
        cloud = Cloud(points)
        value = float(w @ self.covariance(cloud, cloud) @ w)
        if not self.shape.quadratic:
            return value, np.zeros(points.shape[1])
        phi = w @ cloud.features
        return value, 2 * (phi * self.amplitudes) @ summed_slopes(points, w)

    def quadratic(self, a: Cloud, b: Cloud) -> FloatArray:
        """The quadratic part, (m, n)."""
        if not self.shape.quadratic:
            return np.zeros((len(a), len(b)))
        return (a.features * self.amplitudes) @ b.features.T

    @functools.cached_property
    def amplitudes(self) -> FloatArray:
        """Prior variance of each coefficient of phi, relative to that of f, (p,)."""
        dim = self.lengths.size
        return np.concatenate(
            [np.full(2 * dim, self.axes), np.full(dim * (dim - 1) // 2, self.products)]
        )

    def own(self, a: Cloud) -> FloatArray:
        """E k(x, x) for x of a: the prior variance of f at one uncertain point, (n,)."""
        value = np.ones(len(a))
        if self.shape.quadratic:
            axes, products = squared_features(a)
            value = value + self.axes * axes + self.products * products
        return value

    def averaged(self, a: Cloud) -> FloatArray:
        """E k(x, x') for independent x, x' of the same row: the prior variance of F, (n,)."""
        return self.averaged_stationary(a.cov) + self.averaged_quadratic(a)

    def averaged_stationary(self, cov: FloatArray | None) -> float:
        """The part of the mixture in `averaged`, which does not depend on where x is."""
        value, spread = 0.0, None if cov is None else 2 * cov
        for g, weight in zip(self.shape.nodes, self.shape.weights, strict=True):
            value += weight * math.exp(Whitening(g * self.lengths**2, spread).log_factor)
        return value

    def averaged_quadratic(self, a: Cloud) -> FloatArray:
        """The quadratic part of `averaged`, (n,)."""
        if not self.shape.quadratic:
            return np.zeros(len(a))
        return a.features**2 @ self.amplitudes

    def averaged_slope(self, blurred: Cloud) -> FloatArray:
        """Derivative of `averaged` at one blurred theta, (d,)."""
        if not self.shape.quadratic:
            return np.zeros(self.lengths.size)
        return 2 * (blurred.features[0] * self.amplitudes) @ blurred.feature_slopes


class Whitening:
    """Coordinates in which (scale + spread) is the identity.

    scale [d]: variances of the kernel; spread: what is added, [d] or [d, d]. log_factor:
    log |I + spread / scale|^-1/2.
    """

    def __init__(self, scale: FloatArray, spread: FloatArray | None):
        self._root: FloatArray | None = None
        self._std = np.sqrt(scale)
        self.log_factor = 0.0
        if spread is not None and spread.ndim == 1:
            self._std = np.sqrt(scale + spread)
            self.log_factor = 0.5 * float(np.sum(np.log(scale / (scale + spread))))
        elif spread is not None:
            root: FloatArray = np.linalg.cholesky(spread + np.diag(scale)).astype(np.float64)
            self._root = root
            logs = np.log(np.diag(root))
            self.log_factor = 0.5 * float(np.sum(np.log(scale))) - float(np.sum(logs))

    def __call__(self, points: FloatArray) -> FloatArray:
        """Rows (n, d) in the white coordinates."""
        if self._root is None:
            return points / self._std
        return solve_triangular(self._root, points.T, lower=True, check_finite=False).T

    def solve(self, points: FloatArray) -> FloatArray:
        """(scale + spread)^-1 times each row, (n, d)."""
        if self._root is None:
            return points / self._std**2
        return cho_solve((self._root, True), points.T, check_finite=False).T

    def inverse_diagonal(self) -> FloatArray:
        """Diagonal of (scale + spread)^-1, (d,)."""
        if self._root is None:
            return self._std**-2.0
        return np.diag(cho_solve((self._root, True), np.eye(len(self._root))))


class Pairs:
    """One node where every pair of rows has its own spread.

    value (m, n): the expected kernel. solved (m, n, d): (scale + spread)^-1 (x - x'). slopes
    (m, n, d): derivatives of log value by the logarithm of each length.
    """

    def __init__(self, scale: FloatArray, a: Cloud, b: Cloud):
        self.scale, self.spread = scale, _pairwise(a, b)
        self.apart = a.points[:, None, :] - b.points[None, :, :]
        self._inverse: FloatArray | None = None
        if self.spread.ndim == 3:
            total = scale + self.spread
            self.solved = self.apart / total
            log = 0.5 * np.sum(np.log(scale / total), axis=2)
        else:
            inverse: FloatArray = np.linalg.inv(self.spread + np.diag(scale)).astype(np.float64)
            self._inverse = inverse
            self.solved = (inverse @ self.apart[..., None])[..., 0]
            log = 0.5 * (np.sum(np.log(scale)) + np.linalg.slogdet(inverse)[1])
        self.value = np.exp(log - 0.5 * np.sum(self.apart * self.solved, axis=2))

    @property
    def slopes(self) -> FloatArray:
        diagonal = (
            1 / (self.scale + self.spread)
            if self._inverse is None
            else np.diagonal(self._inverse, axis1=2, axis2=3)
        )
        return 1 + self.scale * (self.solved**2 - diagonal)


def added(a: FloatArray | None, b: FloatArray | None) -> FloatArray | None:
    """The sum of covariances that may be variances or nothing."""
    if a is None or b is None:
        return b if a is None else a
    if a.ndim == b.ndim:
        return a + b
    return (np.diag(a) if a.ndim == 1 else a) + (np.diag(b) if b.ndim == 1 else b)


def _pairwise(a: Cloud, b: Cloud) -> FloatArray:
    """V_i + V_j for every pair, (m, n, d) or (m, n, d, d); 1 for m or n where all are the same."""
    full = a.full or b.full
    return _rows(a, full)[:, None] + _rows(b, full)[None, :]


def _rows(cloud: Cloud, full: bool) -> FloatArray:
    """Covariances with an axis of rows (of length 1 if they share one)."""
    dim = cloud.points.shape[1]
    if cloud.cov is None:
        return np.zeros((1, dim, dim) if full else (1, dim))
    cov = cloud.cov if cloud.each else cloud.cov[None]
    return cov[..., None] * np.eye(dim) if full and not cloud.full else cov


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


def safe_cholesky(matrix: FloatArray) -> FloatArray:
    """The lower Cholesky factor, with the least jitter that makes it exist."""
    size = float(np.mean(np.diag(matrix)))
    for jitter in tuning.JITTERS:
        try:
            lifted = matrix + jitter * size * np.eye(len(matrix))
            return cho_factor(lifted, lower=True, check_finite=False)[0]
        except np.linalg.LinAlgError:
            continue
    raise np.linalg.LinAlgError("the covariance of the rows is not positive definite")
