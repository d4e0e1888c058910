"""What a policy is worth, exactly, from the table.

A policy is an array of probabilities [S, A], or of one action for each state [S].
"""

from collections.abc import Callable
from types import ModuleType
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, ArrayLike, Float, Int

from phenes.rl.tabular.table import Table

N = TypeVar("N", Array, np.ndarray)


def value(table: Table, policy: ArrayLike, limit: int | None = None) -> Float[Array, ""]:
    """The expected return from the start within the step limit.

    Compiled, and fit for `jax.vmap`.

    Parameters
    ----------
    table : Table
        The environment.
    policy : array, shape (S, A), or of int, shape (S,)
        Probabilities of the actions, or one action for each state.
    limit : int, optional
        Steps; those of the table unless given.

    Returns
    -------
    array, shape ()
        The value.

    Raises
    ------
    ValueError
        If there is no limit.
    """
    steps = table.limit if limit is None else limit
    if steps is None:
        raise ValueError(
            f"{table.name} has no step limit: give one, or use tabular.stationary_value"
        )
    values = state_values(table, policy, steps)
    return jnp.asarray(table.start, values.dtype) @ values


def state_values(table: Table, policy: ArrayLike, steps: int) -> Float[Array, " s"]:
    """The expected return from each state within so many steps: backwards through time.

    Parameters
    ----------
    table : Table
        The environment.
    policy : array, shape (S, A), or of int, shape (S,)
        Probabilities of the actions, or one action for each state.
    steps : int
        How many.

    Returns
    -------
    array, shape (S,)
        The values.
    """
    follow, chance, reward, ends = _under(table, jnp.asarray(policy), jnp)
    now = jnp.sum(chance * reward, axis=-1)
    going = jnp.where(ends, 0.0, chance)
    return lax.fori_loop(
        0, steps, lambda _, v: now + jnp.sum(going * v[follow], axis=-1), jnp.zeros_like(now)
    )


def _under(table: Table, policy: N, xp: ModuleType) -> tuple[N, N, N, N]:
    """Outcomes of each state under the policy: next state, probability, reward, end.

    [S, K] for actions, [S, A K] for probabilities. xp: NumPy, always exact, or JAX, compiled.
    """
    follow, chance, reward, ends = (
        xp.asarray(v) for v in (table.next, table.probability, table.reward, table.ends)
    )
    if np.issubdtype(policy.dtype, np.integer):
        _check(table, policy, (table.states,))
        row = np.arange(table.states)
        return follow[row, policy], chance[row, policy], reward[row, policy], ends[row, policy]
    _check(table, policy, (table.states, table.actions))
    chance = chance * policy[..., None].astype(chance.dtype)
    flat = lambda v: v.reshape(table.states, -1)  # noqa: E731
    return flat(follow), flat(chance), flat(reward), flat(ends)


def _check(table: Table, policy: Array | np.ndarray, expected: tuple[int, ...]) -> None:
    if policy.shape != expected:
        raise ValueError(
            f"policy must have shape {(table.states,)} (actions) or {(table.states, table.actions)}"
            f" (probabilities), got {policy.shape} of {policy.dtype}"
        )


def stationary_value(table: Table, policy: ArrayLike) -> float:
    """The expected return from the start without a step limit, by a linear system.

    Where the policy may go on for ever, that part counts 0 if nothing is paid there, and makes the
    value infinite if something is (NaN if rewards of both signs are).

    Parameters
    ----------
    table : Table
        The environment.
    policy : array, shape (S, A), or of int, shape (S,)
        Probabilities of the actions, or one action for each state.

    Returns
    -------
    float
        The value.
    """
    follow, chance, reward, ends = _under(table, np.asarray(policy), np)
    move = np.zeros((table.states, table.states))
    np.add.at(move, (np.arange(table.states)[:, None], follow), np.where(ends, 0.0, chance))
    pay, stop = np.sum(chance * reward, axis=1), np.sum(np.where(ends, chance, 0.0), axis=1)
    seen = _closure(move, table.start > 0)
    trapped = seen & ~_closure(move.T, stop > 0)
    paid = pay[trapped]
    if np.any(paid != 0):
        return (
            float("nan")
            if np.any(paid > 0) and np.any(paid < 0)
            else float(np.sign(paid[paid != 0][0]) * np.inf)
        )
    free = seen & ~trapped
    values = np.zeros(table.states)
    values[free] = np.linalg.solve(np.eye(int(free.sum())) - move[np.ix_(free, free)], pay[free])
    return float(table.start @ values)


def _closure(move: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """All that can be reached from `inside`."""
    while True:
        more = inside | (inside @ (move > 0) > 0)
        if np.array_equal(more, inside):
            return inside
        inside = more


def optimum(table: Table, limit: int | None = None) -> tuple[float, Int[np.ndarray, " s"]]:
    """The best value by dynamic programming, over policies that may look at the clock.

    Parameters
    ----------
    table : Table
        The environment.
    limit : int, optional
        Steps; those of the table unless given, and if it has none as many as it takes until the
        value no longer changes.

    Returns
    -------
    tuple of (float, ndarray of int)
        The value, and the actions [S] at the start.
    """
    steps = table.limit if limit is None else limit
    now, going = (
        np.sum(table.probability * table.reward, axis=-1),
        np.where(table.ends, 0.0, table.probability),
    )
    best, worth = np.zeros(table.states), now
    for _ in range(steps or 100_000):
        worth = now + np.sum(going * best[table.next], axis=-1)
        before, best = best, worth.max(axis=1)
        if steps is None and np.max(np.abs(best - before)) < 1e-12:
            break
    return float(table.start @ best), np.argmax(worth, axis=1)


def best_action(preference: Float[Array, "s a"]) -> Int[Array, " s"]:
    """The greedy policy; the first of equals.

    Parameters
    ----------
    preference : array, shape (S, A)
        Preferences for the actions.

    Returns
    -------
    array of int, shape (S,)
        One action for each state.
    """
    return jnp.argmax(preference, axis=-1).astype(jnp.int32)


def values_of(
    table: Table, policies: Int[np.ndarray, "n s"], limit: int | None
) -> Float[np.ndarray, " n"]:
    """Values of many greedy policies, each evaluated once. limit None: no step limit."""
    unique, place = np.unique(np.asarray(policies, np.int32), axis=0, return_inverse=True)
    if limit is None:
        each = np.array([stationary_value(table, policy) for policy in unique])
    else:
        each = np.asarray(_many(table, limit)(jnp.asarray(unique)))
    return each[place.ravel()]


def _many(table: Table, limit: int) -> Callable[[Int[Array, "n s"]], Float[Array, " n"]]:
    # some hundreds at a time: Taxi has tables of thousands of entries
    return jax.jit(
        lambda policies: lax.map(
            lambda policy: value(table, policy, limit), policies, batch_size=256
        )
    )
