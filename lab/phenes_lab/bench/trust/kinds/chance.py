"""Chance that is not a Gaussian error of x: values that are noisy themselves; evaluations that
fail, return nothing or take too long; errors with heavy tails, of a machine that sometimes misses,
on grids, within tolerances, or that depend on theta.
"""

from collections.abc import Callable

import numpy as np

from phenes_lab.bench.trust.kinds.draws import place, rotation, square, unit
from phenes_lab.bench.trust.laws import (
    contaminated,
    exactly,
    gaussian,
    laplace,
    rounding,
    skewed,
    student_t,
    uniform,
    varying,
)
from phenes_lab.bench.trust.problem import Problem, problem

Chance = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def added(size: float) -> Chance:
    """Gaussian noise on the value."""
    return lambda y, rng: y + size * rng.standard_normal(len(y))


def lost(share: float) -> Chance:
    """A share of the evaluations fails, wherever they are."""
    return lambda y, rng: np.where(rng.random(len(y)) < share, np.nan, y)


@problem("noisy-values", "noisy values", 3, chance=added(0.3))
def noisy_values(rng: np.random.Generator, d: int) -> Problem:
    """x is exact, the balance is not."""
    c = place(rng, d)
    exact = lambda theta: float(np.sum((theta - c) ** 2))  # noqa: E731
    x0 = c + 1.5 * unit(rng, d)
    return Problem(x0, 0.5, exactly(), lambda x: square(x - c), best=c, exact=exact)


@problem(
    "noisy-product",
    "noisy values",
    10,
    chance=lambda y, rng: y * (1 + 0.3 * rng.standard_normal(len(y))),
)
def noisy_product(rng: np.random.Generator, d: int) -> Problem:
    """An error in proportion to the value, on an ellipsoid."""
    c, q, weight = place(rng, d), rotation(rng, d), 10.0 ** np.linspace(-1, 1, d)
    values = lambda x: 1 + ((x - c) @ q) ** 2 @ weight  # noqa: E731
    return Problem(c + 1.5 * unit(rng, d), 0.5, exactly(), values, best=c)


@problem("outliers", "noisy values", 2, chance=lambda y, rng: y + 0.3 * rng.standard_t(3, len(y)))
def outliers(rng: np.random.Generator, d: int) -> Problem:
    """Values with Student's t of three degrees of freedom."""
    c = place(rng, d)
    values = lambda x: np.abs(x - c).sum(axis=1)  # noqa: E731
    return Problem(c + 1.5 * unit(rng, d), 0.5, exactly(), values, best=c)


@problem("votes", "noisy values", 4, lowest=-1.0, highest=0.0)
def votes(rng: np.random.Generator, d: int) -> Problem:
    """Each value is yes or no, by a chance that depends on x."""
    c = place(rng, d)
    chance = lambda y, rng: -(rng.random(len(y)) < y).astype(float)  # noqa: E731
    values = lambda x: 0.9 * np.exp(-0.5 * square(x - c))  # noqa: E731
    return Problem(c + 1.2 * unit(rng, d), 0.5, exactly(), values, chance=chance, best=c)


@problem("noise-twice", "noisy values", 5, chance=added(0.2))
def noise_twice(rng: np.random.Generator, d: int) -> Problem:
    """Errors of x and of the value, and a step."""
    c, n = place(rng, d), unit(rng, d)
    values = lambda x: square(x - c) + 2.0 * ((x - c) @ n > 0.1)  # noqa: E731
    return Problem(c - 1.5 * n, 0.5, gaussian(0.1), values)


@problem("random-failures", "random failures", 6, chance=lost(0.14), lowest=0.0)
def random_failures(rng: np.random.Generator, d: int) -> Problem:
    """A bowl; one evaluation of seven is lost, wherever it is."""
    c = place(rng, d)
    return Problem(c + 2 * unit(rng, d), 0.5, gaussian(0.1), lambda x: square(x - c), best=c)


@problem(
    "random-exceptions", "random failures", 2, chance=lost(0.4), failing="exception", lowest=0.0
)
def random_exceptions(rng: np.random.Generator, d: int) -> Problem:
    """Two of five raise, without input noise."""
    c = place(rng, d)
    values = lambda x: np.abs(x - c).max(axis=1)  # noqa: E731
    return Problem(c + 1.5 * unit(rng, d), 0.5, exactly(), values, best=c)


@problem("nothing-returned", "no answer", 3, chance=lost(0.05), failing="none", lowest=0.0)
def nothing_returned(rng: np.random.Generator, d: int) -> Problem:
    """A mesher that gives up on thin walls and returns None; one time in twenty for no reason."""
    c, n = place(rng, d), unit(rng, d)
    values = lambda x: np.where((x - c) @ n > 0.2, square(x - c), np.nan)  # noqa: E731
    return Problem(c + 1.5 * n, 0.4, gaussian(0.1), values)


@problem("timeouts", "no answer", 5, failing="timeout", lowest=0.0)
def timeouts(rng: np.random.Generator, d: int) -> Problem:
    """The stiffer the longer: what is too stiff is not ready in time, and stiff is good."""
    c, weight = place(rng, d), rng.uniform(0.5, 1.5, d)

    def values(x: np.ndarray) -> np.ndarray:
        stiff = (x - c) @ weight
        return np.where(stiff < 1.0, np.exp(-stiff) + 0.2 * square(x - c), np.nan)

    return Problem(c - rng.uniform(0.3, 0.6, d), 0.3, gaussian(0.1), values)


