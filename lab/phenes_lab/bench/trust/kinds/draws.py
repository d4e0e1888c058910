"""What the kinds share: random places, directions and rotations."""

import numpy as np


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
