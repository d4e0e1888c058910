"""Parts that are good or scrap: beams, trusses, filters, stacks of tolerances. Values are constant,
or two-valued, over whole regions.
"""

import math

import numpy as np

from phenes_lab.bench.trust.kinds.draws import place, square, unit
from phenes_lab.bench.trust.laws import gaussian
from phenes_lab.bench.trust.problem import Problem, problem


@problem("beam", "scrap", 2)
def beam(rng: np.random.Generator, d: int) -> Problem:
    """Width and height of a beam cut from a log: strength w h^2; what does not fit into the log is
    scrap.
    """
    radius = rng.uniform(0.8, 1.2)
    values = lambda x: np.where(square(x) < 4 * radius**2, -x[:, 0] * x[:, 1] ** 2, 0.0)  # noqa: E731
    return Problem(
        radius * rng.uniform(0.6, 0.9, d),
        0.2,
        gaussian(0.04),
        values,
        lowest=-8 * radius**3,
        highest=8 * radius**3,
    )


@problem("truss", "scrap", 15, lowest=0.0)
def truss(rng: np.random.Generator, d: int) -> Problem:
    """Cross-sections of fifteen bars: weight counts, and one bar too thin makes it scrap."""
    least = rng.uniform(0.3, 1.0, d)
    values = lambda x: np.where((x > least).all(axis=1), (x - least).mean(axis=1), 1.5)  # noqa: E731
    return Problem(least + rng.uniform(0.7, 1.0, d), 0.1, gaussian(0.03), values)


@problem("board", "scrap", 4, highest=0.0)
def board(rng: np.random.Generator, d: int) -> Problem:
    """Four cuts of a board: the pieces are worth what they measure if they fit, together, into what
    there is; otherwise nothing.
    """
    worth, length = rng.uniform(0.5, 1.5, d), rng.uniform(3.0, 5.0)
    values = lambda x: np.where(x.sum(axis=1) <= length, -np.tanh(np.clip(x, 0, None)) @ worth, 0.0)  # noqa: E731
    return Problem(
        np.full(d, 0.12 * length), 0.25, gaussian(0.06), values, lowest=-float(worth.sum())
    )


@problem("half-space", "yield", 3, lowest=-1.0, highest=0.0)
def half_space(rng: np.random.Generator, d: int) -> Problem:
    """A part is good on one side of a plane. Yield has a closed form, and no optimum."""
    c, n, scale = place(rng, d), unit(rng, d), rng.uniform(0.2, 0.4)
    values = lambda x: np.where((x - c) @ n < 0, -1.0, 0.0)  # noqa: E731
    exact = lambda theta: -0.5 * math.erfc(float((theta - c) @ n) / (scale * math.sqrt(2)))  # noqa: E731
    return Problem(c + 0.1 * n, 0.3, gaussian(scale), values, exact=exact)


@problem("filter", "yield", 6, lowest=-1.0, highest=0.0)
def filter_(rng: np.random.Generator, d: int) -> Problem:
    """Six resonators (logarithms of their frequencies) over a band: good if the response is flat
    within a decibel or so at 12 points.
    """
    nominal, tolerance = np.linspace(-1, 1, d) + 0.05 * place(rng, d, 1), rng.uniform(0.16, 0.2)
    points = np.linspace(-0.9, 0.9, 12)
    response = lambda x: np.log(np.sum(1 / (1 + ((points - x[..., None]) / 0.4) ** 2), axis=-2))  # noqa: E731
    wanted = response(nominal[None])

    def values(x: np.ndarray) -> np.ndarray:
        return np.where((np.abs(response(x) - wanted) < tolerance).all(axis=1), -1.0, 0.0)

    return Problem(nominal + 0.15 * unit(rng, d), 0.1, gaussian(0.06), values)


@problem("stack", "yield", 9)
def stack(rng: np.random.Generator, d: int) -> Problem:
    """Nine parts in a row must leave a gap that is neither too wide nor too narrow; thin parts are
    cheap.
    """
    length, price = rng.uniform(0.8, 1.2, d), rng.uniform(0.02, 0.05, d)

    def values(x: np.ndarray) -> np.ndarray:
        gap = length.sum() - x.sum(axis=1)
        return np.where((gap > 0.05) & (gap < 0.45), -1.0, 0.0) + x @ price

    return Problem(length - rng.uniform(0.02, 0.08, d), 0.05, gaussian(0.04), values)


@problem("mould", "yield", 20, lowest=-1.0, highest=0.0)
def mould(rng: np.random.Generator, d: int) -> Problem:
    """Twenty settings: good only near the one combination, in all of them together."""
    c = place(rng, d)
    values = lambda x: np.where(square(x - c) < 2.0 * d * 0.1**2, -1.0, 0.0)  # noqa: E731
    return Problem(c + 0.35 * unit(rng, d), 0.05, gaussian(0.1), values, best=c)


@problem("yield-far", "yield", 10, lowest=-1.0, highest=0.0)
def yield_far(rng: np.random.Generator, d: int) -> Problem:
    """From the start hardly any part is good: all values are equal for long."""
    c = place(rng, d)
    values = lambda x: np.where(square(x - c) < 1.0, -1.0, 0.0)  # noqa: E731
    return Problem(c + 2.0 * unit(rng, d), 0.3, gaussian(0.15), values, best=c)


@problem("crack", "rare jump", 1)
def crack(rng: np.random.Generator, d: int) -> Problem:
    """Hardening depth: the deeper the better, and beyond a depth it cracks, at a thousand times the
    price.
    """
    depth = rng.uniform(1.5, 2.5)
    values = lambda x: np.where(x[:, 0] < depth, 1 - x[:, 0] / depth, 1000.0)  # noqa: E731
    return Problem(np.array([0.3 * depth]), 0.3, gaussian(0.1), values)
