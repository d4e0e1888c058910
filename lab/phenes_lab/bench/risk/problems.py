"""Problems with the theta of least risk known, by symmetry or by a search on many draws.

The risk at a theta is that of 2^16 mirrored quasi-random draws of the noise, the same for all:
its differences between theta, which regrets are, are exact to about a thousandth.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from phenes.gp.draws import quasi_normal
from phenes.risk import Risk, parse

DRAWS = 2**16
BOX = (-2.0, 2.0)


class Problem(NamedTuple):
    """f of rows (n, d), in the box [-2, 2]^d, with x = theta + noise.

    starts: theta from which the least risk is sought; one if symmetry says that it is there.
    """

    about: str
    f: Callable[[np.ndarray], np.ndarray]
    dim: int
    noise: float
    risk: str
    starts: tuple[tuple[float, ...], ...]
    symmetric: bool = False


def bowl(x: np.ndarray) -> np.ndarray:
    """An ellipsoid with axes 1 to 10 around 0.3 in every coordinate."""
    scale = np.geomspace(1.0, 10.0, x.shape[1])
    return np.sum(scale * (x - 0.3) ** 2, axis=1)


def ledge(x: np.ndarray) -> np.ndarray:
    """Falls slowly towards an edge at 0.5, behind which it rises steeply."""
    over = np.maximum(x[:, 0] - 0.5, 0.0)
    return np.sum((x - 0.5) ** 2, axis=1) + 20 * over**2 + 4 * over


def basins(x: np.ndarray) -> np.ndarray:
    """A deep narrow basin at (1, 1), and a flat wide one at (-0.8, -0.8)."""
    narrow = np.exp(-np.sum((x - 1.0) ** 2, axis=1) / (2 * 0.35**2))
    wide = np.exp(-np.sum((x + 0.8) ** 2, axis=1) / (2 * 0.9**2))
    return 1.0 - 1.2 * narrow - 0.75 * wide


PROBLEMS = {
    "bowl": Problem(
        "ellipsoid in 4 dimensions, CVaR", bowl, 4, 0.3, "cvar(0.9)", ((0.3,) * 4,), True
    ),
    "ledge": Problem(
        "an edge behind which f rises, CVaR: the best theta stays away from it",
        ledge,
        2,
        0.3,
        "cvar(0.9)",
        ((0.2, 0.5),),
    ),
    "ledge-quantile": Problem(
        "the same, 90 % quantile", ledge, 2, 0.3, "quantile(0.9)", ((0.2, 0.5),)
    ),
    "basins": Problem(
        "a deep narrow and a flat wide basin, mean + 2 std: the wide one is best",
        basins,
        2,
        0.3,
        "mean_plus_std(2)",
        ((-0.8, -0.8), (1.0, 1.0)),
    ),
    "basins-mean": Problem(
        "the same in the mean", basins, 2, 0.3, "mean", ((-0.8, -0.8), (1.0, 1.0))
    ),
}


def offsets(problem: Problem) -> np.ndarray:
    return problem.noise * quasi_normal(problem.dim, DRAWS)


def value(problem: Problem, theta: np.ndarray, every: int = 1) -> float:
    """The risk at theta, by all draws or one in `every`."""
    draws = offsets(problem)[: DRAWS // every]
    return _risk(problem).value(problem.f(theta + draws))


def _risk(problem: Problem) -> Risk:
    return parse(problem.risk)


@functools.cache
def least(name: str) -> float:
    """The least risk."""
    problem = PROBLEMS[name]
    if problem.symmetric:
        return value(problem, np.array(problem.starts[0]))
    found = [_descend(problem, np.array(start)) for start in problem.starts]
    return min(found)


def _descend(problem: Problem, start: np.ndarray) -> float:
    def of(theta: np.ndarray) -> float:
        return value(problem, theta, every=8)

    options = {"xatol": 1e-4, "fatol": 1e-7, "maxfev": 200}
    return value(problem, minimize(of, start, method="Nelder-Mead", options=options).x)


def regret(name: str, theta: np.ndarray) -> float:
    """By how much the risk at theta exceeds the least; rounding below 1e-9 is none."""
    return max(value(PROBLEMS[name], theta) - least(name), 1e-9)
