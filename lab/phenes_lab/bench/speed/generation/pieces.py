"""Where the time of a generation goes."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax import lax
from jaxtyping import Array

from phenes import metric, weightings
from phenes._population import weigh
from phenes.estimators import genotype, phenotype
from phenes.strategy import generation_keys
from phenes_lab.bench.speed.generation.ours import NOISE, RATE, full_search, population, set_up
from phenes_lab.bench.speed.generation.rows import Timed
from phenes_lab.bench.speed.generation.timing import loop_length


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
