"""A quadratic model of f, fitted to whitened points: no ranks, and no bias by them.

The residual, what the features cannot explain, tells how far to trust it.
"""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from phenes.adaptive import tuning
from phenes.adaptive.model import products
from phenes.adaptive.model.features import (
    axis_features,
    crosses,
    dear,
    design,
    full_features,
    higher,
    pairs,
)
from phenes.adaptive.model.least_squares import solve
from phenes.adaptive.model.products import Coefficients


@dataclass(frozen=True)
class Fit:
    """f = mean + g'u + sum_k h_k (u_k^2 - 1) / 2, u = turn' z."""

    mean: float
    g: np.ndarray  # [d], gradient along the columns of turn
    h: np.ndarray  # [d], curvatures
    turn: np.ndarray | None  # [d, d] orthogonal, in z; None: the axes of z
    crossed: bool  # whether it has products of coordinates, with a coefficient for each
    residual: float  # standard deviation of the residuals, corrected for degrees of freedom
    r2: float  # adjusted
    n: int
    features: int
    # residual of the outer half of the points over that of the inner: about 1 for noise of f, more
    # if the model is too simple
    outer: float

    @property
    def blur(self) -> float:
        """Standard error of each component of the gradient, or nearly so."""
        return self.residual / math.sqrt(max(self.n - self.features, 1))

    def value(self, u: np.ndarray, noise: np.ndarray) -> float:
        """E f at u under noise of these variances, both along the columns of turn."""
        return float(self.mean + self.g @ u + 0.5 * self.h @ (u**2 + noise - 1))

    def predict(self, z: np.ndarray) -> np.ndarray:
        """The model at whitened rows z."""
        u = z if self.turn is None else z @ self.turn
        return self.mean + u @ self.g + 0.5 * (u**2 - 1) @ self.h

    def explains(self, z: np.ndarray, f: np.ndarray) -> float:
        """Share of the variance of values f at whitened rows z that it explains."""
        variance = float(f.var()) if f.size > 1 else 0.0
        return 1 - float(np.mean((f - self.predict(z)) ** 2)) / variance if variance > 0 else 0.0

    def out_of(self, u: np.ndarray) -> np.ndarray:
        """The whitened vector that is u along the columns of turn."""
        return u if self.turn is None else self.turn @ u


def fit(
    z: np.ndarray, f: np.ndarray, crossed: bool = True, axes: np.ndarray | None = None
) -> Fit | None:
    """The richest model that whitened points z [n, d] allow.

    None if they are too few, or the values constant or not to be fitted. crossed: may it have
    products of coordinates? axes: columns [d, d] of length 1, coordinates of which f may be a sum
    of functions, instead of those of z; that model counts which explains more.
    """
    n, d = z.shape
    if crossed and full_features(d) <= tuning.LARGEST_FULL_MODEL and crosses(d, n):
        return _fit(z, f, True)
    best = _fit(z, f, False)
    if best is not None and axes is not None:
        separable = _fit(z @ axes, f, False)
        if separable is not None and separable.residual < best.residual:
            best = _turned(separable, axes)
    # a handful of rows that are held out would tell nothing
    return _with_products(z, f, best) if crossed and dear(d) and best is not None else best


def _turned(separable: Fit, axes: np.ndarray) -> Fit:
    """A model of the coordinates z @ axes, along the eigenvectors of its Hessian.

    The Hessian in z is axes diag(h) axes', of the same trace, since the columns have length 1.
    """
    h, turn = np.linalg.eigh((axes * separable.h) @ axes.T)
    return dataclasses.replace(separable, g=turn.T @ (axes @ separable.g), h=h, turn=turn)


def _with_products(z: np.ndarray, f: np.ndarray, axes: Fit) -> Fit:
    """The model of the axes and all products, by conjugate gradients; the former if no better."""
    n, d = z.shape
    turn = np.eye(d) if axes.turn is None else axes.turn
    start = Coefficients(axes.mean, turn @ axes.g, (turn * axes.h) @ turn.T)
    at, missed = products.solve(z, f, start)
    residual = float(np.sqrt(missed @ missed / missed.size))
    if residual >= axes.residual:
        return axes
    h, turn = np.linalg.eigh(at.h)
    return Fit(
        mean=at.c,
        g=turn.T @ at.g,
        h=h,
        turn=turn,
        crossed=True,
        residual=residual,
        r2=1 - residual**2 / float(f.var()),
        n=n,
        features=axes.features,
        outer=axes.outer,
    )


