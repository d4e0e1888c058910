"""Continuous and not smooth: kinks and ripples."""

import numpy as np

from phenes_lab.bench.trust.kinds.draws import place, rotation, square, unit
from phenes_lab.bench.trust.laws import gaussian
from phenes_lab.bench.trust.problem import Problem, problem


@problem("chebyshev", "kink", 4)
def chebyshev(rng: np.random.Generator, d: int) -> Problem:
    """The worst of all deviations."""
    c, q = place(rng, d), rotation(rng, d)
    values = lambda x: np.max(np.abs((x - c) @ q), axis=1)  # noqa: E731
    return Problem(c + 2 * unit(rng, d), 0.5, gaussian(0.1), values, lowest=0.0, best=c)


@problem("planes", "kink", 10)
def planes(rng: np.random.Generator, d: int) -> Problem:
    """The largest of thirty planes: the most expensive of thirty load cases."""
    c, a = place(rng, d), rng.standard_normal((30, d))
    a, level = a - a.mean(axis=0), rng.uniform(-1, 0, 30)
    values = lambda x: np.max((x - c) @ a.T + level, axis=1)  # noqa: E731
    return Problem(c + 2 * unit(rng, d), 0.5, gaussian(0.1), values, lowest=-1.0)


@problem("newsvendor", "kink", 1)
def newsvendor(rng: np.random.Generator, d: int) -> Problem:
    """Too much is thrown away, too little is lost custom: two slopes."""
    c, low, high = place(rng, d)[0], rng.uniform(0.2, 0.6), rng.uniform(1.5, 4.0)
    values = lambda x: np.where(x[:, 0] > c, low * (x[:, 0] - c), high * (c - x[:, 0]))  # noqa: E731
    return Problem(np.array([c + 1.5]), 0.5, gaussian(0.3), values, lowest=0.0)


@problem("ripples", "ripple", 5)
def ripples(rng: np.random.Generator, d: int) -> Problem:
    """A bowl with ripples as wide as the noise."""
    c = place(rng, d)
    values = lambda x: square(x - c) + 0.5 * np.sum(1 - np.cos(2 * np.pi * (x - c) / 0.5), axis=1)  # noqa: E731
    return Problem(c + 2 * unit(rng, d), 0.5, gaussian(0.08), values, lowest=0.0, best=c)


@problem("antenna", "ripple", 9)
def antenna(rng: np.random.Generator, d: int) -> Problem:
    """Phases of an array: power towards one angle, nothing towards two others; periodic, many
    optima.
    """
    k = np.arange(d) - (d - 1) / 2
    angles = np.array([rng.uniform(-0.2, 0.2), rng.uniform(0.8, 1.2), rng.uniform(-1.6, -1.2)])

    def values(x: np.ndarray) -> np.ndarray:
        power = np.abs(np.exp(1j * (x[:, None, :] + angles[:, None] * k)).mean(axis=-1)) ** 2
        return -power[:, 0] + 2 * power[:, 1] + 2 * power[:, 2]

    return Problem(place(rng, d, 1.2), 0.5, gaussian(0.2), values, lowest=-1.0, highest=4.0)


@problem("comb", "ripple", 2)
def comb(rng: np.random.Generator, d: int) -> Problem:
    """Saw teeth, jumping back up at every tenth."""
    c = place(rng, d)
    values = lambda x: square(x - c) + np.sum(np.mod((x - c) / 0.3, 1.0), axis=1)  # noqa: E731
    return Problem(c + 1.5 * unit(rng, d), 0.5, gaussian(0.05), values, lowest=0.0)
