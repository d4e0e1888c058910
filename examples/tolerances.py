"""A part with tolerances: the best drawing is not where f is best, since nobody can machine exactly
that.
"""

import numpy as np

import phenes


def strength(x):
    """A sharp peak at 2, and a broad one at -1 that is a little lower."""
    return 1.0 * np.exp(-np.sum((x - 2) ** 2) / 0.02) + 0.8 * np.exp(-np.sum((x + 1) ** 2) / 2)


nominal = phenes.maximize(strength, x0=np.full(2, 1.8), sigma0=0.3, budget=2000, seed=0)
robust = phenes.maximize(strength, x0=np.full(2, 1.8), sigma0=0.3, noise=0.3, budget=6000, seed=0)


def average(theta):
    """E f by brute force, on fresh parts."""
    x = theta + 0.3 * np.random.default_rng(1).standard_normal((20_000, 2))
    return np.mean([strength(part) for part in x])


print(
    "drawing for a perfect machine:",
    nominal.x.round(3),
    "parts are worth",
    average(nominal.x).round(3),
)
print(
    "drawing for this machine:     ",
    robust.x.round(3),
    "parts are worth",
    average(robust.x).round(3),
)