def _fit(z: np.ndarray, f: np.ndarray, full: bool) -> Fit | None:
    n, d = z.shape
    p = full_features(d) if full else axis_features(d)
    least = tuning.LEAST_ROWS_PER_FEATURE
    centre = spread = 0.0
    if n > least * p:
        with np.errstate(over="ignore", invalid="ignore"):
            centre = float(f.mean())
            spread = float(f.std())
    finite = np.isfinite(centre) and np.isfinite(spread)
    if not (finite and spread > tuning.LEAST_SPREAD * abs(centre)):
        return None
    a = design(z, full)
    b = (f - centre) / spread
    coefficients = solve(a, b)
    if coefficients is None:
        return None
    rest = (b - a @ coefficients) ** 2
    residual = float(np.sqrt(np.sum(rest) / (n - p)))
    mean, g, h, turn = _unpack(coefficients, d, full)
    return Fit(
        mean=centre + spread * mean,
        g=spread * g,
        h=spread * h,
        turn=turn,
        crossed=full,
        residual=spread * residual,
        r2=1 - residual**2 * (n - 1) / n,
        n=n,
        features=p,
        outer=_outer(z, rest),
    )


def _outer(z: np.ndarray, rest: np.ndarray) -> float:
    """Root mean square of the residuals of the outer half of the points over the inner half's."""
    order = np.argsort(np.sum(z**2, axis=1))
    half = rest.size // 2
    inner = max(float(np.mean(rest[order[:half]])), tuning.TINY)
    return float(np.sqrt(np.mean(rest[order[half:]]) / inner))


def enrich(z: np.ndarray, f: np.ndarray, plain: Fit) -> Fit:
    """The same model with more of f explained by features of third and fourth order.

    Under N(0, I) Hermite polynomials are orthogonal: gradient and Hessian stay what they were and
    only their errors become smaller. The plain model if there are too few rows for more.
    """
    n, d = z.shape
    if plain.turn is None or plain.features < full_features(d):
        return plain
    mixed = _affordable(n, d, plain.features)
    if mixed is None:
        return plain
    u = z @ plain.turn
    centre = float(f.mean())
    spread = float(f.std())
    a = np.concatenate([design(u, True), higher(u, mixed)], axis=1)
    b = (f - centre) / spread
    p = a.shape[1]
    coefficients = solve(a, b)
    if coefficients is None:
        return plain
    residual = float(np.sqrt(np.sum((b - a @ coefficients) ** 2) / (n - p)))
    if spread * residual >= plain.residual:
        return plain
    mean, g, h, turn = _unpack(coefficients[: plain.features], d, True)
    assert turn is not None
    return Fit(
        mean=centre + spread * mean,
        g=spread * g,
        h=spread * h,
        turn=plain.turn @ turn,
        crossed=True,
        residual=spread * residual,
        r2=1 - residual**2,
        n=n,
        features=p,
        outer=plain.outer,
    )


def _affordable(n: int, d: int, features: int) -> bool | None:
    """Whether n rows suffice for mixed features; None if they do not suffice for any."""
    for mixed in (True, False):
        p = features + 2 * d + (d * (d - 1) if mixed else 0)
        if p <= tuning.LARGEST_FULL_MODEL and n > tuning.LEAST_ROWS_PER_RICH_FEATURE * p:
            return mixed
    return None


def _unpack(
    coefficients: np.ndarray, d: int, full: bool
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray | None]:
    """Mean, gradient, curvatures and, with products of coordinates, the Hessian's eigenvectors."""
    mean = float(coefficients[0])
    g = coefficients[1 : d + 1]
    h = np.sqrt(2) * coefficients[d + 1 : 2 * d + 1]
    if not full:
        return mean, g, h, None
    hessian = np.diag(h)
    j, k = pairs(d)
    hessian[j, k] = hessian[k, j] = coefficients[2 * d + 1 :]
    values, turn = np.linalg.eigh(hessian)
    return mean, turn.T @ g, values, turn
