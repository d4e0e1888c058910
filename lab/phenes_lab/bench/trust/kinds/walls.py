"""Regions without a value: half-spaces, corners, corridors, rings, holes. Where f has one, it is
smooth.
"""

import numpy as np

from phenes_lab.bench.trust.kinds.draws import place, rotation, square, unit
from phenes_lab.bench.trust.laws import gaussian
from phenes_lab.bench.trust.problem import Problem, problem


@problem("wall-near", "wall-nan", 2, lowest=0.0)
def wall_near(rng: np.random.Generator, d: int) -> Problem:
    """A bowl with a wall within one standard deviation of its bottom."""
    c, n, margin = place(rng, d), unit(rng, d), rng.uniform(0.0, 0.1)
    values = lambda x: np.where((x - c) @ n < margin, square(x - c), np.nan)  # noqa: E731
    return Problem(c - 1.5 * n + 0.5 * unit(rng, d), 0.5, gaussian(0.1), values)


@problem("wall-slope", "wall-nan", 7, lowest=0.0)
def wall_slope(rng: np.random.Generator, d: int) -> Problem:
    """Downhill all the way into the wall, as cost goes down with wall thickness until the part
    cannot be cast.
    """
    c, n, slope = place(rng, d), unit(rng, d), rng.uniform(0.5, 2.0)

    def values(x: np.ndarray) -> np.ndarray:
        depth = (x - c) @ n
        return np.where(depth < 0, 0.2 * square(x - c) - slope * depth, np.nan)

    return Problem(c - 1.5 * n, 0.4, gaussian(0.15), values)


@problem("corner", "wall-nan", 3, failing="none", lowest=0.0)
def corner(rng: np.random.Generator, d: int) -> Problem:
    """Levels of tanks: low is cheap, and a pump that runs dry stops the plant."""
    floor, price, scale = place(rng, d), rng.uniform(0.5, 2.0, d), rng.uniform(0.05, 0.2, d)
    values = lambda x: np.where((x > floor).all(axis=1), (x - floor) @ price, np.nan)  # noqa: E731
    return Problem(floor + rng.uniform(0.8, 1.5, d), 0.4, gaussian(scale), values)


@problem("corridor", "wall-nan", 6, lowest=0.0)
def corridor(rng: np.random.Generator, d: int) -> Problem:
    """A narrow way to the optimum: outside it there is nothing."""
    c, q, width = place(rng, d), rotation(rng, d), rng.uniform(0.3, 0.4)

    def values(x: np.ndarray) -> np.ndarray:
        z = (x - c) @ q
        return np.where((np.abs(z[:, 1:]) < width).all(axis=1), np.abs(z[:, 0]), np.nan)

    return Problem(c + 3.0 * q[:, 0], 0.3, gaussian(0.1), values)


@problem("wall-before-optimum", "wall-exception", 5, failing="exception", lowest=0.0)
def wall_before_optimum(rng: np.random.Generator, d: int) -> Problem:
    """The bowl's bottom lies where the simulator crashes."""
    c, n, margin = place(rng, d), unit(rng, d), rng.uniform(0.3, 0.6)
    weight = 10.0 ** np.linspace(0, 1, d)
    values = lambda x: np.where((x - c) @ n < -margin, (x - c) ** 2 @ weight, np.nan)  # noqa: E731
    return Problem(c - 2.0 * n, 0.5, gaussian(0.1), values)


@problem("wall-log", "wall-exception", 4, failing="exception")
def wall_log(rng: np.random.Generator, d: int) -> Problem:
    """A barrier: log of what becomes negative. The simulator raises where mathematics does."""
    c, a = place(rng, d), rng.uniform(0.5, 1.5, (6, d))

    def values(x: np.ndarray) -> np.ndarray:
        return np.sum(x - c, axis=1) - 0.2 * np.sum(np.log((x - c) @ a.T), axis=1)

    return Problem(c + rng.uniform(0.6, 1.2, d), 0.3, gaussian(0.05), values)


@problem("wall-ball", "wall-inf", 10, failing="inf", lowest=0.0, highest=4.0)
def wall_ball(rng: np.random.Generator, d: int) -> Problem:
    """A straight slope inside a ball, infinity outside."""
    c, n, radius = place(rng, d), unit(rng, d), rng.uniform(1.5, 2.0)
    values = lambda x: np.where(square(x - c) < radius**2, radius - (x - c) @ n, np.inf)  # noqa: E731
    return Problem(c + 0.2 * unit(rng, d), 0.3, gaussian(0.1), values)