@problem("tail-cliff", "heavy tails", 2, lowest=0.0)
def tail_cliff(rng: np.random.Generator, d: int) -> Problem:
    """A cliff that only the tails of the error reach."""
    c, n = place(rng, d), unit(rng, d)
    values = lambda x: square(x - c) + 10.0 * ((x - c) @ n > 0.5)  # noqa: E731
    return Problem(c - 1.2 * n, 0.4, student_t(0.07, 3.0), values)


@problem("laplace-wall", "heavy tails", 4, lowest=0.0)
def laplace_wall(rng: np.random.Generator, d: int) -> Problem:
    """Laplace errors, and no value beyond a wall."""
    c, n, margin = place(rng, d), unit(rng, d), rng.uniform(0.1, 0.3)
    values = lambda x: np.where((x - c) @ n < margin, np.abs(x - c).sum(axis=1), np.nan)  # noqa: E731
    return Problem(c - 1.5 * n, 0.4, laplace(0.08), values)


@problem("missing-machine", "heavy tails", 3, lowest=0.0, highest=5.0)
def missing_machine(rng: np.random.Generator, d: int) -> Problem:
    """Nineteen times of twenty it is exact, the twentieth it is far off, and far off is costly."""
    c = place(rng, d)
    values = lambda x: np.where(square(x - c) < 1.0, square(x - c), 5.0)  # noqa: E731
    return Problem(c + 1.2 * unit(rng, d), 0.4, contaminated(0.05, 0.6, 0.05), values, best=c)


@problem("t-sphere", "heavy tails", 8, lowest=0.0)
def t_sphere(rng: np.random.Generator, d: int) -> Problem:
    """A bowl under Student's t with five degrees of freedom."""
    c, scale = place(rng, d), rng.uniform(0.05, 0.15)
    law = student_t(scale, 5.0)
    exact = lambda theta: float(np.sum((theta - c) ** 2) + d * law.size**2)  # noqa: E731
    return Problem(c + 2 * unit(rng, d), 0.5, law, lambda x: square(x - c), best=c, exact=exact)


@problem("stepper", "rounding", 2, lowest=0.0)
def stepper(rng: np.random.Generator, d: int) -> Problem:
    """A stepper motor: only multiples of its step are reached."""
    c = place(rng, d)
    return Problem(c + 1.5 * unit(rng, d), 0.4, rounding(0.2, 0.06), lambda x: square(x - c))


@problem("tablets", "rounding", 6, lowest=0.0)
def tablets(rng: np.random.Generator, d: int) -> Problem:
    """Doses in halves of tablets; above a total the patient is ill."""
    c, limit = rng.uniform(0.5, 2.0, d), rng.uniform(5.0, 7.0)
    values = lambda x: np.abs(x - c).sum(axis=1) + 5.0 * (x.sum(axis=1) > limit)  # noqa: E731
    return Problem(np.full(d, 0.5), 0.3, rounding(0.5, 0.1), values)


@problem("tolerances", "tolerance", 3, lowest=0.0)
def tolerances(rng: np.random.Generator, d: int) -> Problem:
    """Errors with hard limits, and scrap just beyond the optimum: aimed well nothing is lost."""
    c, n = place(rng, d), unit(rng, d)
    values = lambda x: np.where((x - c) @ n < 0, square(x - c), 4.0)  # noqa: E731
    return Problem(c - 1.2 * n, 0.3, uniform(0.12), values)


def _proportional(theta):
    return 0.02 + 0.15 * abs(theta)


def _distant(theta):
    return 0.05 + 0.1 * (theta - 1.0) ** 2 / (1.0 + (theta - 1.0) ** 2)


@problem("dosage", "theta-dependent noise", 1, lowest=-1.0, highest=2.0)
def dosage(rng: np.random.Generator, d: int) -> Problem:
    """A dose whose error grows with it: effect saturates, and above a threshold it is toxic."""
    toxic, size = rng.uniform(1.6, 2.4), rng.uniform(0.8, 1.2)
    values = lambda x: (  # noqa: E731
        -np.clip(x[:, 0], 0, None) / (size + np.clip(x[:, 0], 0, None)) + 2.0 * (x[:, 0] > toxic)
    )
    return Problem(np.array([0.4]), 0.3, varying(_proportional, 0.15), values)


@problem("large-is-loose", "theta-dependent noise", 4, lowest=0.0)
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
        best=best,
        exact=exact,
    )


@problem("calm-spot", "theta-dependent noise", 6, lowest=0.0)
def calm_spot(rng: np.random.Generator, d: int) -> Problem:
    """The error is least at one; a wall stands at 1.3."""
    weight = rng.uniform(0.5, 1.5, d)
    values = lambda x: np.where((x < 1.3).all(axis=1), (1.3 - x) @ weight, np.nan)  # noqa: E731
    return Problem(rng.uniform(-0.5, 0.0, d), 0.3, varying(_distant, 0.1), values)


@problem("overshoot", "skewed", 2, failing="exception", lowest=0.0, highest=20.0)
def overshoot(rng: np.random.Generator, d: int) -> Problem:
    """A law of one's own: mostly a little short, now and then far beyond, where there is no
    value.
    """
    c, room = place(rng, d), rng.uniform(0.3, 0.5)
    values = lambda x: np.where((x < c + room).all(axis=1), np.abs(x - c).sum(axis=1), np.nan)  # noqa: E731
    return Problem(c - rng.uniform(0.8, 1.2, d), 0.3, skewed(), values)
