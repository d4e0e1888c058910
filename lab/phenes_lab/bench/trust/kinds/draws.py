"""What the kinds share: random places, directions and rotations, and a bowl."""

import numpy as np

from phenes_lab.bench.trust.laws import gaussian
from phenes_lab.bench.trust.problem import Problem


def unit(rng: np.random.Generator, d: int) -> np.ndarray:
    """A direction."""
    v = rng.standard_normal(d)
    return v / np.linalg.norm(v)


def place(rng: np.random.Generator, d: int, size: float = 2.0) -> np.ndarray:
    """Somewhere, so that nothing is at zero by habit."""
    return rng.uniform(-size, size, d)


def rotation(rng: np.random.Generator, d: int) -> np.ndarray:
    return np.linalg.qr(rng.standard_normal((d, d)))[0]


def square(x: np.ndarray) -> np.ndarray:
    """Squared lengths of the rows."""
    return np.sum(x * x, axis=1)


def bowl(rng: np.random.Generator, d: int, scale: float) -> Problem:
    """Squared distances under Gaussian noise."""
    c = place(rng, d)
    exact = lambda theta: float(np.sum((theta - c) ** 2) + d * scale**2)  # noqa: E731
    x0 = c + 2 * unit(rng, d)
    return Problem(x0, 0.5, gaussian(scale), lambda x: square(x - c), best=c, exact=exact)
