"""Values that are noisy themselves, and evaluations that fail by chance, return nothing or take too
long.
"""

from collections.abc import Callable

import numpy as np

from phenes_lab.bench.trust.kinds.draws import place, rotation, square, unit
from phenes_lab.bench.trust.laws import exactly, gaussian
from phenes_lab.bench.trust.problem import Problem, problem

Chance = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def lost(share: float) -> Chance:
    """A share of the evaluations fails, wherever they are."""
    return lambda y, rng: np.where(rng.random(len(y)) < share, np.nan, y)


@problem("noisy-values", "noisy values", 3)
def noisy_values(rng: np.random.Generator, d: int) -> Problem:
    """x is exact, the balance is not."""
    c = place(rng, d)
    chance = lambda y, rng: y + 0.3 * rng.standard_normal(len(y))  # noqa: E731
    exact = lambda theta: float(np.sum((theta - c) ** 2))  # noqa: E731
    return Problem(
        c + 1.5 * unit(rng, d),
        0.5,
        exactly(),
        lambda x: square(x - c),
        chance=chance,
        best=c,
        exact=exact,
    )


@problem("noisy-product", "noisy values", 10)
def noisy_product(rng: np.random.Generator, d: int) -> Problem:
    """An error in proportion to the value, on an ellipsoid."""
    c, q, weight = place(rng, d), rotation(rng, d), 10.0 ** np.linspace(-1, 1, d)
    chance = lambda y, rng: y * (1 + 0.3 * rng.standard_normal(len(y)))  # noqa: E731
    return Problem(
        c + 1.5 * unit(rng, d),
        0.5,
        exactly(),
        lambda x: 1 + ((x - c) @ q) ** 2 @ weight,
        chance=chance,
        best=c,
    )


@problem("outliers", "noisy values", 2)
def outliers(rng: np.random.Generator, d: int) -> Problem:
    """Values with Student's t of three degrees of freedom."""
    c = place(rng, d)
    chance = lambda y, rng: y + 0.3 * rng.standard_t(3, len(y))  # noqa: E731
    return Problem(
        c + 1.5 * unit(rng, d),
        0.5,
        exactly(),
        lambda x: np.abs(x - c).sum(axis=1),
        chance=chance,
        best=c,
    )


@problem("votes", "noisy values", 4)
def votes(rng: np.random.Generator, d: int) -> Problem:
    """Each value is yes or no, by a chance that depends on x."""
    c = place(rng, d)
    chance = lambda y, rng: -(rng.random(len(y)) < y).astype(float)  # noqa: E731
    values = lambda x: 0.9 * np.exp(-0.5 * square(x - c))  # noqa: E731
    return Problem(
        c + 1.2 * unit(rng, d),
        0.5,
        exactly(),
        values,
        chance=chance,
        lowest=-1.0,
        highest=0.0,
        best=c,
    )


@problem("noise-twice", "noisy values", 5)
def noise_twice(rng: np.random.Generator, d: int) -> Problem:
    """Errors of x and of the value, and a step."""
    c, n = place(rng, d), unit(rng, d)
    chance = lambda y, rng: y + 0.2 * rng.standard_normal(len(y))  # noqa: E731
    values = lambda x: square(x - c) + 2.0 * ((x - c) @ n > 0.1)  # noqa: E731
    return Problem(c - 1.5 * n, 0.5, gaussian(0.1), values, chance=chance)


@problem("random-failures", "random failures", 6)
def random_failures(rng: np.random.Generator, d: int) -> Problem:
    """A bowl; one evaluation of seven is lost, wherever it is."""
    c = place(rng, d)
    return Problem(
        c + 2 * unit(rng, d),
        0.5,
        gaussian(0.1),
        lambda x: square(x - c),
        chance=lost(0.14),
        lowest=0.0,
        best=c,
    )


@problem("random-exceptions", "random failures", 2)
def random_exceptions(rng: np.random.Generator, d: int) -> Problem:
    """Two of five raise, without input noise."""
    c = place(rng, d)
    values = lambda x: np.abs(x - c).max(axis=1)  # noqa: E731
    return Problem(
        c + 1.5 * unit(rng, d),
        0.5,
        exactly(),
        values,
        failing="exception",
        chance=lost(0.4),
        lowest=0.0,
        best=c,
    )


@problem("nothing-returned", "no answer", 3)
def nothing_returned(rng: np.random.Generator, d: int) -> Problem:
    """A mesher that gives up on thin walls and returns None; one time in twenty for no reason."""
    c, n = place(rng, d), unit(rng, d)
    values = lambda x: np.where((x - c) @ n > 0.2, square(x - c), np.nan)  # noqa: E731
    return Problem(
        c + 1.5 * n, 0.4, gaussian(0.1), values, failing="none", chance=lost(0.05), lowest=0.0
    )


@problem("timeouts", "no answer", 5)
def timeouts(rng: np.random.Generator, d: int) -> Problem:
    """The stiffer the longer: what is too stiff is not ready in time, and stiff is good."""
    c, weight = place(rng, d), rng.uniform(0.5, 1.5, d)

    def values(x: np.ndarray) -> np.ndarray:
        stiff = (x - c) @ weight
        return np.where(stiff < 1.0, np.exp(-stiff) + 0.2 * square(x - c), np.nan)

    return Problem(
        c - rng.uniform(0.3, 0.6, d), 0.3, gaussian(0.1), values, failing="timeout", lowest=0.0
    )
