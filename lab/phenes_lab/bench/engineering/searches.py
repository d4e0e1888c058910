"""A run of each contender: builds are made and measured until the budget is used; which design is
recommended after how many?

All contenders search in the same coordinates, u = (theta - x0) / sigma0, so that one step size fits
all of them.
"""

import functools
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import phenes
from phenes.problems.engineering import (
    COATING,
    COATING_SHARED,
    LAUNCH,
    REGULATOR,
    EngineeringProblem,
)
from phenes_lab.restarts import Restarts
from phenes_lab.rivals import Search, Start
from phenes_lab.simulator import Record, World, follow, known_within


class Path(NamedTuple):
    """Recommended designs [k, d] after so many builds [k]."""

    evaluations: np.ndarray
    points: np.ndarray


def workshop(problem: EngineeringProblem, budget: int, seed: int) -> World:
    """Builds what is intended, in the coordinates u, with errors of any covariance; values are
    minimised.
    """
    rng = np.random.default_rng([20_260_101, seed])

    def build(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x = problem.realise(outside(problem, u), len(u), rng)
        return inside(problem, x), np.asarray(problem.minimised(x))

    return World(build, budget)


def inside(problem: EngineeringProblem, x: np.ndarray) -> np.ndarray:
    return (x - problem.x0) / problem.sigma0


def outside(problem: EngineeringProblem, u: np.ndarray) -> np.ndarray:
    """In the coordinates of the problem, and within its box."""
    theta = problem.x0 + problem.sigma0 * u
    return theta if problem.bounds is None else np.clip(theta, *problem.bounds.T)


def library(
    make: Callable[[Start], Search],
    problem: EngineeringProblem,
    budget: int,
    grid: np.ndarray,
    seed: int,
) -> Path:
    """With restarts at twice the population when it stops itself, as those do who know these
    libraries.
    """
    again = np.random.default_rng([seed, 1])
    bounds = None if problem.bounds is None else inside(problem, problem.bounds.T).T
    first = Start(np.zeros(problem.dim), 1.0, 0.0, seed, bounds=bounds)
    search = Restarts(make, first, lambda: again.standard_normal(problem.dim))
    return _follow(search, problem, budget, grid, seed)


def ours(
    problem: EngineeringProblem, budget: int, grid: np.ndarray, seed: int, start: str = "x0"
) -> Path:
    options = {"vectorized": True, "bounds": problem.bounds, "budget": budget, "seed": seed}
    x0 = getattr(problem, start)
    history = phenes.maximize(problem, x0, problem.sigma0, problem.noise, **options).history
    return Path(*known_within(grid, history["nfev"], history["x"], x0))


def told_theta(problem: EngineeringProblem, budget: int, grid: np.ndarray, seed: int) -> Path:
    """The same optimiser, which does not see what was built."""
    options = {"bounds": problem.bounds, "budget": budget, "maximize": True, "seed": seed}
    opt = phenes.Optimizer(problem.x0, problem.sigma0, problem.noise, **options)
    rng = np.random.default_rng([20_260_101, seed])
    while not opt.stop():
        theta = opt.ask()[: budget - opt.nfev]
        opt.tell(theta, problem(problem.realise(theta, len(theta), rng)))
    history = opt.result.history
    return Path(*known_within(grid, history["nfev"], history["x"], problem.x0))


def paper(
    estimator: str, problem: EngineeringProblem, budget: int, grid: np.ndarray, seed: int
) -> Path:
    return _follow(_Fixed(Paper(problem, estimator, seed)), problem, budget, grid, seed)


def _follow(
    search: Any, problem: EngineeringProblem, budget: int, grid: np.ndarray, seed: int
) -> Path:
    record = Record(grid, np.zeros(problem.dim))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries: trouble shows in the designs
        follow(search, workshop(problem, budget, seed), record)
    return Path(record.evaluations, outside(problem, record.points))


class _Fixed(NamedTuple):
    """A search that never stops itself."""

    search: Any

    def step(self, world: World) -> None:
        self.search.step(world)

    def recommended(self, world: World) -> np.ndarray:
        return self.search.mean


class Tuned(NamedTuple):
    """The rate of generation t is rate / (1 + t / decay); the spread is in units of sigma0."""

    popsize: int = 50
    spread: float = 0.5
    rate: float = 2.0
    decay: float = 20.0


# With which ES, not PAES, did best in a small sweep over populations, spreads and rates.
_LONG = Tuned(100, 0.5, 4.0, 200.0)
TUNED = {
    COATING.name: _LONG,
    COATING_SHARED.name: _LONG,
    LAUNCH.name: Tuned(20, 0.25),
    REGULATOR.name: Tuned(50, 1.0),
}


class Paper:
    """ES or PAES of the paper: fixed spread, weights by value, natural gradient, a rate that falls
    as in `phenes demo`.
    """

    def __init__(self, problem: EngineeringProblem, estimator: str, seed: int):
        import jax

        scale, tuned = problem.sigma0, TUNED.get(problem.name, Tuned())
        with jax.enable_x64(True):
            self.noise = jax.numpy.asarray(problem.cov / np.outer(scale, scale))
            self.keys = jax.random.split(jax.random.key(seed), 1 + problem.budget // tuned.popsize)
        self.ask, self.tell = _compiled(estimator, tuned)
        self.mean, self.generation = np.zeros(problem.dim), 0

    def step(self, world: World) -> None:
        import jax

        with jax.enable_x64(True):
            batch = self.ask(self.noise, self.keys[self.generation], self.mean)
            x, f = world(np.asarray(batch.theta))
            batch = batch._replace(x=jax.numpy.asarray(x), f=-jax.numpy.asarray(f))
            self.mean = np.asarray(self.tell(self.noise, self.mean, batch, float(self.generation)))
        self.generation += 1


@functools.cache
def _compiled(estimator: str, tuned: Tuned) -> tuple[Any, Any]:
    """ask(noise, key, mean) -> batch and tell(noise, mean, batch, generation) -> mean, for plain
    SGD: nothing else is carried.
    """
    import jax
    import jax.numpy as jnp
    import optax

    def strategy(noise, step):
        which = getattr(phenes.estimators, estimator)
        return phenes.es(
            phenes.inputs.GaussianNoise(noise),
            which,
            phenes.weightings.standardise,
            optax.sgd(step),
            tuned.popsize,
        )

    def law(mean):
        return phenes.search.Gaussian(jnp.asarray(mean), tuned.spread**2 * jnp.eye(mean.size))

    def ask(noise, key, mean):
        each = strategy(noise, tuned.rate)
        return each.ask(key, each.init(law(mean)))

    def tell(noise, mean, batch, generation):
        each = strategy(noise, tuned.rate / (1 + generation / tuned.decay))
        # of the covariance, which it moves too, nothing is kept
        return each.tell(each.init(law(mean)), batch)[0].q.mean

    return jax.jit(ask), jax.jit(tell)
