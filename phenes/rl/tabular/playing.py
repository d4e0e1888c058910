"""Episodes of a whole population in one compiled loop over time.

The population chooses in one of two ways. With policies, individual i has probabilities [S, A] of
its own. With urns, all start from the same alpha [S, A] and an action makes itself more likely
where it was taken: alpha + counts. That is Polya's urn, and it realises x ~ P_psi, the marginal
over policies drawn from a Dirichlet law, without ever drawing them: the phenotype estimator, which
does not look at theta, needs no more.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_batching import custom_vmap
from jax.extend.random import threefry2x32_p
from jax.typing import DTypeLike
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, UInt32

from phenes.rl.tabular.table import Table

LONGEST = 100_000  # steps of an episode without a limit; some policies never end theirs


class Steps(NamedTuple):
    """What happened at each time t < limit; zeros after the end.

    Parameters
    ----------
    state, action : array of int, shape (N, T)
        Where, and what was done.
    reward : array, shape (N, T)
        Reward of each step.
    same, visits : array, shape (N, T)
        How often this action, and any action, had been taken in this state before.
    taken : array of bool, shape (N, T)
        The step was taken.
    outcome : array of int, shape (N, T)
        Which of the outcomes in the table it had.
    """

    state: Int[Array, "n t"]
    action: Int[Array, "n t"]
    reward: Float[Array, "n t"]
    same: Float[Array, "n t"]
    visits: Float[Array, "n t"]
    taken: Bool[Array, "n t"]
    outcome: Int[Array, "n t"]


class Episode(NamedTuple):
    """x: one episode of each of N individuals in a table.

    Parameters
    ----------
    counts : array, shape (N, S, A)
        How often each action was taken in each state.
    total : array, shape (N,)
        Returns.
    length : array of int, shape (N,)
        Steps.
    ended : array of bool, shape (N,)
        Not cut off.
    steps : Steps, optional
        One by one, where they are recorded.
    """

    counts: Float[Array, "n s a"]
    total: Float[Array, " n"]
    length: Int[Array, " n"]
    ended: Bool[Array, " n"]
    steps: Steps | None = None


def play(
    table: Table,
    key: PRNGKeyArray,
    weights: Float[Array, "*n s a"],
    n: int | None = None,
    record: bool = False,
) -> Episode:
    """One episode of each individual, in one compiled loop.

    The random numbers of individual i are a function of (key, i, t) alone. Under `jax.vmap` all
    populations share one loop.

    Parameters
    ----------
    table : Table
        The environment.
    key : PRNGKey
        Key of this population.
    weights : array, shape (N, S, A) or (S, A)
        Of the actions, positive: of N policies, or of urns.
    n : int, optional
        Number of individuals, if they draw from urns.
    record : bool
        Keep the steps.

    Returns
    -------
    Episode
        Episodes of the N individuals.

    Raises
    ------
    ValueError
        If the weights do not fit the table, or steps without a limit are to be recorded.
    """
    if record and table.limit is None:
        raise ValueError(
            f"{table.name} has no step limit, and episodes of any length cannot be recorded step by"
            " step: use table.limited(1000)"
        )
    expected = (table.states, table.actions)
    if weights.shape[-2:] != expected or weights.ndim != (3 if n is None else 2):
        raise ValueError(
            "weights must be [N, S, A] for policies or, with n, [S, A] for urns, S and A"
            f" {expected}, got {weights.shape}"
        )
    size, urns, dtype = weights.shape[0] if n is None else n, n is not None, weights.dtype

    @custom_vmap
    def populations(seed, weights):
        return jax.tree.map(lambda leaf: leaf[0], together(seed[None], weights[None]))

    @populations.def_vmap
    def _(axis_size, batched, seed, weights):
        whole = [
            v if b else jnp.broadcast_to(v[None], (axis_size, *v.shape))
            for v, b in zip((seed, weights), batched, strict=True)
        ]
        out = together(*whole)
        return out, jax.tree.map(lambda _: True, out)

    def together(seeds, weights):
        return _loop(_packed(table), seeds, weights.astype(jnp.float32), size, urns, record, dtype)

    return populations(jax.random.bits(key, (2,), jnp.uint32), weights)


class Packed(NamedTuple):
    """A table for one gather where possible.

    Flat, thresholds instead of probabilities, next state and end in one number.
    """

    link: Int[Array, " sak"]
    reward: Float[Array, " sak"]
    thresholds: tuple[Float[Array, " sa"], ...]
    start: Float[Array, " s"]
    states: int
    actions: int
    outcomes: int
    limit: int | None


def _packed(table: Table) -> Packed:
    edges = jnp.asarray(
        np.cumsum(table.probability, axis=-1).reshape(-1, table.outcomes), jnp.float32
    )
    link, reward = (
        jnp.asarray((2 * table.next + table.ends).ravel(), jnp.int32),
        jnp.asarray(table.reward.ravel()),
    )
    thresholds = tuple(edges[:, k] for k in range(table.outcomes - 1))
    start = jnp.asarray(np.cumsum(table.start)[:-1], jnp.float32)
    return Packed(
        link, reward, thresholds, start, table.states, table.actions, table.outcomes, table.limit
    )


def _loop(
    table: Packed,
    seeds: UInt32[Array, "b 2"],
    weights: Array,
    n: int,
    urns: bool,
    record: bool,
    dtype: DTypeLike,
) -> Episode:
    """`n` individuals in each of B populations, all of them side by side: M = B n.

    Single precision chooses, `dtype` adds up.
    """
    b, s, a = seeds.shape[0], table.states, table.actions
    m, longest = b * n, LONGEST if table.limit is None else table.limit
    uniforms = _generator(seeds, n)
    first = jnp.searchsorted(table.start, uniforms(jnp.int32(0))[0], side="right").astype(jnp.int32)
    steps = None
    if record:
        steps = Steps(
            *(
                jnp.zeros((longest, m), kind)
                for kind in (jnp.int32, jnp.int32, dtype, dtype, dtype, bool, jnp.int32)
            )
        )
    nothing = Running(
        first,
        jnp.ones(m, bool),
        jnp.zeros((m * s, a), jnp.float32),
        jnp.zeros(m, dtype),
        jnp.zeros(m, jnp.int32),
        steps,
    )
    step = _stepper(table, weights.reshape(-1, a), uniforms, m, n if urns else None)

    def going(carry):
        return (carry[0] < longest) & jnp.any(carry[1].alive)

    end = lax.while_loop(
        going, lambda carry: (carry[0] + 1, step(*carry)), (jnp.int32(0), nothing)
    )[1]
    if record:
        steps = jax.tree.map(lambda log: log.T.reshape(b, n, longest), end.steps)
    total, length, ended = (v.reshape(b, n) for v in (end.total, end.length, ~end.alive))
    return Episode(end.counts.reshape(b, n, s, a).astype(dtype), total, length, ended, steps)


class Running(NamedTuple):
    """The state of every episode. counts has a row for each individual and state."""

    state: Int[Array, " m"]
    alive: Bool[Array, " m"]
    counts: Float[Array, "ms a"]
    total: Float[Array, " m"]
    length: Int[Array, " m"]
    steps: Steps | None


def _stepper(
    table: Packed,
    weights: Float[Array, "rows a"],
    uniforms: Callable[[Array], tuple[Array, ...]],
    m: int,
    urns: int | None,
) -> Callable[[Array, Running], Running]:
    """(t, running) -> running, one step later.

    urns: how many individuals share the rows of one population; None for policies.
    """
    number = jnp.arange(m, dtype=jnp.int32)
    own = number * table.states
    shared = own if urns is None else number // urns * table.states

    def step(t, now: Running) -> Running:
        state, alive = now.state, now.alive
        choice, chance = uniforms(t + 1)
        row, weight = own + state, weights[shared + state]
        before = now.counts[row]
        action = _choose(weight if urns is None else weight + before, choice)
        cell = state * table.actions + action
        # which outcome: how many of the cumulative probabilities lie below the uniform number
        outcome = sum(
            ((chance >= edge[cell]).astype(jnp.int32) for edge in table.thresholds),
            cell * table.outcomes,
        )
        reward = jnp.where(alive, table.reward[outcome], 0.0).astype(now.total.dtype)
        link, steps = table.link[outcome], now.steps
        if steps is not None:
            same = jnp.take_along_axis(before, action[:, None], axis=1)[:, 0]
            visits, which = jnp.sum(before, axis=1), outcome - cell * table.outcomes
            happened = Steps(state, action, reward, same, visits, alive, which)
            steps = jax.tree.map(
                lambda log, new: log.at[t].set(new.astype(log.dtype)), steps, happened
            )
        return Running(
            jnp.where(alive, link >> 1, state),
            alive & (link & 1 == 0),
            now.counts.at[row, action].add(alive.astype(jnp.float32)),
            now.total + reward,
            now.length + alive.astype(jnp.int32),
            steps,
        )

    return step


def _choose(weight: Float[Array, "m a"], uniform: Float[Array, " m"]) -> Int[Array, " m"]:
    """Action k with probability weight_k / sum."""
    edges = jnp.cumsum(weight, axis=1)
    return jnp.sum((uniform * edges[:, -1])[:, None] >= edges[:, :-1], axis=1, dtype=jnp.int32)


def _generator(seeds: UInt32[Array, "b 2"], n: int):
    """t -> two numbers in [0, 1) for each individual.

    The hash of (individual, t), keyed by the seed of its population.
    """
    keys = tuple(jnp.repeat(seeds[:, k], n) for k in range(2))
    individual = jnp.tile(jnp.arange(n, dtype=jnp.uint32), seeds.shape[0])

    def uniforms(t):
        words = threefry2x32_p.bind(
            *keys, individual, jnp.full_like(individual, t.astype(jnp.uint32))
        )
        return tuple(
            lax.bitcast_convert_type((word >> 9) | np.uint32(0x3F800000), jnp.float32) - 1.0
            for word in words
        )

    return uniforms
