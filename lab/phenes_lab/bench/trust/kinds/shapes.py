"""What f looks like: flat here and there, needles, several wells, no bottom; kinks and ripples;
smooth, as controls, where a narrow claim is right and a wide one a waste; stairs and single steps.
"""

import numpy as np

from phenes_lab.bench.trust.kinds.draws import bowl, place, rotation, square, unit
from phenes_lab.bench.trust.laws import gaussian, laplace
from phenes_lab.bench.trust.problem import Problem, problem


@problem("bowl-in-plain", "plateau", 2, lowest=0.0, highest=1.0)
def bowl_in_plain(rng: np.random.Generator, d: int) -> Problem:
    """A bowl sunk into a plain; the start is near its rim."""
    c = place(rng, d)
    values = lambda x: np.minimum(square(x - c), 1.0)  # noqa: E731
    return Problem(c + 1.1 * unit(rng, d), 0.4, gaussian(0.15), values, best=c)


@problem("plain-with-slot", "plateau", 5, lowest=-1.0, highest=0.0)
def plain_with_slot(rng: np.random.Generator, d: int) -> Problem:
    """Flat but for a slot along one direction, which is rounded to four depths."""
    c, n = place(rng, d), unit(rng, d)

    def values(x: np.ndarray) -> np.ndarray:
        depth = np.exp(-2 * ((x - c) @ n) ** 2)
        return -np.floor(4 * depth) / 4

    return Problem(c + 0.8 * n, 0.4, gaussian(0.1), values, best=c)


@problem("lost-on-plain", "plateau", 3, lowest=-1.0, highest=2.0)
def lost_on_plain(rng: np.random.Generator, d: int) -> Problem:
    """From the start nothing but the plain is in sight."""
    c = place(rng, d)
    values = lambda x: np.where(square(x - c) < 0.5, square(x - c) - 1.0, 2.0)  # noqa: E731
    return Problem(c + 3.0 * unit(rng, d), 0.3, gaussian(0.1), values, best=c)


@problem("needle", "needle", 2, lowest=-2.0)
def needle(rng: np.random.Generator, d: int) -> Problem:
    """A needle thinner than the noise in a shallow bowl: mostly missed, even when aimed at."""
    c, at = place(rng, d), 0.6 * unit(rng, d)
    values = lambda x: 0.1 * square(x - c) - 2.0 * (square(x - c - at) < 0.08**2)  # noqa: E731
    return Problem(c + 1.5 * unit(rng, d), 0.5, gaussian(0.1), values)


@problem("needle-line", "needle", 1, lowest=-2.15)
def needle_line(rng: np.random.Generator, d: int) -> Problem:
    """On a line, with a needle as wide as the noise."""
    c = place(rng, d)
    values = lambda x: np.abs(x[:, 0] - c[0]) - 3.0 * (np.abs(x[:, 0] - c[0] - 0.9) < 0.05)  # noqa: E731
    return Problem(c - 1.0, 0.5, gaussian(0.05), values)


@problem("two-wells", "two wells", 2, lowest=-2.5, highest=0.0)
def two_wells(rng: np.random.Generator, d: int) -> Problem:
    """A deep well that is narrow beside the noise, and a shallow wide one, which is where to
    aim.
    """
    c, n = place(rng, d), unit(rng, d)
    values = lambda x: (  # noqa: E731
        -np.exp(-square(x - c) / 2) - 1.5 * np.exp(-square(x - c - 2.5 * n) / (2 * 0.08**2))
    )
    return Problem(c + 1.25 * n + 0.3 * unit(rng, d), 0.8, gaussian(0.3), values)


@problem("two-basins", "two wells", 6, lowest=0.0)
def two_basins(rng: np.random.Generator, d: int) -> Problem:
    """Two bowls; the start is a little nearer to the worse one."""
    c, n = place(rng, d), unit(rng, d)
    values = lambda x: np.minimum(square(x - c), 0.3 + square(x - c - 3 * n))  # noqa: E731
    return Problem(c + 1.7 * n, 0.5, gaussian(0.15), values)


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


@problem("slow-slope", "unbounded", 2, highest=0.0)
def slow_slope(rng: np.random.Generator, d: int) -> Problem:
    """Downhill for ever, and ever more slowly, with steps."""
    c = place(rng, d)
    values = lambda x: -np.floor(4 * np.log1p(square(x - c))) / 4  # noqa: E731
    return Problem(c + unit(rng, d), 0.5, gaussian(0.1), values)


@problem("chebyshev", "kink", 4, lowest=0.0)
def chebyshev(rng: np.random.Generator, d: int) -> Problem:
    """The worst of all deviations."""
    c, q = place(rng, d), rotation(rng, d)
    values = lambda x: np.max(np.abs((x - c) @ q), axis=1)  # noqa: E731
    return Problem(c + 2 * unit(rng, d), 0.5, gaussian(0.1), values, best=c)


