"""Covariances of f, and of f averaged over Gaussian inputs, in closed form.

A kernel has up to three parts,

    k(x, x') = sum_g w_g exp(-r^2 / 2g)    r^2 = (x - x')' L^-1 (x - x')
               + a/d sum_j exp(-(x_j - x'_j)^2 / 2 m_j^2)
               + phi(x)' R phi(x').

The first is local: one node g = 1 is the squared exponential; nodes of a Gamma law are Matern 5/2.
The second are main effects: a function of each coordinate alone, which few values are enough for,
since every value says something of each. phi are the linear, quadratic and product terms of z, the
coordinates in units of the box. If x ~ N(a, V) and x' ~ N(b, V') are independent, the expectation
of k(x, x') has the same form, with gL + V + V' in the place of gL, variances added to m_j^2, and
the expected phi. That one formula serves rows that were measured (V = 0), rows that were not (V =
what is not known of x), evaluations under way, and F(theta) = E f(x) (V = C).
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
from scipy.linalg import cho_factor
from scipy.spatial.distance import cdist

from phenes._validate import FloatArray
from phenes.gp import tuning
from phenes.gp.cloud import Cloud, added, squared_features, summed_slopes
from phenes.gp.whitening import Pairs, Whitening


@dataclass(frozen=True)
class Shape:
    """Which kernel: nodes and weights of the mixture, and which other parts it has."""

    name: str
    nodes: tuple[float, ...]
    weights: tuple[float, ...]
    quadratic: bool
    effects: bool = False


@functools.cache
def squared_exponential(quadratic: bool) -> Shape:
    """One node: infinitely smooth."""
    return Shape("SE + quadratic" if quadratic else "SE", (1.0,), (1.0,), quadratic)


@functools.cache
def with_main_effects() -> Shape:
    """A squared exponential, a quadratic part, and a function of each coordinate."""
    return Shape("SE + quadratic + main effects", (1.0,), (1.0,), True, effects=True)


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
    """A kernel with its parameters.

    lengths [d]; axes, products: amplitudes of the quadratic part; effect_lengths [d], effects: of
    the main effects, all together. The amplitude of the local part is 1: the variance of f
    multiplies the whole.
    """

    shape: Shape
    lengths: FloatArray
    axes: float = 0.0
    products: float = 0.0
    effect_lengths: FloatArray | None = None
    effects: float = 0.0

    def covariance(self, a: Cloud, b: Cloud) -> FloatArray:
        """E k(x, x') for independent x of a and x' of b, (m, n)."""
        return self.local(a, b) + self.beyond(a, b)

    def beyond(self, a: Cloud, b: Cloud) -> FloatArray:
        """What is not local: main effects and the quadratic part, (m, n)."""
        return self.main(a, b) + self.quadratic(a, b)

    def stationary(self, a: Cloud, b: Cloud) -> FloatArray:
        """What does not depend on where x is: the local part and main effects, (m, n)."""
        return self.local(a, b) + self.main(a, b)

    def local(self, a: Cloud, b: Cloud) -> FloatArray:
        """The part of the mixture of squared exponentials, (m, n)."""
        if len(a.parts) == len(b.parts) == 1:
            return self._block(a.parts[0][1], b.parts[0][1])
        value = np.zeros((len(a), len(b)))
        for rows, one in a.parts:
            for columns, other in b.parts:
                value[np.ix_(rows, columns)] = self._block(one, other)
        return value

    @functools.cached_property
    def single(self) -> tuple[Kernel, ...]:
        """A kernel in one dimension for each main effect; none without."""
        if self.effect_lengths is None:
            return ()
        shape = squared_exponential(False)
        return tuple(Kernel(shape, each[None]) for each in self.effect_lengths)

    @property
    def share(self) -> float:
        """Amplitude of each main effect."""
        return self.effects / self.lengths.size

    def main(self, a: Cloud, b: Cloud) -> FloatArray:
        """The main effects, (m, n)."""
        value = np.zeros((len(a), len(b)))
        for j, one in enumerate(self.single):
            value += one.local(a.coordinates[j], b.coordinates[j])
        return self.share * value

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
        for j, one in enumerate(self.single):
            value, rise = one.at(blurred.coordinates[j], rows.coordinates[j])
            k += self.share * value
            slope[:, j] += self.share * rise[:, 0]
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
        for j, one in enumerate(self.single):
            value, rise = one.weighed(points[:, j : j + 1], w, rows.coordinates[j])
            k += self.share * value
            slope[:, j] += self.share * rise[:, 0]
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
        value = np.full(len(a), 1 + self.effects)
        if self.shape.quadratic:
            axes, products = squared_features(a)
            value = value + self.axes * axes + self.products * products
        return value

    def averaged(self, a: Cloud) -> FloatArray:
        """E k(x, x') for independent x, x' of the same row: the prior variance of F, (n,)."""
        return self.averaged_stationary(a.cov) + self.averaged_quadratic(a)

    def averaged_stationary(self, cov: FloatArray | None) -> float:
        """The stationary parts in `averaged`, which do not depend on where x is."""
        value, spread = 0.0, None if cov is None else 2 * cov
        for g, weight in zip(self.shape.nodes, self.shape.weights, strict=True):
            value += weight * math.exp(Whitening(g * self.lengths**2, spread).log_factor)
        if self.single and cov is not None:
            variances = cov if cov.ndim == 1 else np.diag(cov)
            for one, v in zip(self.single, variances, strict=True):
                value += self.share * one.averaged_stationary(v[None])
        elif self.single:
            value += self.effects
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
