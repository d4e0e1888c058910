"""How well a kernel explains values: the marginal likelihood with priors, and its gradient.

The mean of f and its variance s2 are integrated out or set to their best: with r = y - m,
K = k(rows) + eta I, Q = r' K^-1 r + 1 (the 1 is a prior worth one observation of unit variance),

    cost = (n + 1)/2 log Q + 1/2 log |K| + priors.

With a = K^-1 r the gradient is the sum of M * dK, M = (K^-1 - (n + 1)/Q a a') / 2.
"""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, get_lapack_funcs
from scipy.spatial.distance import squareform

from phenes._validate import FloatArray
from phenes.gp import tuning
from phenes.gp.cloud import Cloud
from phenes.gp.kernel import Kernel, Shape, safe_cholesky
from phenes.gp.whitening import Pairs, Whitening

(POTRI,) = get_lapack_funcs(("potri",))  # the inverse, from a Cholesky factor


@dataclass(frozen=True)
class Prior:
    """Independent normal laws of the logarithms of the parameters, and their ranges."""

    mean: FloatArray
    std: FloatArray
    lower: FloatArray
    upper: FloatArray


def prior(shape: Shape, dim: int) -> Prior:
    """The prior of the logarithms of the parameters, in the order of `unpack`."""
    length = math.log(tuning.LENGTH) + 0.5 * math.log(dim)
    rows = [(length, tuning.LENGTH_SD, *tuning.LENGTHS)] * dim
    if shape.quadratic:
        axes, products = math.log(tuning.AXES / dim), math.log(tuning.PRODUCTS / dim)
        rows.append((axes, tuning.AXES_SD, *tuning.AMPLITUDES))
        rows.append((products, tuning.PRODUCTS_SD, *tuning.AMPLITUDES))
    if shape.effects:
        rows += [(math.log(tuning.EFFECT_LENGTH), tuning.EFFECT_LENGTH_SD, *tuning.LENGTHS)] * dim
        rows.append((math.log(tuning.EFFECTS), tuning.EFFECTS_SD, *tuning.AMPLITUDES))
    rows.append((math.log(tuning.ETA), tuning.ETA_SD, *tuning.ETAS))
    mean, std, low, high = np.array(rows).T
    return Prior(mean, std, np.log(low), np.log(high))


def unpack(shape: Shape, parameters: FloatArray) -> tuple[Kernel, float]:
    """The kernel and eta of a vector of logarithms.

    Of lengths, axes, products, effect lengths, effects and eta, those that the shape has.
    """
    values = np.exp(parameters)
    eta, values = float(values[-1]), values[:-1]
    # what remains are lengths in each coordinate, and one amplitude for each part
    dim = (values.size - 2 * shape.quadratic - shape.effects) // (1 + shape.effects)
    lengths, rest = values[:dim], values[dim:]
    axes, products = (float(rest[0]), float(rest[1])) if shape.quadratic else (0.0, 0.0)
    if not shape.effects:
        return Kernel(shape, lengths, axes, products), eta
    effects = rest[2 * shape.quadratic :]
    return Kernel(shape, lengths, axes, products, effects[:-1], float(effects[-1])), eta


def matrix(kernel: Kernel, rows: Cloud, eta: float, main: FloatArray | None = None) -> FloatArray:
    """Covariance of the values of the rows, relative to s2, (n, n). main: the main effects."""
    k = kernel.local(rows, rows) + kernel.quadratic(rows, rows)
    k += kernel.main(rows, rows) if main is None else main
    np.fill_diagonal(k, kernel.own(rows) + eta)
    return k


