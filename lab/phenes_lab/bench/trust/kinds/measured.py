"""Experiments that realise x themselves: the law is to be learnt, or x is not measured, or half of
it.
"""

import numpy as np

from phenes_lab.bench.trust.kinds.draws import bowl, place, rotation, square, unit
from phenes_lab.bench.trust.laws import gaussian
from phenes_lab.bench.trust.problem import Problem, problem


@problem("learn-ellipsoid", "learnt noise", 5, told="learn", lowest=0.0)
def learn_ellipsoid(rng: np.random.Generator, d: int) -> Problem:
    """A smooth bowl, correlated errors that nobody has stated."""
    c, q, weight = place(rng, d), rotation(rng, d), 10.0 ** np.linspace(-1, 1, d)
    a = 0.1 * rng.standard_normal((d, d)) / np.sqrt(d) + 0.05 * np.eye(d)
    metric = q * weight @ q.T
    exact = lambda theta: float((theta - c) @ metric @ (theta - c) + np.trace(metric @ a @ a.T))  # noqa: E731
    values = lambda x: ((x - c) @ q) ** 2 @ weight  # noqa: E731
    return Problem(c + 2 * unit(rng, d), 0.5, gaussian(a @ a.T), values, best=c, exact=exact)


@problem("kiln", "learnt noise", 7, told="learn", lowest=0.0)
def kiln(rng: np.random.Generator, d: int) -> Problem:
    """Seven zones of a kiln: what they become is measured, and too steep a difference between
    neighbours cracks the load.
    """
    c = np.cumsum(rng.uniform(-0.3, 0.3, d))

    def values(x: np.ndarray) -> np.ndarray:
        steep = np.abs(np.diff(x, axis=1)).max(axis=1)
        return np.where(steep < 0.6, square(x - c), np.nan)

    return Problem(np.zeros(d), 0.15, gaussian(0.06), values)


@problem("learn-scrap", "learnt noise", 2, told="learn", lowest=0.0)
def learn_scrap(rng: np.random.Generator, d: int) -> Problem:
    """Scrap beyond an edge, errors to be learnt."""
    c, n = place(rng, d), unit(rng, d)
    values = lambda x: np.where((x - c) @ n < 0.1, square(x - c), 6.0)  # noqa: E731
    return Problem(c - 1.5 * n, 0.5, gaussian(0.12), values)


@problem("unmeasured", "x not measured", 4, told="nothing", lowest=0.0)
def unmeasured(rng: np.random.Generator, d: int) -> Problem:
    """Nothing is known of x but theta and the law."""
    return bowl(rng, d, 0.2)


@problem("unmeasured-wall", "x not measured", 3, failing="exception", told="nothing", lowest=0.0)
def unmeasured_wall(rng: np.random.Generator, d: int) -> Problem:
    """Blind, beside a wall."""
    c, n = place(rng, d), unit(rng, d)
    values = lambda x: np.where((x - c) @ n < 0.1, np.abs(x - c).sum(axis=1), np.nan)  # noqa: E731
    return Problem(c - 1.5 * n, 0.4, gaussian(0.12), values)


@problem("half-measured", "x not measured", 6, told="half", lowest=0.0)
def half_measured(rng: np.random.Generator, d: int) -> Problem:
    """Every other coordinate is measured; values jump by a third coordinate that is not."""
    c = place(rng, d)
    values = lambda x: square(x - c) + 2.0 * (x[:, 1] - c[1] > 0.15)  # noqa: E731
    return Problem(
        c + np.where(np.arange(d) == 1, -1.0, rng.uniform(-1, 1, d)), 0.5, gaussian(0.12), values
    )