@problem("wall-inf-line", "wall-inf", 1, failing="inf", lowest=0.0)
def wall_inf_line(rng: np.random.Generator, d: int) -> Problem:
    """1/x down to a stop, infinite behind it."""
    stop, scale = float(place(rng, 1)[0]), rng.uniform(0.05, 0.15)
    values = lambda x: np.where(x[:, 0] > stop, x[:, 0] - stop, np.inf)  # noqa: E731
    return Problem(np.array([stop + 1.5]), 0.5, gaussian(scale), values)


@problem("box-cliff", "box with cliff", 2, highest=1.0)
def box_cliff(rng: np.random.Generator, d: int) -> Problem:
    """The more the better, until both together are too much."""
    limit, share = rng.uniform(1.2, 1.6), rng.uniform(0.3, 0.7)
    values = lambda x: np.where(x.sum(axis=1) < limit, -x @ np.array([share, 1 - share]), 0.0)  # noqa: E731
    box = (np.zeros(d), np.ones(d))
    return Problem(rng.uniform(0.2, 0.4, d), 0.2, gaussian(0.05), values, bounds=box)


@problem("box-vessel", "box with cliff", 8, failing="exception", lowest=-1.2)
def box_vessel(rng: np.random.Generator, d: int) -> Problem:
    """A vessel rated up to the upper bound of each pressure: the best aim is near many bounds, and
    beyond the rating it bursts.
    """
    rating, gain = rng.uniform(0.9, 1.1, d), rng.uniform(0.5, 1.5, d)
    values = lambda x: np.where((x < rating + 0.05).all(axis=1), -(x @ gain) / gain.sum(), np.nan)  # noqa: E731
    box = (np.zeros(d), rating)
    return Problem(rng.uniform(0.3, 0.5, d), 0.2, gaussian(0.04), values, bounds=box)


@problem("ring", "ring", 2, lowest=0.0, highest=2.0)
def ring(rng: np.random.Generator, d: int) -> Problem:
    """It works only in a narrow ring, and best at one place of it."""
    c, n, half = place(rng, d), unit(rng, d), rng.uniform(0.12, 0.18)

    def values(x: np.ndarray) -> np.ndarray:
        r = np.sqrt(square(x - c))
        return np.where(np.abs(r - 1) < half, 1 - (x - c) @ n / np.maximum(r, 1e-9), np.nan)

    across = np.array([-n[1], n[0]])
    return Problem(c + across, 0.2, gaussian(0.05), values)


@problem("shell", "ring", 5, lowest=0.0, highest=3.0)
def shell(rng: np.random.Generator, d: int) -> Problem:
    """The same in five dimensions: a shell with constant scrap value on both sides."""
    c, n = place(rng, d), unit(rng, d)

    def values(x: np.ndarray) -> np.ndarray:
        r = np.sqrt(square(x - c))
        return np.where(np.abs(r - 2) < 0.4, 1 - (x - c) @ n / np.maximum(r, 1e-9), 3.0)

    side = unit(rng, d)
    side = side - (side @ n) * n
    return Problem(c + 2 * side / np.linalg.norm(side), 0.4, gaussian(0.1), values)


@problem("hole", "hole", 4, failing="exception", lowest=0.0)
def hole(rng: np.random.Generator, d: int) -> Problem:
    """A hole of failures around the optimum."""
    c, radius = place(rng, d), rng.uniform(0.4, 0.6)
    values = lambda x: np.where(square(x - c) > radius**2, square(x - c), np.nan)  # noqa: E731
    return Problem(c + 2.0 * unit(rng, d), 0.5, gaussian(0.1), values)


@problem("start-fails", "start fails", 3, lowest=1.0)
def start_fails(rng: np.random.Generator, d: int) -> Problem:
    """Most of what is tried first has no value."""
    c, n = place(rng, d), unit(rng, d)
    values = lambda x: np.where((x - c) @ n < 0, 1 + square(x - c + n), np.nan)  # noqa: E731
    return Problem(c + 0.25 * n, 0.4, gaussian(0.1), values)


@problem("rare-wall", "rare jump", 2, lowest=0.0)
def rare_wall(rng: np.random.Generator, d: int) -> Problem:
    """A penalty of 100 three standard deviations from the optimum: one draw in 741 decides."""
    c, n, far = place(rng, d), unit(rng, d), rng.uniform(2.7, 3.0)
    values = lambda x: square(x - c) + 100.0 * ((x - c) @ n > 0.1 * far)  # noqa: E731
    return Problem(c - 1.2 * n, 0.5, gaussian(0.1), values)
