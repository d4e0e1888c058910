"""Stairs and single steps: values that tie, and gradients that are nothing but jumps."""

import numpy as np

from phenes_lab.bench.trust.kinds.draws import place, rotation, square, unit
from phenes_lab.bench.trust.laws import gaussian, laplace
from phenes_lab.bench.trust.problem import Problem, problem


@problem("stairs", "stairs", 3)
def stairs(rng: np.random.Generator, d: int) -> Problem:
    """Round stairs down to the middle."""
    c = place(rng, d)
    values = lambda x: np.floor(2 * np.sqrt(square(x - c))) / 2  # noqa: E731
    return Problem(c + 2.5 * unit(rng, d), 0.5, gaussian(0.15), values, lowest=0.0, best=c)


@problem("stairs-20", "stairs", 20)
def stairs_20(rng: np.random.Generator, d: int) -> Problem:
    """Stairs in each of twenty coordinates."""
    c = place(rng, d)
    values = lambda x: np.mean(np.floor(np.abs(x - c) / 0.4), axis=1)  # noqa: E731
    return Problem(c + rng.uniform(-2, 2, d), 0.5, gaussian(0.1), values, lowest=0.0, best=c)


@problem("digits", "stairs", 1)
def digits(rng: np.random.Generator, d: int) -> Problem:
    """A display with one digit after the point."""
    c = place(rng, d)
    values = lambda x: np.round((x[:, 0] - c[0]) ** 2, 1)  # noqa: E731
    return Problem(c + rng.choice([-1.5, 1.5]), 0.4, gaussian(0.1), values, lowest=0.0, best=c)


@problem("signs", "stairs", 8)
def signs(rng: np.random.Generator, d: int) -> Problem:
    """How many of eight thresholds are not met, and a little cost for more than is needed."""
    c, q = place(rng, d), rotation(rng, d)

    def values(x: np.ndarray) -> np.ndarray:
        z = (x - c) @ q
        return np.sum(z < 0, axis=1) + np.round(0.3 * np.sum(np.clip(z, 0, None), axis=1), 1)

    return Problem(c - 0.6 * q.sum(axis=1), 0.4, gaussian(0.1), values, lowest=0.0)


@problem("step", "step", 2)
def step(rng: np.random.Generator, d: int) -> Problem:
    """A gentle slope down to a step up that is smaller than what the noise blurs."""
    c, n = place(rng, d), unit(rng, d)

    def values(x: np.ndarray) -> np.ndarray:
        z = (x - c) @ n
        return 0.2 * square(x - c) - 0.3 * z + 1.0 * (z > 0)

    return Problem(c - 1.5 * n, 0.4, gaussian(0.4), values, lowest=-0.2)


@problem("laplace-step", "step", 4)
def laplace_step(rng: np.random.Generator, d: int) -> Problem:
    """The same with a step up of 5 at the optimum and Laplace noise."""
    c, n = place(rng, d), unit(rng, d)
    values = lambda x: np.abs(x - c).sum(axis=1) + 5.0 * ((x - c) @ n > 0.1)  # noqa: E731
    return Problem(c - 1.5 * n, 0.4, laplace(0.08), values, lowest=0.0)
