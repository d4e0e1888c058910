"""Errors that are not Gaussian: heavy tails, a machine that sometimes misses, grids, tolerances,
errors that depend on theta.
"""

import numpy as np

from phenes_lab.bench.trust.kinds.draws import place, square, unit
from phenes_lab.bench.trust.laws import (
    contaminated,
    laplace,
    rounding,
    skewed,
    student_t,
    uniform,
    varying,
)
from phenes_lab.bench.trust.problem import Problem, problem


@problem("tail-cliff", "heavy tails", 2)
def tail_cliff(rng: np.random.Generator, d: int) -> Problem:
    """A cliff that only the tails of the error reach."""
    c, n = place(rng, d), unit(rng, d)
    values = lambda x: square(x - c) + 10.0 * ((x - c) @ n > 0.5)  # noqa: E731
    return Problem(c - 1.2 * n, 0.4, student_t(0.07, 3.0), values, lowest=0.0)


@problem("laplace-wall", "heavy tails", 4)
def laplace_wall(rng: np.random.Generator, d: int) -> Problem:
    """Laplace errors, and no value beyond a wall."""
    c, n, margin = place(rng, d), unit(rng, d), rng.uniform(0.1, 0.3)
    values = lambda x: np.where((x - c) @ n < margin, np.abs(x - c).sum(axis=1), np.nan)  # noqa: E731
    return Problem(c - 1.5 * n, 0.4, laplace(0.08), values, lowest=0.0)


@problem("missing-machine", "heavy tails", 3)
def missing_machine(rng: np.random.Generator, d: int) -> Problem:
    """Nineteen times of twenty it is exact, the twentieth it is far off, and far off is costly."""
    c = place(rng, d)
    values = lambda x: np.where(square(x - c) < 1.0, square(x - c), 5.0)  # noqa: E731
    return Problem(
        c + 1.2 * unit(rng, d),
        0.4,
        contaminated(0.05, 0.6, 0.05),
        values,
        lowest=0.0,
        highest=5.0,
        best=c,
    )


@problem("t-sphere", "heavy tails", 8)
def t_sphere(rng: np.random.Generator, d: int) -> Problem:
    """A bowl under Student's t with five degrees of freedom."""
    c, scale = place(rng, d), rng.uniform(0.05, 0.15)
    law = student_t(scale, 5.0)
    exact = lambda theta: float(np.sum((theta - c) ** 2) + d * law.size**2)  # noqa: E731
    return Problem(
        c + 2 * unit(rng, d), 0.5, law, lambda x: square(x - c), lowest=0.0, best=c, exact=exact
    )


@problem("stepper", "rounding", 2)
def stepper(rng: np.random.Generator, d: int) -> Problem:
    """A stepper motor: only multiples of its step are reached."""
    c = place(rng, d)
    return Problem(
        c + 1.5 * unit(rng, d), 0.4, rounding(0.2, 0.06), lambda x: square(x - c), lowest=0.0
    )


@problem("tablets", "rounding", 6)
def tablets(rng: np.random.Generator, d: int) -> Problem:
    """Doses in halves of tablets; above a total the patient is ill."""
    c, limit = rng.uniform(0.5, 2.0, d), rng.uniform(5.0, 7.0)
    values = lambda x: np.abs(x - c).sum(axis=1) + 5.0 * (x.sum(axis=1) > limit)  # noqa: E731
    return Problem(np.full(d, 0.5), 0.3, rounding(0.5, 0.1), values, lowest=0.0)


@problem("tolerances", "tolerance", 3)
def tolerances(rng: np.random.Generator, d: int) -> Problem:
    """Errors with hard limits, and scrap just beyond the optimum: aimed well nothing is lost."""
    c, n = place(rng, d), unit(rng, d)
    values = lambda x: np.where((x - c) @ n < 0, square(x - c), 4.0)  # noqa: E731
    return Problem(c - 1.2 * n, 0.3, uniform(0.12), values, lowest=0.0)


def _proportional(theta):
    return 0.02 + 0.15 * abs(theta)


def _distant(theta):
    return 0.05 + 0.1 * (theta - 1.0) ** 2 / (1.0 + (theta - 1.0) ** 2)


@problem("dosage", "theta-dependent noise", 1)
def dosage(rng: np.random.Generator, d: int) -> Problem:
    """A dose whose error grows with it: effect saturates, and above a threshold it is toxic."""
    toxic, size = rng.uniform(1.6, 2.4), rng.uniform(0.8, 1.2)
    values = lambda x: (  # noqa: E731
        -np.clip(x[:, 0], 0, None) / (size + np.clip(x[:, 0], 0, None)) + 2.0 * (x[:, 0] > toxic)
    )
    return Problem(
        np.array([0.4]), 0.3, varying(_proportional, 0.15), values, lowest=-1.0, highest=2.0
    )


@problem("large-is-loose", "theta-dependent noise", 4)
def large_is_loose(rng: np.random.Generator, d: int) -> Problem:
    """A bowl away from zero with an error that grows with theta: it pays to stay below its
    bottom.
    """
    c = rng.uniform(1.0, 2.0, d)
    exact = lambda theta: float(np.sum((theta - c) ** 2 + _proportional(theta) ** 2))  # noqa: E731
    best = (c - 0.15 * 0.02) / (1 + 0.15**2)
    return Problem(
        np.full(d, 0.3),
        0.4,
        varying(_proportional, 0.2),
        lambda x: square(x - c),
        lowest=0.0,
        best=best,
        exact=exact,
    )


@problem("calm-spot", "theta-dependent noise", 6)
def calm_spot(rng: np.random.Generator, d: int) -> Problem:
    """The error is least at one; a wall stands at 1.3."""
    weight = rng.uniform(0.5, 1.5, d)
    values = lambda x: np.where((x < 1.3).all(axis=1), (1.3 - x) @ weight, np.nan)  # noqa: E731
    return Problem(rng.uniform(-0.5, 0.0, d), 0.3, varying(_distant, 0.1), values, lowest=0.0)


@problem("overshoot", "skewed", 2)
def overshoot(rng: np.random.Generator, d: int) -> Problem:
    """A law of one's own: mostly a little short, now and then far beyond, where there is no
    value.
    """
    c, room = place(rng, d), rng.uniform(0.3, 0.5)
    values = lambda x: np.where((x < c + room).all(axis=1), np.abs(x - c).sum(axis=1), np.nan)  # noqa: E731
    return Problem(
        c - rng.uniform(0.8, 1.2, d),
        0.3,
        skewed(),
        values,
        failing="exception",
        lowest=0.0,
        highest=20.0,
    )
