"""Flat here and there, or everywhere; needles; more than one well; no bottom at all."""

import numpy as np

from phenes_lab.bench.trust.kinds.draws import place, square, unit
from phenes_lab.bench.trust.laws import gaussian
from phenes_lab.bench.trust.problem import Problem, problem


@problem("bowl-in-plain", "plateau", 2)
def bowl_in_plain(rng: np.random.Generator, d: int) -> Problem:
    """A bowl sunk into a plain; the start is near its rim."""
    c = place(rng, d)
    values = lambda x: np.minimum(square(x - c), 1.0)  # noqa: E731
    return Problem(
        c + 1.1 * unit(rng, d), 0.4, gaussian(0.15), values, lowest=0.0, highest=1.0, best=c
    )


@problem("plain-with-slot", "plateau", 5)
def plain_with_slot(rng: np.random.Generator, d: int) -> Problem:
    """Flat but for a slot along one direction, which is rounded to four depths."""
    c, n = place(rng, d), unit(rng, d)

    def values(x: np.ndarray) -> np.ndarray:
        depth = np.exp(-2 * ((x - c) @ n) ** 2)
        return -np.floor(4 * depth) / 4

    return Problem(c + 0.8 * n, 0.4, gaussian(0.1), values, lowest=-1.0, highest=0.0, best=c)


@problem("lost-on-plain", "plateau", 3)
def lost_on_plain(rng: np.random.Generator, d: int) -> Problem:
    """From the start nothing but the plain is in sight."""
    c = place(rng, d)
    values = lambda x: np.where(square(x - c) < 0.5, square(x - c) - 1.0, 2.0)  # noqa: E731
    return Problem(
        c + 3.0 * unit(rng, d), 0.3, gaussian(0.1), values, lowest=-1.0, highest=2.0, best=c
    )


@problem("needle", "needle", 2)
def needle(rng: np.random.Generator, d: int) -> Problem:
    """A needle thinner than the noise in a shallow bowl: mostly missed, even when aimed at."""
    c, at = place(rng, d), 0.6 * unit(rng, d)
    values = lambda x: 0.1 * square(x - c) - 2.0 * (square(x - c - at) < 0.08**2)  # noqa: E731
    return Problem(c + 1.5 * unit(rng, d), 0.5, gaussian(0.1), values, lowest=-2.0)


@problem("needle-line", "needle", 1)
def needle_line(rng: np.random.Generator, d: int) -> Problem:
    """On a line, with a needle as wide as the noise."""
    c = place(rng, d)
    values = lambda x: np.abs(x[:, 0] - c[0]) - 3.0 * (np.abs(x[:, 0] - c[0] - 0.9) < 0.05)  # noqa: E731
    return Problem(c - 1.0, 0.5, gaussian(0.05), values, lowest=-2.15)


@problem("two-wells", "two wells", 2)
def two_wells(rng: np.random.Generator, d: int) -> Problem:
    """A deep well that is narrow beside the noise, and a shallow wide one, which is where to
    aim.
    """
    c, n = place(rng, d), unit(rng, d)
    values = lambda x: (  # noqa: E731
        -np.exp(-square(x - c) / 2) - 1.5 * np.exp(-square(x - c - 2.5 * n) / (2 * 0.08**2))
    )
    return Problem(
        c + 1.25 * n + 0.3 * unit(rng, d), 0.8, gaussian(0.3), values, lowest=-2.5, highest=0.0
    )


@problem("two-basins", "two wells", 6)
def two_basins(rng: np.random.Generator, d: int) -> Problem:
    """Two bowls; the start is a little nearer to the worse one."""
    c, n = place(rng, d), unit(rng, d)
    values = lambda x: np.minimum(square(x - c), 0.3 + square(x - c - 3 * n))  # noqa: E731
    return Problem(c + 1.7 * n, 0.5, gaussian(0.15), values, lowest=0.0)


@problem("flat", "flat", 3)
def flat(rng: np.random.Generator, d: int) -> Problem:
    """The same value everywhere."""
    level = rng.uniform(-2, 2)
    values = lambda x: np.full(len(x), level)  # noqa: E731
    return Problem(
        place(rng, d),
        0.5,
        gaussian(0.1),
        values,
        lowest=level,
        highest=level,
        exact=lambda theta: level,
    )


@problem("flat-noisy", "flat", 5)
def flat_noisy(rng: np.random.Generator, d: int) -> Problem:
    """Nothing but noise on the value: whatever looks better is not."""
    chance = lambda y, rng: y + rng.standard_normal(len(y))  # noqa: E731
    values = lambda x: np.zeros(len(x))  # noqa: E731
    return Problem(
        place(rng, d), 0.5, gaussian(0.1), values, chance=chance, exact=lambda theta: 0.0
    )


@problem("slope", "unbounded", 4)
def slope(rng: np.random.Generator, d: int) -> Problem:
    """Downhill for ever."""
    n = unit(rng, d)
    values = lambda x: x @ n  # noqa: E731
    return Problem(place(rng, d), 0.5, gaussian(0.2), values, exact=lambda theta: float(theta @ n))


@problem("slow-slope", "unbounded", 2)
def slow_slope(rng: np.random.Generator, d: int) -> Problem:
    """Downhill for ever, and ever more slowly, with steps."""
    c = place(rng, d)
    values = lambda x: -np.floor(4 * np.log1p(square(x - c))) / 4  # noqa: E731
    return Problem(c + unit(rng, d), 0.5, gaussian(0.1), values, highest=0.0)
