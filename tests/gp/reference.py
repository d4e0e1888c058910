"""Laws of the Gaussian process against quadrature and dense algebra, in two dimensions."""

import itertools

import numpy as np

from phenes.gp.cloud import Cloud
from phenes.gp.kernel import Kernel, matern, squared_exponential, with_main_effects

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(24)
WEIGHTS = WEIGHTS / WEIGHTS.sum()

KERNELS = (
    Kernel(squared_exponential(False), np.array([0.5, 0.8])),
    Kernel(squared_exponential(True), np.array([0.4, 0.9]), 0.3, 0.2),
    Kernel(matern(True), np.array([0.9, 0.6]), 0.4, 0.7),
    Kernel(with_main_effects(), np.array([0.5, 0.9]), 0.3, 0.2, np.array([0.2, 0.4]), 0.7),
)
FULL = np.array([[0.02, 0.012], [0.012, 0.03]])
DIAGONAL = np.array([0.02, 0.005])
POINTS = np.random.default_rng(3).random((9, 2))
VALUES = np.random.default_rng(4).standard_normal(9)


def each(full):
    """Rows of which some are exact, and the others all different."""
    rng = np.random.default_rng(5)
    size = rng.uniform(0.2, 1.0, 9) * (np.arange(9) % 3 != 0)
    return size[:, None, None] * FULL if full else size[:, None] * DIAGONAL


CLOUDS = (
    Cloud(POINTS),
    Cloud(POINTS, DIAGONAL),
    Cloud(POINTS, FULL),
    Cloud(POINTS, each(False), each=True),
    Cloud(POINTS, each(True), each=True),
)


def covariance_of(cloud, row):
    """The covariance of one row, (2, 2)."""
    if cloud.cov is None:
        return np.zeros((2, 2))
    cov = cloud.cov[row] if cloud.each else cloud.cov
    return np.diag(cov) if cov.ndim == 1 else cov


def nodes(cloud, row):
    """Nodes (m, 2) and weights (m,) of the law of one row."""
    cov = covariance_of(cloud, row)
    if not cov.any():
        return cloud.points[row : row + 1], np.ones(1)
    z = np.array(list(itertools.product(NODES, NODES)))
    weights = np.array([a * b for a, b in itertools.product(WEIGHTS, WEIGHTS)])
    return cloud.points[row] + z @ np.linalg.cholesky(cov).T, weights


def plain(kernel, x, y):
    """k(x, y) as it is written down, for rows (m, 2) and (n, 2)."""
    r2 = np.sum(((x[:, None] - y[None]) / kernel.lengths) ** 2, axis=2)
    value = sum(
        w * np.exp(-r2 / (2 * g))
        for g, w in zip(kernel.shape.nodes, kernel.shape.weights, strict=True)
    )
    if kernel.shape.effects:
        apart = (x[:, None] - y[None]) / kernel.effect_lengths
        value = value + kernel.effects / 2 * np.sum(np.exp(-(apart**2) / 2), axis=2)
    if not kernel.shape.quadratic:
        return value

    def phi(v):
        a, b = ((v - 0.5) * np.sqrt(12)).T
        return np.stack([a, b, (a**2 - 1) / np.sqrt(2), (b**2 - 1) / np.sqrt(2), a * b], axis=1)

    r = np.array([kernel.axes] * 4 + [kernel.products])
    return value + (phi(x) * r) @ phi(y).T


def expected(kernel, a, i, b, j):
    """E k(x, y) of independent x, y by quadrature."""
    (x, v), (y, w) = nodes(a, i), nodes(b, j)
    return float(v @ plain(kernel, x, y) @ w)