class MainEffects:
    """Main effects of rows: all coordinates together, and once for each pair of rows.

    The order of pairs is SciPy's, that of `squareform`.
    """

    def __init__(self, rows: Cloud):
        n, dim = rows.points.shape
        i, j = np.triu_indices(n, 1)
        self._squares = np.ascontiguousarray((rows.points[i] - rows.points[j]).T ** 2)
        self._spread: FloatArray | None = None
        if rows.cov is not None:
            variances = np.broadcast_to(rows.variances(), (n, dim))
            self._spread = np.ascontiguousarray((variances[i] + variances[j]).T)

    def each(self, lengths: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The effect of each coordinate for each pair, and its derivative by the log length."""
        scale = (lengths**2)[:, None]
        if self._spread is None:
            bent = self._squares / scale
            value = np.exp(-0.5 * bent)
            return value, value * bent
        total = scale + self._spread
        bent = self._squares / total
        value = np.exp(-0.5 * bent) * np.sqrt(scale / total)
        return value, value * (1 + scale * (bent - 1) / total)


class Likelihood:
    """cost(parameters) and its gradient for fixed rows and values.

    Parameters
    ----------
    shape : Shape
        Which kernel.
    rows : Cloud
        Points of n values.
    y : ndarray, shape (n,)
        Values, standardised.
    """

    def __init__(self, shape: Shape, rows: Cloud, y: FloatArray):
        self.shape, self.rows, self.y = shape, rows, y
        self.prior = prior(shape, rows.points.shape[1])
        self._features = rows.features if shape.quadratic else None
        self._effects = MainEffects(rows) if shape.effects else None

    def __call__(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """The cost and its gradient; a kernel that cannot be factored costs infinity."""
        kernel, eta = unpack(self.shape, parameters)
        n = self.y.size
        main, by_length = self._main(kernel)
        k = matrix(kernel, self.rows, eta, main)
        try:
            factor = safe_cholesky(k)
        except np.linalg.LinAlgError:
            return np.inf, np.zeros(parameters.size)
        solved = cho_solve((factor, True), np.stack([self.y, np.ones(n)], 1), check_finite=False)
        mean = float(solved[:, 0].sum() / solved[:, 1].sum())
        a = solved[:, 0] - mean * solved[:, 1]
        q = float((self.y - mean) @ a) + 1.0
        off = (parameters - self.prior.mean) / self.prior.std
        cost = 0.5 * (n + 1) * math.log(q) + float(np.sum(np.log(np.diag(factor))))
        inverse = POTRI(factor, lower=1)[0]
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        m = 0.5 * (inverse - (n + 1) / q * np.outer(a, a))
        parts = [_by_lengths(kernel, self.rows, m)]
        if self.shape.quadratic:
            parts.append(self._by_amplitudes(kernel, m))
        if main is not None:
            parts.append(kernel.share * by_length @ (2 * squareform(m, checks=False)))
            own = kernel.effects * float(np.trace(m))
            parts.append(np.array([own + float(np.sum(m * main))]))
        parts.append(np.array([eta * float(np.trace(m))]))
        gradient = np.concatenate(parts) + off / self.prior.std
        return cost + 0.5 * float(off @ off), gradient

    def _main(self, kernel: Kernel) -> tuple[FloatArray | None, FloatArray]:
        """Main effects (n, n), zero on the diagonal, and their derivatives by the log lengths.

        The latter for each pair of rows, (d, n (n - 1) / 2).
        """
        if self._effects is None or kernel.effect_lengths is None:
            return None, np.empty((0, 0))
        value, by_length = self._effects.each(kernel.effect_lengths)
        return squareform(kernel.share * value.sum(axis=0)), by_length

    def _by_amplitudes(self, kernel: Kernel, m: FloatArray) -> FloatArray:
        """Sum of M * dK for log axes and log products."""
        phi = self._features
        assert phi is not None
        dim = kernel.lengths.size
        weighed = np.sum(phi * (m @ phi), axis=0)
        if self.rows.cov is not None:
            # the diagonal has E phi^2 of one uncertain x, not of two independent ones
            unit = Kernel(self.shape, kernel.lengths, 1.0, 0.0)
            axes = unit.own(self.rows) - 1
            products = Kernel(self.shape, kernel.lengths, 0.0, 1.0).own(self.rows) - 1
            own = np.stack([axes, products]) - _split(phi**2, dim)
            extra = own @ np.diag(m)
        else:
            extra = np.zeros(2)
        sums = np.array([weighed[: 2 * dim].sum(), weighed[2 * dim :].sum()]) + extra
        return np.array([kernel.axes, kernel.products]) * sums


def _split(squares: FloatArray, dim: int) -> FloatArray:
    """Sums over the features of axes and of products, (2, n)."""
    return np.stack([squares[:, : 2 * dim].sum(axis=1), squares[:, 2 * dim :].sum(axis=1)])


def _by_lengths(kernel: Kernel, rows: Cloud, m: FloatArray) -> FloatArray:
    """Sum of M * dK for the logarithm of each length, (d,)."""
    apart = m.copy()
    np.fill_diagonal(apart, 0.0)  # the diagonal of K does not depend on the lengths
    total = np.zeros(kernel.lengths.size)
    parts = rows.parts
    for k, (index, part) in enumerate(parts):
        total += _inside(kernel, part, apart[np.ix_(index, index)])
        for others, other in parts[k + 1 :]:
            total += 2 * _across(kernel, part, other, apart[np.ix_(index, others)])
    return total


def _inside(kernel: Kernel, rows: Cloud, m: FloatArray) -> FloatArray:
    """Sum of M * dK of a part with itself; of a shared spread without an n x n x d array.

    With A = gL + S: d log k / d log l_j = 1 - g l_j^2 (A^-1)_jj + g l_j^2 (A^-1 (x - x'))_j^2.
    """
    if rows.each:
        return _across(kernel, rows, rows, m)
    total = np.zeros(kernel.lengths.size)
    centred = rows.points - rows.points.mean(axis=0)
    for g, weight in zip(kernel.shape.nodes, kernel.shape.weights, strict=True):
        scale = g * kernel.lengths**2
        white = Whitening(scale, None if rows.cov is None else 2 * rows.cov)
        u, v = white(centred), white.solve(centred)
        square = np.sum(u**2, axis=1)
        r2 = np.maximum(square[:, None] + square - 2 * u @ u.T, 0.0)
        each = m * (weight * math.exp(white.log_factor)) * np.exp(-0.5 * r2)
        sums = each.sum(axis=1) @ v**2 - np.sum(v * (each @ v), axis=0)
        total += each.sum() * (1 - scale * white.inverse_diagonal()) + 2 * scale * sums
    return total


def _across(kernel: Kernel, a: Cloud, b: Cloud, m: FloatArray) -> FloatArray:
    """Sum of M * dK of two parts, where pairs have their own spread."""
    total = np.zeros(kernel.lengths.size)
    for g, weight in zip(kernel.shape.nodes, kernel.shape.weights, strict=True):
        pairs = Pairs(g * kernel.lengths**2, a, b)
        total += np.einsum("ij,ijk->k", m * weight * pairs.value, pairs.slopes)
    return total
