"""Published problems with noise on the inputs (Frohlich et al. 2020): the answer is the optimum of
E f, not that of f or of its ranks.
"""

import numpy as np
import pytest

from tests.adaptive.problems import run


def sines(x):
    return -(np.sin(5 * np.pi * x[:, 0] ** 2) + x[:, 0] / 2)


def mixture(x):
    centres, widths, heights = (
        np.array([[0.2, 0.2], [0.8, 0.2], [0.5, 0.7]]),
        np.array([0.2, 0.1, 0.1]),
        np.array([0.5, 0.7, 0.7]),
    )
    return -np.exp(-np.sum((x[:, None] - centres) ** 2, axis=2) / (2 * widths**2)) @ heights


def polynomial(points):
    x, y = np.clip(points, [-0.95, -0.45], [3.2, 4.4]).T
    first = 2 * x**6 - 12.2 * x**5 + 21.2 * x**4 + 6.2 * x - 6.4 * x**3 - 4.7 * x**2
    second = y**6 - 11 * y**5 + 43.3 * y**4 - 10 * y - 74.8 * y**3 + 56.9 * y**2
    return first + second - 4.1 * x * y - 0.1 * x**2 * y**2 + 0.4 * x * y**2 + 0.4 * x**2 * y


def hartmann(x):
    a = np.array([[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]])
    p = 1e-4 * np.array(
        [[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]
    )
    return -np.exp(-np.sum(a * (x[:, None] - p) ** 2, axis=2)) @ np.array([1, 1.2, 3, 3.2])


def grid(dim, points):
    """Nodes and weights of the expectation over N(0, I): the trapezoidal rule, which stands the
    kinks of clipped functions.
    """
    nodes = np.linspace(-6, 6, points)
    mesh = np.stack(np.meshgrid(*[nodes] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    weights = np.exp(-np.sum(mesh**2, axis=1) / 2)
    return mesh, weights / weights.sum()


# name: f, box, sigma, robust optimum, nodes for the expectation, largest median regret
PROBLEMS = {
    "sines": (sines, [0.0], [1.0], 0.05, [0.31112], 1000, 1e-3),
    "mixture": (mixture, [0.0, 0.0], [1.0, 1.0], 0.1, [0.2003, 0.2002], 100, 1e-3),
    "polynomial": (polynomial, [-0.95, -0.45], [3.2, 4.4], 0.6, [0.2672, 0.6746], 300, 0.02),
    "hartmann": (hartmann, [0.0] * 3, [1.0] * 3, 0.1, [0.1173, 0.5694, 0.8303], 40, 1e-3),
}


@pytest.mark.tier("runs")
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_robust_optimum_is_found(name):
    """10,000 evaluations from random starts in the box; the median regret of 5 seeds."""
    f, lower, upper, sigma, optimum, nodes, allowed = PROBLEMS[name]
    low, high = np.array(lower), np.array(upper)
    draws, weights = grid(low.size, nodes)
    regrets = []
    for seed in range(5):
        start = np.random.default_rng([seed, 3]).uniform(low, high)
        noise = np.full(low.size, sigma**2)
        search = run(f, start, (high - low) / 4, noise, 10_000, seed=seed, lower=low, upper=high)
        regrets.append(
            weights @ (f(search.mean + sigma * draws) - f(np.array(optimum) + sigma * draws))
        )
    assert np.median(regrets) < allowed, regrets
    assert min(regrets) > -1e-3  # else the optimum of the table is none