@problem("ridge", "kink", 8, lowest=0.0)
def ridge(rng: np.random.Generator, d: int) -> Problem:
    """Two of eight coordinates must be level. The start is hardly worse than what 30 evaluations
    find, and one draw there says little.
    """
    c = place(rng, d, 0.5)
    values = lambda x: 5 * np.abs((x - c)[:, 0] - (x - c)[:, 1]) + square(x - c)  # noqa: E731
    return Problem(c + rng.uniform(-0.6, 0.6, d), 0.3, gaussian(0.1), values, best=c)


@problem("planes", "kink", 10, lowest=-1.0)
def planes(rng: np.random.Generator, d: int) -> Problem:
    """The largest of thirty planes: the most expensive of thirty load cases."""
    c, a = place(rng, d), rng.standard_normal((30, d))
    a, level = a - a.mean(axis=0), rng.uniform(-1, 0, 30)
    values = lambda x: np.max((x - c) @ a.T + level, axis=1)  # noqa: E731
    return Problem(c + 2 * unit(rng, d), 0.5, gaussian(0.1), values)


@problem("newsvendor", "kink", 1, lowest=0.0)
def newsvendor(rng: np.random.Generator, d: int) -> Problem:
    """Too much is thrown away, too little is lost custom: two slopes."""
    c, low, high = place(rng, d)[0], rng.uniform(0.2, 0.6), rng.uniform(1.5, 4.0)
    values = lambda x: np.where(x[:, 0] > c, low * (x[:, 0] - c), high * (c - x[:, 0]))  # noqa: E731
    return Problem(np.array([c + 1.5]), 0.5, gaussian(0.3), values)


@problem("ripples", "ripple", 5, lowest=0.0)
def ripples(rng: np.random.Generator, d: int) -> Problem:
    """A bowl with ripples as wide as the noise."""
    c = place(rng, d)
    values = lambda x: square(x - c) + 0.5 * np.sum(1 - np.cos(2 * np.pi * (x - c) / 0.5), axis=1)  # noqa: E731
    return Problem(c + 2 * unit(rng, d), 0.5, gaussian(0.08), values, best=c)


@problem("antenna", "ripple", 9, lowest=-1.0, highest=4.0)
def antenna(rng: np.random.Generator, d: int) -> Problem:
    """Phases of an array: power towards one angle, nothing towards two others; periodic, many
    optima.
    """
    k = np.arange(d) - (d - 1) / 2
    angles = np.array([rng.uniform(-0.2, 0.2), rng.uniform(0.8, 1.2), rng.uniform(-1.6, -1.2)])

    def values(x: np.ndarray) -> np.ndarray:
        power = np.abs(np.exp(1j * (x[:, None, :] + angles[:, None] * k)).mean(axis=-1)) ** 2
        return -power[:, 0] + 2 * power[:, 1] + 2 * power[:, 2]

    return Problem(place(rng, d, 1.2), 0.5, gaussian(0.2), values)


@problem("comb", "ripple", 2, lowest=0.0)
def comb(rng: np.random.Generator, d: int) -> Problem:
    """Saw teeth, jumping back up at every tenth."""
    c = place(rng, d)
    values = lambda x: square(x - c) + np.sum(np.mod((x - c) / 0.3, 1.0), axis=1)  # noqa: E731
    return Problem(c + 1.5 * unit(rng, d), 0.5, gaussian(0.05), values)


@problem("sphere", "smooth", 10, lowest=0.0)
def sphere(rng: np.random.Generator, d: int) -> Problem:
    """A bowl."""
    return bowl(rng, d, 0.1)


@problem("sphere-30", "smooth", 30, lowest=0.0)
def sphere_30(rng: np.random.Generator, d: int) -> Problem:
    """A bowl in thirty dimensions."""
    return bowl(rng, d, 0.2)


@problem("ellipsoid", "smooth", 8, lowest=0.0)
def ellipsoid(rng: np.random.Generator, d: int) -> Problem:
    """Condition 1e3, turned, with correlated errors."""
    c, q, weight = place(rng, d), rotation(rng, d), 10.0 ** np.linspace(-1, 2, d)
    a = rng.standard_normal((d, d)) / np.sqrt(d) * 0.1 + 0.03 * np.eye(d)
    metric = q * weight @ q.T
    exact = lambda theta: float((theta - c) @ metric @ (theta - c) + np.trace(metric @ a @ a.T))  # noqa: E731
    values = lambda x: ((x - c) @ q) ** 2 @ weight  # noqa: E731
    return Problem(c + 2 * unit(rng, d), 0.5, gaussian(a @ a.T), values, best=c, exact=exact)


@problem("rosenbrock", "smooth", 6, lowest=0.0)
def rosenbrock(rng: np.random.Generator, d: int) -> Problem:
    """A curved valley."""
    c = place(rng, d)

    def values(x: np.ndarray) -> np.ndarray:
        z = x - c + 1
        return np.sum(100 * (z[:, 1:] - z[:, :-1] ** 2) ** 2 + (1 - z[:, :-1]) ** 2, axis=1)

    return Problem(c + 0.8 * unit(rng, d), 0.4, gaussian(0.05), values)


