"""Without any noise: what is claimed of the value is then known exactly."""

import numpy as np

from phenes_lab.bench.trust.kinds.draws import place, rotation, square, unit
from phenes_lab.bench.trust.laws import exactly
from phenes_lab.bench.trust.problem import Problem, problem


@problem("exact-sphere", "noise-free", 10, lowest=0.0)
def exact_sphere(rng: np.random.Generator, d: int) -> Problem:
    """A bowl."""
    c = place(rng, d)
    return Problem(c + 2 * unit(rng, d), 0.5, exactly(), lambda x: square(x - c), best=c)


@problem("exact-rosenbrock", "noise-free", 5, lowest=0.0)
def exact_rosenbrock(rng: np.random.Generator, d: int) -> Problem:
    """A curved valley, turned."""
    c, q = place(rng, d), rotation(rng, d)

    def values(x: np.ndarray) -> np.ndarray:
        z = (x - c) @ q + 1
        return np.sum(100 * (z[:, 1:] - z[:, :-1] ** 2) ** 2 + (1 - z[:, :-1]) ** 2, axis=1)

    return Problem(c + unit(rng, d), 0.5, exactly(), values, best=c)


@problem("exact-stairs", "noise-free", 4, lowest=0.0)
def exact_stairs(rng: np.random.Generator, d: int) -> Problem:
    """Stairs."""
    c = place(rng, d)
    values = lambda x: np.floor(5 * np.abs(x - c)).sum(axis=1)  # noqa: E731
    return Problem(c + 2 * unit(rng, d), 0.5, exactly(), values, best=c)


@problem("exact-wall", "noise-free", 6, failing="exception", lowest=0.0)
def exact_wall(rng: np.random.Generator, d: int) -> Problem:
    """Downhill to a wall behind which it raises: the optimum lies at its foot."""
    c, n = place(rng, d), unit(rng, d)

    def values(x: np.ndarray) -> np.ndarray:
        z = (x - c) @ n
        return np.where(z <= 0, -2 * z + square(x - c), np.nan)

    return Problem(c - 1.5 * n, 0.4, exactly(), values, best=c)


@problem("exact-ravine", "noise-free", 2, lowest=0.0)
def exact_ravine(rng: np.random.Generator, d: int) -> Problem:
    """A ravine with a jump along its bottom."""
    c, q = place(rng, d), rotation(rng, d)

    def values(x: np.ndarray) -> np.ndarray:
        z = (x - c) @ q
        return np.where(z[:, 0] >= 0, np.abs(z[:, 0]) + 100 * z[:, 1] ** 2, 3.0)

    return Problem(c + q @ np.array([1.5, 0.3]), 0.4, exactly(), values, best=c)


@problem("exact-basins", "noise-free", 3, lowest=0.0)
def exact_basins(rng: np.random.Generator, d: int) -> Problem:
    """Two bowls of different depth."""
    c, n = place(rng, d), unit(rng, d)
    values = lambda x: np.minimum(square(x - c), 0.2 + square(x - c - 2 * n))  # noqa: E731
    return Problem(c + 1.1 * n, 0.5, exactly(), values, best=c)


@problem("exact-flat", "flat", 7)
def exact_flat(rng: np.random.Generator, d: int) -> Problem:
    """The same value everywhere, and no noise either."""
    level = float(rng.integers(-3, 4))
    return Problem(
        place(rng, d), 0.5, exactly(), lambda x: np.full(len(x), level), lowest=level, highest=level
    )
