"""A quadratic model of f by least squares on Hermite features of whitened points.

For z ~ N(0, I) the coefficients of 1, z and the second Hermite polynomials are the mean, gradient
and Hessian of the *smoothed* objective E f(mean + z) (Stein's identity): no ranks, no bias by them.
The residual, what the features cannot explain, tells how far to trust them.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

# More features than this (d > 43) cost more time than they save evaluations: curvature along the
# axes only.
LARGEST_FULL_MODEL = 1000

# Up to this many features the normal equations are solved directly, beyond it by conjugate
# gradients at O(n p) a step.
LARGEST_DIRECT = 1000
CG_STEPS = 40  # enough for a random design of twice as many rows as columns (condition about 34)

# Models with more features than this are fitted rarely: their cost grows like p^3.
DEAR_FEATURES = 400

# Keeps nearly collinear designs solvable, far below any real signal.
RIDGE = 1e-7


# Rows per feature below which a model is not tried: its errors would be larger than what it
# explains.
ROWS_PER_FEATURE = 1.15


# The same for features that only make errors smaller: well worth their rows.
ROWS_PER_RICH_FEATURE = 2.0


def full_features(dim: int) -> int:
    return 1 + dim + dim * (dim + 1) // 2


def features_of(dim: int) -> int:
    """Number of features of the richest model in this dimension."""
    return full_features(dim) if full_features(dim) <= LARGEST_FULL_MODEL else axis_features(dim)


def axis_features(dim: int) -> int:
    """Number of features of the model with curvature along the axes only."""
    return 1 + 2 * dim


def dear(dim: int) -> bool:
    """Is the richest model so large (d > 27) that fitting it at every turn would cost more than
    most functions do?
    """
    return features_of(dim) > DEAR_FEATURES


@dataclass(frozen=True)
class Fit:
    """f = mean + g'u + sum_k h_k (u_k^2 - 1) / 2, u = turn' z."""

    mean: float
    g: np.ndarray  # [d], gradient along the columns of turn
    h: np.ndarray  # [d], curvatures
    turn: np.ndarray | None  # [d, d] eigenvectors in z; None: the axes
    residual: float  # standard deviation of what is not explained, freed of the number of features
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
        """E f where the mean is u and the variances of the noise are `noise` (both along the
        columns of turn).
        """
        return float(self.mean + self.g @ u + 0.5 * self.h @ (u**2 + noise - 1))

    def predict(self, z: np.ndarray) -> np.ndarray:
        """The model at whitened rows z."""
        u = z if self.turn is None else z @ self.turn
        return self.mean + u @ self.g + 0.5 * (u**2 - 1) @ self.h


@functools.lru_cache(maxsize=8)
def _pairs(dim: int) -> tuple[np.ndarray, np.ndarray]:
    return np.triu_indices(dim, 1)


def design(z: np.ndarray, full: bool) -> np.ndarray:
    """Features [n, p]: 1, z_k, (z_k^2 - 1) / sqrt 2 and, if full, z_j z_k with j < k in the order
    of `_pairs`.
    """
    n, d = z.shape
    z = np.asfortranarray(z)
    a = np.empty((n, full_features(d) if full else axis_features(d)), order="F")
    a[:, 0] = 1
    a[:, 1 : d + 1] = z
    a[:, d + 1 : 2 * d + 1] = (z**2 - 1) / np.sqrt(2)
    at = 2 * d + 1
    for k in range(d - 1 if full else 0):
        np.multiply(z[:, k : k + 1], z[:, k + 1 :], out=a[:, at : at + d - 1 - k])
        at += d - 1 - k
    return a


def fit(z: np.ndarray, f: np.ndarray, crossed: bool = True) -> Fit | None:
    """The richest model that whitened points z [n, d] allow; None if they are too few, or the
    values constant or not to be fitted.

    crossed: may it have products of coordinates?
    """
    n, d = z.shape
    full = crossed and features_of(d) > axis_features(d) and n > ROWS_PER_FEATURE * features_of(d)
    p = full_features(d) if full else axis_features(d)
    with np.errstate(over="ignore", invalid="ignore"):
        centre, spread = (
            (float(f.mean()), float(f.std())) if n > ROWS_PER_FEATURE * p else (0.0, 0.0)
        )
    if not (np.isfinite(centre) and np.isfinite(spread) and spread > 1e-14 * abs(centre)):
        return None
    a, b = design(z, full), (f - centre) / spread
    coefficients = solve(a, b)
    if coefficients is None:
        return None
    rest = (b - a @ coefficients) ** 2
    residual = float(np.sqrt(np.sum(rest) / (n - p)))
    r2 = 1 - residual**2 * (n - 1) / n
    order = np.argsort(np.sum(z**2, axis=1))
    outer = float(
        np.sqrt(np.mean(rest[order[n // 2 :]]) / max(float(np.mean(rest[order[: n // 2]])), 1e-300))
    )
    mean, g, h, turn = _unpack(coefficients, d, full)
    return Fit(
        centre + spread * mean, spread * g, spread * h, turn, spread * residual, r2, n, p, outer
    )


def enrich(z: np.ndarray, f: np.ndarray, plain: Fit) -> Fit:
    """The same model with more of f explained by features of third and fourth order, if there are
    rows enough.

    Under N(0, I) Hermite polynomials are orthogonal: gradient and Hessian stay what they were and
    only their errors become smaller.
    """
    n, d = z.shape
    if plain.turn is None:
        return plain
    for mixed in (True, False):
        extra = 2 * d + (d * (d - 1) if mixed else 0)
        p = plain.features + extra
        if p <= LARGEST_FULL_MODEL and n > ROWS_PER_RICH_FEATURE * p:
            break
    else:
        return plain
    u = z @ plain.turn
    centre, spread = float(f.mean()), float(f.std())
    a, b = np.concatenate([design(u, True), _higher(u, mixed)], axis=1), (f - centre) / spread
    coefficients = solve(a, b)
    if coefficients is None:
        return plain
    residual = float(np.sqrt(np.sum((b - a @ coefficients) ** 2) / (n - p)))
    if spread * residual >= plain.residual:
        return plain
    mean, g, h, turn = _unpack(coefficients[: plain.features], d, True)
    return Fit(
        centre + spread * mean,
        spread * g,
        spread * h,
        plain.turn @ turn,
        spread * residual,
        1 - residual**2,
        n,
        p,
        plain.outer,
    )


def _higher(u: np.ndarray, mixed: bool) -> np.ndarray:
    """Hermite features of third and fourth order along the axes and, if mixed, (u_j^2 - 1) u_k."""
    columns = [(u**3 - 3 * u) / np.sqrt(6), (u**4 - 6 * u**2 + 3) / np.sqrt(24)]
    if mixed:
        square = (u**2 - 1) / np.sqrt(2)
        columns += [square * np.roll(u, k, axis=1) for k in range(1, u.shape[1])]
    return np.concatenate(columns, axis=1)


def solve(a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    n, p = a.shape
    if p > LARGEST_DIRECT:
        return _conjugate_gradients(a, b)
    gram = a.T @ a
    gram[np.diag_indices(p)] += RIDGE * n
    try:
        return cho_solve(
            cho_factor(gram, overwrite_a=True, check_finite=False), a.T @ b, check_finite=False
        )
    except np.linalg.LinAlgError:
        return None


def _conjugate_gradients(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    n, p = a.shape
    x, r = np.zeros(p), a.T @ b
    direction, rr = r.copy(), float(r @ r)
    start = rr
    for _ in range(CG_STEPS):
        if rr <= 1e-20 * start:
            break
        image = a.T @ (a @ direction) + RIDGE * n * direction
        alpha = rr / float(direction @ image)
        x += alpha * direction
        r -= alpha * image
        rr, old = float(r @ r), rr
        direction = r + rr / old * direction
    return x


def _unpack(
    coefficients: np.ndarray, d: int, full: bool
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray | None]:
    """Mean, gradient and curvatures; with all products of coordinates, in the eigenvectors of the
    Hessian.
    """
    mean, g, h = (
        float(coefficients[0]),
        coefficients[1 : d + 1],
        np.sqrt(2) * coefficients[d + 1 : 2 * d + 1],
    )
    if not full:
        return mean, g, h, None
    hessian = np.diag(h)
    j, k = _pairs(d)
    hessian[j, k] = hessian[k, j] = coefficients[2 * d + 1 :]
    values, turn = np.linalg.eigh(hessian)
    return mean, turn.T @ g, values, turn
