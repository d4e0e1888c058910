"""Problems whose probability and best theta are exact: x = theta + Gaussian noise.

f is the squared distance from a point beyond the limits, so that E f is that of theta and a
constant, which regrets do not see.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import ncx2, norm

Limits = Callable[[np.ndarray], dict[str, np.ndarray]]


class Problem(NamedTuple):
    """limits: of rows x (n, d), by name. holds: theta -> P(all at most 0). away: p -> distance of
    the best theta from the target. budgets: evaluations that phenes may have.
    """

    about: str
    target: np.ndarray
    noise: float
    limits: Limits
    holds: Callable[[np.ndarray], float]
    away: Callable[[float], float]
    budgets: tuple[int, ...]

    @property
    def dim(self) -> int:
        return self.target.size

    def f(self, x: np.ndarray) -> np.ndarray:
        return np.sum((x - self.target) ** 2, axis=1)


class Score(NamedTuple):
    """What is true of a theta.

    regret: E f less the least E f that p allows, as a share of what the limit costs (the least E f
    that p allows, less that without a limit); below 0 only if p is not met.
    """

    probability: float
    feasible: bool
    regret: float


def score(problem: Problem, p: float, theta: np.ndarray) -> Score:
    probability = problem.holds(theta)
    cost = problem.away(p) ** 2
    excess = float(np.sum((theta - problem.target) ** 2)) - cost
    return Score(probability, probability >= p, excess / cost)


def plane(dim: int, budgets: tuple[int, ...], noise: float = 0.1) -> Problem:
    """At most 0.5 along a direction, in which the target is at 1."""
    normal = np.arange(1.0, dim + 1)
    normal /= np.linalg.norm(normal)
    return Problem(
        f"a plane, d = {dim}, noise {noise:g}: P by the normal law",
        normal,
        noise,
        lambda x: {"plane": x @ normal - 0.5},
        lambda theta: float(norm.cdf((0.5 - normal @ theta) / noise)),
        lambda p: 0.5 + float(norm.ppf(p)) * noise,
        budgets,
    )


def ball(budgets: tuple[int, ...], noise: float = 0.2) -> Problem:
    """x within the unit circle, and the target 2 from its centre: the best theta is between."""
    target = np.array([1.2, 1.6])

    def at(radius: float) -> float:
        return float(ncx2.cdf(noise**-2, 2, (radius / noise) ** 2))

    def edge(p: float) -> float:
        found: Any = brentq(lambda radius: at(radius) - p, 1e-6, 2.0, xtol=1e-12)
        return float(found)

    return Problem(
        f"a ball, d = 2, noise {noise:g}: P by the noncentral chi-square law",
        target,
        noise,
        lambda x: {"ball": np.sum(x**2, axis=1) - 1.0},
        lambda theta: at(float(np.linalg.norm(theta))),
        lambda p: 2.0 - edge(p),
        budgets,
    )


def corner(budgets: tuple[int, ...], noise: float = 0.1) -> Problem:
    """Two planes at right angles, turned, of which both must hold: P is a product."""
    axes = np.array([[0.6, 0.8], [-0.8, 0.6]])
    ends, limits = np.array([1.0, 0.8]), np.array([0.5, 0.4])

    def holds(theta: np.ndarray) -> float:
        return float(np.prod(norm.cdf((limits - axes @ theta) / noise)))

    def away(p: float) -> float:
        """Along the edge of what p allows: the share of the first limit says that of the second."""

        def distance(first: float) -> float:
            shares = np.array([first, p / first])
            return float(np.linalg.norm(ends - limits + norm.ppf(shares) * noise))

        inside = (p + 1e-9, 1 - 1e-9)
        options = {"xatol": 1e-10}
        found: Any = minimize_scalar(distance, bounds=inside, method="bounded", options=options)
        return float(found.fun)

    return Problem(
        f"two planes at once, d = 2, noise {noise:g}: P is the product of theirs",
        ends @ axes,
        noise,
        lambda x: dict(zip(("first", "second"), (x @ axes.T - limits).T, strict=True)),
        holds,
        away,
        budgets,
    )


PROBLEMS = {
    "plane-3": plane(3, (60, 200)),
    "plane-10": plane(10, (2000,)),
    "ball": ball((60, 200)),
    "corner": corner((60, 200)),
}
