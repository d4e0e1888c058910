# pyright: reportUnknownMemberType=false
"""Individuals whose x was not measured, or not all of it: NaN in x.

Their values still depend on what was not measured. To condition on the rest alone would therefore
be biased: the score of x is 0 where nothing is known of x, and the step too short or worse. What is
known of an individual without x is its theta, so that its genotype score takes the place:

    E[w s_q(theta)] = E[w s(x)] ,

individual by individual, as long as nobody decides by theta whether x is measured. Laws of
independent coordinates do so coordinate by coordinate (`HasPartialScore`), which keeps what the
measured ones are worth.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from phenes._arrays import concrete
from phenes._batching import cond_rare
from phenes._score import marginal_score, search_score
from phenes._trees import joined, split_arrays, take
from phenes.batch import Batch
from phenes.protocols import HasPartialScore, InputLaw, Q, Tree

Core = Callable[[InputLaw, Q, Batch, Float[Array, " n"]], Q]


def unmeasured(x: Tree, n: int) -> Bool[Array, " n"]:
    """Which of n individuals have a NaN anywhere in x."""
    missing = jnp.zeros((n,), bool)
    for leaf in jax.tree.leaves(x):
        if jnp.issubdtype(leaf.dtype, jnp.inexact):
            missing |= jnp.any(jnp.isnan(leaf).reshape(n, -1), axis=1)
    return missing


def realised_score(p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    """The score of log P(x_i), or that of log q(theta_i) for what was not measured."""
    if batch.theta is None:  # nothing to fall back on: the measured coordinates alone
        return _of_x(p, q, batch, w)
    if isinstance(p, HasPartialScore) and p.has_partial_score():
        return if_missing(_of_coordinates, _of_x, p, q, batch, w)
    return or_genotype(_of_x, p, q, batch, w)


def or_genotype(core: Core[Q], p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    """An average over individuals, with the genotype score of those whose x was not measured."""
    return if_missing(_measured_or_genotype, _all, p, q, batch, w, core)


def if_missing(
    partial: Callable[..., Q],
    plain: Callable[..., Q],
    p: InputLaw,
    q: Q,
    batch: Batch,
    w: Float[Array, " n"],
    *parts: Tree,
) -> Q:
    """`partial(p, q, batch, w, *parts)` if a NaN is anywhere in x, else `plain` of the same.

    Only one of them is computed. `parts` are anything else that may hold arrays.
    """
    leaves = jax.tree.leaves(batch.x)
    if not any(jnp.issubdtype(leaf.dtype, jnp.inexact) for leaf in leaves):
        return plain(p, q, batch, w, *parts)  # counts and choices cannot be missing
    # numbers of p that are known stay known: laws look at them to refuse, and to be quick
    known = p if concrete(p) else None
    arrays, rest = split_arrays(
        (p if known is None else None, q, batch._replace(f=None, key=None), parts)
    )

    def branch(function: Callable[..., Q]) -> Callable[[Tree, Array], Q]:
        def call(arrays: Tree, w: Array) -> Q:
            p, q, batch, parts = joined(arrays, rest)
            return function(p if known is None else known, q, batch, w, *parts)

        return call

    def missing(arrays: Tree, w: Array) -> Array:
        return jnp.any(unmeasured(joined(arrays, rest)[2].x, w.size))

    return cond_rare(missing, branch(partial), branch(plain))(arrays, w)


def _of_x(p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    return marginal_score(p, q, batch.x, w)


def _of_coordinates(p: HasPartialScore, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    return p.partial_score(q, batch.x, batch.theta, w)


def _all(p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"], core: Core[Q]) -> Q:
    return core(p, q, batch, w)


def _measured_or_genotype(
    p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"], core: Core[Q]
) -> Q:
    """`core` of those that were measured, and the genotype score of the others."""
    missing = unmeasured(batch.x, w.size)
    # a measured individual stands in, without weight: NaN times 0 would be NaN
    index = jnp.where(missing, jnp.argmin(missing), jnp.arange(w.size))
    known = core(p, q, take(batch, index), jnp.where(missing, 0.0, w))
    other = search_score(q, batch.theta, jnp.where(missing, w, 0.0))
    nobody = jnp.all(missing)

    def both(a: Array, b: Array) -> Array:
        return jnp.where(nobody, 0.0, a) + b

    return jax.tree.map(both, known, other)
