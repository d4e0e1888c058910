"""Plants and machines: a reactor that runs away, a gripper that drops, a bearing that seizes. The
jump is a price, not a missing value.
"""

import numpy as np

from phenes_lab.bench.trust.kinds.draws import place, square
from phenes_lab.bench.trust.laws import gaussian, saturating
from phenes_lab.bench.trust.problem import Problem, problem


@problem("reactor", "penalty", 3)
def reactor(rng: np.random.Generator, d: int) -> Problem:
    """Temperature, feed, cooling: conversion rises with temperature until cooling no longer
    suffices, and the batch is lost.
    """
    heat, loss = rng.uniform(0.8, 1.2), rng.uniform(20, 60)

    def values(x: np.ndarray) -> np.ndarray:
        hot, feed, cool = x.T
        produced = np.clip(feed, 0, None) * np.exp(np.clip(2 * (hot - 1), None, 4))
        runaway = heat * produced > 1 + 1.5 * cool
        return np.where(runaway, loss, -produced + 0.5 * cool**2 + 0.3 * feed**2)

    return Problem(np.array([0.5, 0.6, 0.8]) + 0.1 * place(rng, d, 1), 0.2, gaussian(0.04), values)


@problem("gripper", "penalty", 3, lowest=0.0, highest=25.0)
def gripper(rng: np.random.Generator, d: int) -> Problem:
    """Force, speed and offset of a gripper: drops what it holds too loosely for its speed, crushes
    what it holds too hard.
    """
    grip, crush, c = rng.uniform(0.5, 0.7), rng.uniform(1.6, 2.0), rng.uniform(-0.3, 0.3)

    def values(x: np.ndarray) -> np.ndarray:
        force, speed, offset = x.T
        dropped = force * (1 - 2 * (offset - c) ** 2) < grip * (0.3 + speed**2)
        return np.where(dropped | (force > crush), 10.0, 0.1 * force + 1 / np.maximum(speed, 0.05))

    x0 = np.array([1.2, 0.6, 0.0])
    return Problem(x0, 0.2, gaussian(np.array([0.06, 0.03, 0.05])), values)


@problem("bearing", "penalty", 2, lowest=0.0)
def bearing(rng: np.random.Generator, d: int) -> Problem:
    """Diameters of shaft and bush: a small clearance runs smoothly, none at all seizes."""
    size, seized = rng.uniform(-1, 1), rng.uniform(5, 50)

    def values(x: np.ndarray) -> np.ndarray:
        gap = x[:, 1] - x[:, 0]
        return np.where(gap > 0, gap + 0.3 * (x[:, 0] - size) ** 2, seized)

    return Problem(np.array([size - 0.5, size + 0.8]), 0.3, gaussian(0.06), values)


@problem("clearances", "penalty", 4, lowest=0.0)
def clearances(rng: np.random.Generator, d: int) -> Problem:
    """Two shafts in two bushes: as the bearing, and either may seize."""
    size, seized = place(rng, 2, 1.0), rng.uniform(5, 50)

    def values(x: np.ndarray) -> np.ndarray:
        shaft, gap = x[:, ::2], x[:, 1::2] - x[:, ::2]
        runs = gap.sum(axis=1) + 0.2 * square(shaft - size)
        return np.where((gap > 0).all(axis=1), runs, seized)

    x0 = np.array([size[0] - 0.4, size[0] + 0.7, size[1] + 0.3, size[1] + 1.1])
    return Problem(x0, 0.3, gaussian(0.07), values)


@problem("ledge", "penalty", 1, lowest=0.0)
def ledge(rng: np.random.Generator, d: int) -> Problem:
    """A depth whose optimum is two standard deviations from where it breaks through: a parabola all
    around the answer, and a thousand times as much beyond.
    """
    c, broken = place(rng, d), rng.uniform(20, 80)
    values = lambda x: square(x - c) + broken * (x[:, 0] < c[0] - 0.22)  # noqa: E731
    return Problem(c + 1.2, 0.4, gaussian(0.1), values)


@problem("battery", "penalty", 5, lowest=0.0)
def battery(rng: np.random.Generator, d: int) -> Problem:
    """Charging currents of five stages: time is money, and each stage has a current above which
    lithium plates.
    """
    limit = np.sort(rng.uniform(0.8, 2.2, d))[::-1].copy()
    values = lambda x: (  # noqa: E731
        np.sum(0.3 / np.clip(x, 0.05, None), axis=1) + 2.0 * np.sum(x > limit, axis=1)
    )
    return Problem(0.4 * limit, 0.2, gaussian(0.06), values, highest=6.0 * d + 2.0 * d)


@problem("penalty-12", "penalty", 12, lowest=0.0)
def penalty_12(rng: np.random.Generator, d: int) -> Problem:
    """A bowl whose constraints, three random half-spaces, cost 1e4 each: the habit of those who
    have a solver without constraints.
    """
    c, a = place(rng, d), rng.standard_normal((3, d)) / np.sqrt(d)
    margin = rng.uniform(0.1, 0.4, 3)
    inside = -a.T @ np.linalg.solve(a @ a.T, margin + 1.0)
    values = lambda x: square(x - c) + 1e4 * np.sum((x - c) @ a.T > -margin, axis=1)  # noqa: E731
    return Problem(c + inside, 0.3, gaussian(0.08), values)


@problem("sensor", "saturation", 2, lowest=0.0, highest=1.0)
def sensor(rng: np.random.Generator, d: int) -> Problem:
    """An actuator with end stops, and a sensor that shows at most 1."""
    c = rng.uniform(-0.7, 0.7, d)
    values = lambda x: np.minimum(0.5 * np.abs(x - c).sum(axis=1), 1.0)  # noqa: E731
    x0 = np.clip(c + rng.choice([-1.0, 1.0], d) * 1.1, -1, 1)
    return Problem(x0, 0.4, saturating(0.1, -1.0, 1.0), values)


@problem("stops", "saturation", 4, lowest=0.0, highest=12.0)
def stops(rng: np.random.Generator, d: int) -> Problem:
    """The best setting is at the stops, where x no longer depends on theta, and slamming into all
    of them breaks it.
    """
    gain = rng.uniform(0.5, 1.5, d)

    def values(x: np.ndarray) -> np.ndarray:
        return np.where((x >= 1.0).sum(axis=1) > 2, 5.0, np.sum(gain * (1 - x), axis=1))

    return Problem(rng.uniform(-0.5, 0.0, d), 0.3, saturating(0.1, -1.0, 1.0), values)
