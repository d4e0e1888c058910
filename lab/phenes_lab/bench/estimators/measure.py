"""Populations of a cell, and every estimator on the same ones."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray

from phenes import weightings
from phenes._population import realise
from phenes.batch import Batch
from phenes.diagnostics import individual_scores
from phenes_lab.bench.estimators.cells import Cell
from phenes_lab.bench.estimators.rows import BATCHES, POPSIZE

PAST = 10  # generations that a learner sees beforehand
# estimators that draw auxiliaries cost so much more that they see one population of this many
THRIFT = 10


class Sample(NamedTuple):
    """One estimator in each population [batches, populations, psi]: second moments of the scores of
    its individuals, weighted estimate.
    """

    power: np.ndarray
    g: np.ndarray


def objective(x: Float[Array, " d"]) -> Float[Array, ""]:
    """Linear plus quadratic, scaled so that both matter in every dimension."""
    return (jnp.sum(x) - 0.5 * jnp.sum(x**2)) / np.sqrt(x.size)


def measure(cell: Cell, key: PRNGKeyArray, populations: int) -> dict[str, Sample]:
    past, now = _populations(cell, key, populations, pairs=False)
    few = max(populations // THRIFT, 2)
    keys = jax.random.split(jax.random.fold_in(key, 1), BATCHES * few).reshape(BATCHES, few)
    some = jax.tree.map(lambda leaf: leaf[:, :few], now)._replace(key=keys)
    samples = measured(cell.plain, cell.p, cell.q, past, now) | measured(
        cell.auxiliary, cell.p, cell.q, past, some
    )
    if cell.pairs:
        samples |= measured(
            cell.pairs,
            cell.p,
            cell.q,
            past,
            _populations(cell, key, populations, pairs=True)[1],
            pairs=True,
        )
    # what went through jax comes back in alphabetical order
    return {
        name: Sample(*map(np.asarray, samples[name]))
        for name in (*cell.plain, *cell.auxiliary, *cell.pairs)
    }


def _populations(
    cell: Cell, key: PRNGKeyArray, populations: int, pairs: bool
) -> tuple[Batch, Batch]:
    """Past ones to learn from and present ones to measure: leaves [batches, populations,
    individuals, d].
    """
    shape = (BATCHES, PAST + populations, POPSIZE, cell.q.dim)
    xi = _draw(cell.q, jax.random.fold_in(key, 2), shape[0] * shape[1] * shape[2]).reshape(shape)
    if pairs:
        half = xi[:, :, : POPSIZE // 2]
        xi = jnp.concatenate([half, -half], axis=2)
    flat = _realise(cell.p, cell.q, jax.random.fold_in(key, 3), xi.reshape(-1, cell.q.dim))
    batch = jax.tree.map(lambda leaf: leaf.reshape(*shape[:3], *leaf.shape[1:]), flat)
    return jax.tree.map(lambda leaf: leaf[:, :PAST], batch), jax.tree.map(
        lambda leaf: leaf[:, PAST:], batch
    )


# Random numbers are most of the time of compilation: drawn here, once for each law and dimension,
# and not in every estimator's program.
@eqx.filter_jit
def _draw(q: Any, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
    return q.draw(key, n)


@eqx.filter_jit
def _realise(p: Any, q: Any, key: PRNGKeyArray, xi: Float[Array, "n d"]) -> Batch:
    theta = jax.vmap(q.push)(xi)
    x = realise(p, key, theta)
    return Batch(theta=theta, x=x, f=jax.vmap(objective)(x), xi=xi)


@eqx.filter_jit
def measured(
    estimators: Mapping[str, Any], p: Any, q: Any, past: Batch, now: Batch, pairs: bool = False
) -> dict[str, Any]:
    """One program for all the input laws of one kind and dimension; leaves are [batches,
    populations, individuals, ...].
    """
    of = _of_pairs if pairs else _of_individuals

    def one_batch(batches):
        past, now = batches
        ready = {name: _learn(e, p, q, past) if _learns(e) else e for name, e in estimators.items()}
        return lax.map(lambda batch: {name: of(e, p, q, batch) for name, e in ready.items()}, now)

    return lax.map(one_batch, (past, now))


def _learns(estimator: Any) -> bool:
    return hasattr(estimator, "observe") and getattr(estimator, "info", None) is None


def _learn(estimator: Any, p: Any, q: Any, past: Batch) -> Any:
    learner = estimator.start(p, q, jax.tree.map(lambda leaf: leaf[0], past))
    dynamic, static = eqx.partition(learner, eqx.is_array)

    def generation(carry, batch):
        return eqx.filter(eqx.combine(carry, static).observe(p, q, batch), eqx.is_array), None

    return eqx.combine(lax.scan(generation, dynamic, past)[0], static)


def _of_individuals(
    estimator: Any, p: Any, q: Any, batch: Batch
) -> tuple[Float[Array, " psi"], Float[Array, " psi"]]:
    """Second moment of the scores, and the weighted estimate, of one population."""
    w = weightings.value(batch.f)
    s = individual_scores(estimator, p, q, batch)
    return jnp.mean(s**2, axis=0), w @ s / w.size


def _of_pairs(
    estimator: Any, p: Any, q: Any, batch: Batch
) -> tuple[Float[Array, " psi"], Float[Array, " psi"]]:
    """The same for estimators that take pairs, which have no score of one individual."""
    g = ravel_pytree(estimator(p, q, batch, weightings.value(batch.f)))[0]
    return jnp.full_like(g, jnp.nan), g
