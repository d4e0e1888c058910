"""A generation of phenes, as a compiled loop and by ask and tell."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array

from phenes import inputs, weightings
from phenes.batch import Batch
from phenes.estimators import genotype, phenotype
from phenes.loop import OIU
from phenes.loop import run as run_compiled
from phenes.search import Gaussian
from phenes.strategy import State, Strategy, es, generation_keys
from phenes_lab.bench.speed.generation.rows import Timed
from phenes_lab.bench.speed.generation.timing import from_second, host_length, loop_length

RATE = 0.05  # with weights of mean 1 any rate up to 1 keeps the covariance positive definite
NOISE = 0.1


class Setup(NamedTuple):
    problem: OIU
    strategy: Strategy
    q: Any


def set_up(q: Any, n: int, estimator: Any = phenotype) -> Setup:
    problem = OIU(inputs.GaussianNoise(NOISE), lambda x: -jnp.sum(x**2))
    return Setup(problem, es(problem.p, estimator, weightings.log_ranks, optax.sgd(RATE), n), q)


def start_of(d: int) -> Array:
    # of a stated dtype: jnp.full(d, 2.0) is weakly typed, and ask and tell would be compiled a
    # second time for what comes after it
    return jnp.full(d, 2.0, jnp.result_type(float))


def full_search(d: int) -> Gaussian:
    return Gaussian(start_of(d), 0.25 * jnp.eye(d))


def contenders(d: int, n: int) -> list[Timed]:
    setups = {
        "PAES": set_up(full_search(d), n, phenotype),
        "ES": set_up(full_search(d), n, genotype),
    }
    paes = setups["PAES"]
    # asking is the same for both: one compilation
    ask = jax.jit(
        lambda key, state: paes.problem.realise(
            key, state.generation, paes.strategy.ask(key, state)
        )
    )
    loops = [
        Timed(
            "generation",
            f"phenes {name}, compiled loop",
            loop_length(d),
            _compiled(setup, loop_length(d)),
        )
        for name, setup in setups.items()
    ]
    hosts = [
        Timed(
            "generation",
            f"phenes {name}, ask and tell",
            host_length(d),
            _asked(setup, ask, host_length(d)),
        )
        for name, setup in setups.items()
    ]
    return loops + hosts


def _compiled(setup: Setup, steps: int) -> Callable[[int], Callable[[], Any]]:
    loop = jax.jit(lambda key, q: run_compiled(key, setup.problem, setup.strategy, q, steps))

    def start(seed: int) -> Callable[[], Any]:
        key = jax.random.key(seed)
        return lambda: jax.block_until_ready(loop(key, setup.q))

    return start


def _asked(
    setup: Setup, ask: Callable[..., Batch], steps: int
) -> Callable[[int], Callable[[], Any]]:
    """Two compiled functions, called from Python around a NumPy objective."""
    tell = jax.jit(setup.strategy.tell)

    def start(seed: int) -> Callable[[], Any]:
        key = jax.random.key(seed)

        def generation(state: State) -> State:
            batch = ask(key, state)
            return tell(
                state, batch._replace(f=jnp.asarray(-np.sum(np.asarray(batch.x) ** 2, axis=1)))
            )[0]

        return from_second(generation, setup.strategy.init(setup.q), steps)

    return start


def population(problem: OIU, strategy: Strategy, state: State) -> Batch:
    """One with the right shapes, from NumPy: a program for each shape that is run only once would
    be most of the benchmark's time.
    """
    key, rng = jax.random.key(0), np.random.default_rng(0)
    shapes = jax.eval_shape(
        lambda: problem.realise(key, state.generation, strategy.ask(key, state))
    )
    xi = rng.standard_normal(shapes.xi.shape)
    theta = 2.0 + 0.5 * xi
    x = theta + NOISE * rng.standard_normal(xi.shape)
    return jax.tree.map(
        jnp.asarray, Batch(theta, x, -np.sum(x**2, axis=1), xi, generation_keys(key, 0).estimator)
    )
