"""A generation of phenes, as a compiled loop, by ask and tell, and piece by piece."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jaxtyping import Array

from phenes import inputs, metric, weightings
from phenes._population import weigh
from phenes.batch import Batch
from phenes.estimators import genotype, phenotype
from phenes.loop import OIU
from phenes.loop import run as run_compiled
from phenes.search import Gaussian
from phenes.strategy import State, Strategy, es, generation_keys
from phenes_lab.bench.speed.generation.rows import Timed, from_second, host_length, loop_length

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


def timed_pieces(d: int, n: int) -> list[Timed]:
    """The stations of a generation, each alone in a compiled loop. Together they may take longer
    than the whole, where work is shared.
    """
    problem, strategy, q = set_up(full_search(d), n)
    state, p = strategy.init(q), problem.p
    key, optimiser = jax.random.key(0), optax.sgd(RATE)
    batch = population(problem, strategy, state)

    @jax.jit
    def directions(batch):
        w = weigh(weightings.log_ranks, batch.f)
        g = phenotype(p, q, batch, w)
        return w, g, metric.natural(p, q, g)

    w, g, direction = directions(batch)

    def random_numbers(generation):
        keys = generation_keys(key, generation)
        return q.draw(keys.theta, n), q.draw(keys.x, n)

    def sample(q, xi, noise):
        theta = jax.vmap(q.push)(xi)
        return theta, theta + NOISE * noise

    def move(q, direction):
        updates, _ = optimiser.update(jax.tree.map(jnp.negative, direction), state.optimiser)
        return q.move(updates)

    pieces = {
        "random numbers": (random_numbers, (state.generation,)),
        "theta and x": (sample, (q, batch.xi, batch.xi)),
        "f": (problem.evaluate, (batch.x,)),
        "weighting": (lambda f: weigh(weightings.log_ranks, f), (batch.f,)),
        "estimator, phenotype": (
            lambda q, x, w: phenotype(p, q, batch._replace(x=x), w),
            (q, batch.x, w),
        ),
        "estimator, genotype": (
            lambda q, theta, w: genotype(p, q, batch._replace(theta=theta), w),
            (q, batch.theta, w),
        ),
        "metric": (lambda q, g: metric.natural(p, q, g), (q, g)),
        "move": (move, (q, direction)),
    }
    return [
        Timed("pieces", name, loop_length(d), repeated(piece, args, loop_length(d)))
        for name, (piece, args) in pieces.items()
    ]


def repeated(
    piece: Callable[..., Any], args: tuple[Any, ...], steps: int
) -> Callable[[int], Callable[[], Any]]:
    @jax.jit
    def loop(args):
        empty = jax.tree.map(
            lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), jax.eval_shape(piece, *args)
        )

        def body(_, i):
            # what does not change from one turn to the next would be computed once, before the loop
            return (
                piece(*jax.tree.map(lambda leaf: leaf + i.astype(leaf.dtype) * _tiny(leaf), args)),
                None,
            )

        return lax.scan(body, empty, jnp.arange(steps))[0]

    return lambda seed: lambda: jax.block_until_ready(loop(args))


def _tiny(leaf: Array) -> Array:
    return jnp.asarray(1e-15 if jnp.issubdtype(leaf.dtype, jnp.inexact) else 1, leaf.dtype)
