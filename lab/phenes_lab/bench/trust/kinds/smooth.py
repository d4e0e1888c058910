"""Controls: smooth functions under Gaussian noise, where a narrow claim is right and a wide one a
waste.
"""

import numpy as np

from phenes_lab.bench.trust.kinds.draws import place, rotation, square, unit
from phenes_lab.bench.trust.laws import gaussian
from phenes_lab.bench.trust.problem import Problem, problem


def _bowl(rng: np.random.Generator, d: int, scale: float) -> Problem:
    c = place(rng, d)
    exact = lambda theta: float(np.sum((theta - c) ** 2) + d * scale**2)  # noqa: E731
    return Problem(
        c + 2 * unit(rng, d),
        0.5,
        gaussian(scale),
        lambda x: square(x - c),
        lowest=0.0,
        best=c,
        exact=exact,
    )


@problem("sphere", "smooth", 10)
def sphere(rng: np.random.Generator, d: int) -> Problem:
    """A bowl."""
    return _bowl(rng, d, 0.1)


@problem("sphere-30", "smooth", 30)
def sphere_30(rng: np.random.Generator, d: int) -> Problem:
    """A bowl in thirty dimensions."""
    return _bowl(rng, d, 0.2)


@problem("ellipsoid", "smooth", 8)
def ellipsoid(rng: np.random.Generator, d: int) -> Problem:
    """Condition 1e3, turned, with correlated errors."""
    c, q, weight = place(rng, d), rotation(rng, d), 10.0 ** np.linspace(-1, 2, d)
    a = rng.standard_normal((d, d)) / np.sqrt(d) * 0.1 + 0.03 * np.eye(d)
    metric = q * weight @ q.T
    exact = lambda theta: float((theta - c) @ metric @ (theta - c) + np.trace(metric @ a @ a.T))  # noqa: E731
    values = lambda x: ((x - c) @ q) ** 2 @ weight  # noqa: E731
    return Problem(
        c + 2 * unit(rng, d), 0.5, gaussian(a @ a.T), values, lowest=0.0, best=c, exact=exact
    )


@problem("rosenbrock", "smooth", 6)
def rosenbrock(rng: np.random.Generator, d: int) -> Problem:
    """A curved valley."""
    c = place(rng, d)

    def values(x: np.ndarray) -> np.ndarray:
        z = x - c + 1
        return np.sum(100 * (z[:, 1:] - z[:, :-1] ** 2) ** 2 + (1 - z[:, :-1]) ** 2, axis=1)

    return Problem(c + 0.8 * unit(rng, d), 0.4, gaussian(0.05), values, lowest=0.0)


@problem("abs", "smooth", 5)
def abs_(rng: np.random.Generator, d: int) -> Problem:
    """The sum of deviations, which noise makes smooth."""
    c = place(rng, d)
    values = lambda x: np.abs(x - c).sum(axis=1)  # noqa: E731
    return Problem(c + 2 * unit(rng, d), 0.5, gaussian(0.1), values, lowest=0.0, best=c)


@problem("ackley", "smooth", 12)
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

    return Problem(
        c + 3 * unit(rng, d), 0.5, gaussian(0.2), values, lowest=0.0, highest=20 + np.e, best=c
    )


@problem("wave", "smooth", 1)
def wave(rng: np.random.Generator, d: int) -> Problem:
    """A wave on a slope, on a line."""
    c, phase = place(rng, d)[0], rng.uniform(0, 2 * np.pi)
    values = lambda x: np.sin(3 * (x[:, 0] - c) + phase) + 0.2 * (x[:, 0] - c) ** 2  # noqa: E731
    return Problem(np.array([c + 1.5]), 0.5, gaussian(0.1), values, lowest=-1.0)


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


@problem("hartmann6", "smooth", 6)
def hartmann6(rng: np.random.Generator, d: int) -> Problem:
    """Hartmann's function in its box, with the coordinates in random order."""
    order = rng.permutation(d)

    def values(x: np.ndarray) -> np.ndarray:
        gap = np.sum(HARTMANN_A * (x[:, None, order] - HARTMANN_P) ** 2, axis=-1)
        return -np.exp(-gap) @ np.array([1.0, 1.2, 3.0, 3.2])

    box = (np.zeros(d), np.ones(d))
    return Problem(
        rng.uniform(0.3, 0.7, d), 0.2, gaussian(0.05), values, bounds=box, lowest=-3.33, highest=0.0
    )