@problem("abs", "smooth", 5, lowest=0.0)
def abs_(rng: np.random.Generator, d: int) -> Problem:
    """The sum of deviations, which noise makes smooth."""
    c = place(rng, d)
    values = lambda x: np.abs(x - c).sum(axis=1)  # noqa: E731
    return Problem(c + 2 * unit(rng, d), 0.5, gaussian(0.1), values, best=c)


@problem("ackley", "smooth", 12, lowest=0.0)
def ackley(rng: np.random.Generator, d: int) -> Problem:
    """Ackley's function, its ripples about as wide as the noise."""
    c = place(rng, d)

    def values(x: np.ndarray) -> np.ndarray:
        z = x - c
        return (
            20 * (1 - np.exp(-0.2 * np.sqrt(np.mean(z**2, axis=1))))
            + np.e
            - np.exp(np.mean(np.cos(2 * np.pi * z), axis=1))
        )

    return Problem(c + 3 * unit(rng, d), 0.5, gaussian(0.2), values, highest=20 + np.e, best=c)


@problem("wave", "smooth", 1, lowest=-1.0)
def wave(rng: np.random.Generator, d: int) -> Problem:
    """A wave on a slope, on a line."""
    c, phase = place(rng, d)[0], rng.uniform(0, 2 * np.pi)
    values = lambda x: np.sin(3 * (x[:, 0] - c) + phase) + 0.2 * (x[:, 0] - c) ** 2  # noqa: E731
    return Problem(np.array([c + 1.5]), 0.5, gaussian(0.1), values)


HARTMANN_A = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
HARTMANN_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


@problem("hartmann6", "smooth", 6, lowest=-3.33, highest=0.0)
def hartmann6(rng: np.random.Generator, d: int) -> Problem:
    """Hartmann's function in its box, with the coordinates in random order."""
    order = rng.permutation(d)

    def values(x: np.ndarray) -> np.ndarray:
        gap = np.sum(HARTMANN_A * (x[:, None, order] - HARTMANN_P) ** 2, axis=-1)
        return -np.exp(-gap) @ np.array([1.0, 1.2, 3.0, 3.2])

    box = (np.zeros(d), np.ones(d))
    return Problem(rng.uniform(0.3, 0.7, d), 0.2, gaussian(0.05), values, bounds=box)


@problem("stairs", "stairs", 3, lowest=0.0)
def stairs(rng: np.random.Generator, d: int) -> Problem:
    """Round stairs down to the middle."""
    c = place(rng, d)
    values = lambda x: np.floor(2 * np.sqrt(square(x - c))) / 2  # noqa: E731
    return Problem(c + 2.5 * unit(rng, d), 0.5, gaussian(0.15), values, best=c)


@problem("stairs-20", "stairs", 20, lowest=0.0)
def stairs_20(rng: np.random.Generator, d: int) -> Problem:
    """Stairs in each of twenty coordinates."""
    c = place(rng, d)
    values = lambda x: np.mean(np.floor(np.abs(x - c) / 0.4), axis=1)  # noqa: E731
    return Problem(c + rng.uniform(-2, 2, d), 0.5, gaussian(0.1), values, best=c)


@problem("digits", "stairs", 1, lowest=0.0)
def digits(rng: np.random.Generator, d: int) -> Problem:
    """A display with one digit after the point."""
    c = place(rng, d)
    values = lambda x: np.round((x[:, 0] - c[0]) ** 2, 1)  # noqa: E731
    return Problem(c + rng.choice([-1.5, 1.5]), 0.4, gaussian(0.1), values, best=c)


@problem("signs", "stairs", 8, lowest=0.0)
def signs(rng: np.random.Generator, d: int) -> Problem:
    """How many of eight thresholds are not met, and a little cost for more than is needed."""
    c, q = place(rng, d), rotation(rng, d)

    def values(x: np.ndarray) -> np.ndarray:
        z = (x - c) @ q
        return np.sum(z < 0, axis=1) + np.round(0.3 * np.sum(np.clip(z, 0, None), axis=1), 1)

    return Problem(c - 0.6 * q.sum(axis=1), 0.4, gaussian(0.1), values)


@problem("step", "step", 2, lowest=-0.2)
def step(rng: np.random.Generator, d: int) -> Problem:
    """A gentle slope down to a step up that is smaller than what the noise blurs."""
    c, n = place(rng, d), unit(rng, d)

    def values(x: np.ndarray) -> np.ndarray:
        z = (x - c) @ n
        return 0.2 * square(x - c) - 0.3 * z + 1.0 * (z > 0)

    return Problem(c - 1.5 * n, 0.4, gaussian(0.4), values)


@problem("laplace-step", "step", 4, lowest=0.0)
def laplace_step(rng: np.random.Generator, d: int) -> Problem:
    """The same with a step up of 5 at the optimum and Laplace noise."""
    c, n = place(rng, d), unit(rng, d)
    values = lambda x: np.abs(x - c).sum(axis=1) + 5.0 * ((x - c) @ n > 0.1)  # noqa: E731
    return Problem(c - 1.5 * n, 0.4, laplace(0.08), values)
