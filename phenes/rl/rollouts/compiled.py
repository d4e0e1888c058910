"""Environments written in JAX: whole populations in one compiled loop.

It stops when the last episode has.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from phenes.rl.rollouts import keys as individual
from phenes.rl.rollouts.classic import Environment
from phenes.rl.rollouts.keys import ActingPolicy, Own, Seen
from phenes.rl.rollouts.partial_eval import staged
from phenes.rl.rollouts.spaces import Spaces
from phenes.rl.rollouts.trajectory import Trajectory

T = TypeVar("T")


class Compiled:
    """Rollouts that can be part of a larger compiled program.

    Called outside of one, they are compiled by themselves.
    """

    compiled = True
    own_seeds = True

    def __init__(self, env: Environment, spaces: Spaces):
        self.env, self.spaces = env, spaces

    def play(
        self,
        policy: ActingPolicy,
        theta: Array,
        keys: PRNGKeyArray,
        deterministic: bool = False,
        initial_keys: PRNGKeyArray | None = None,
    ) -> Trajectory:
        """One episode of each individual, see `Rollouts.play`. T is always the step limit."""
        theta, keys, initial = individual.population(theta, keys, initial_keys)
        return _play(self.env, self.spaces.limit, policy, theta, keys, initial, bool(deterministic))

    def close(self) -> None:
        pass

    def _value(self) -> tuple[Environment, str, int]:
        return self.env, self.spaces.name, self.spaces.limit

    def __eq__(self, other: object) -> bool:
        """Equality by value, so that equal environments share one compiled program."""
        return isinstance(other, Compiled) and self._value() == other._value()

    def __hash__(self) -> int:
        return hash(self._value())


@eqx.filter_jit
def _play(
    env: Environment,
    limit: int,
    policy: ActingPolicy,
    theta: Array,
    keys: PRNGKeyArray,
    initial: PRNGKeyArray,
    deterministic: bool,
) -> Trajectory:
    """All episodes as one program.

    Under `jax.vmap`, populations share one loop: with loops of their own, each step would copy the
    logs of all.
    """
    arrays, rest = eqx.partition(policy, eqx.is_array)

    @custom_vmap
    def populations(arrays, theta, keys, initial):
        one = jax.tree.map(lambda leaf: leaf[None], (arrays, theta, keys, initial))
        return jax.tree.map(lambda leaf: leaf[0], together(*one))

    @populations.def_vmap
    def _(size, batched, *args):
        whole = jax.tree.map(
            lambda leaf, own: leaf if own else jnp.broadcast_to(leaf[None], (size, *leaf.shape)),
            args,
            tuple(batched),
        )
        out = together(*whole)
        return out, jax.tree.map(lambda _: True, out)

    def together(arrays, theta, keys, initial):
        return _loop(
            env, limit, individual.actor(rest, deterministic), (arrays, theta), keys, initial
        )

    return populations(arrays, theta, keys, initial)


class Running(NamedTuple):
    """B populations of N. log: what happened, with time first."""

    state: Float[Array, "b n k"]
    alive: Bool[Array, "b n"]
    log: tuple[Array, ...]


def _loop(
    env: Environment,
    limit: int,
    act: Callable[[Own, Seen], tuple[Array, Array]],
    own: Own,
    keys: PRNGKeyArray,
    initial: PRNGKeyArray,
) -> Trajectory:
    """The loop over time. own: arrays of the policy [B, ...] and theta [B, N, D]."""
    arrays, theta = own
    observe, move = _each(env.observe), _each(env.step)
    state = _each(lambda key: env.first(individual.initial(key), theta.dtype))(initial)
    one = (
        (jax.tree.map(lambda leaf: leaf[0], arrays), theta[0, 0]),
        (observe(state)[0, 0], keys[0, 0], jnp.int32(0)),
    )
    early, late = staged(act, *one)
    prepared = jax.vmap(jax.vmap(early, ((None, 0),)))((arrays, theta))
    decide = _each(late, (0, (0, 0, None)))

    def step(t, now: Running) -> Running:
        obs, alive = observe(now.state), now.alive
        action, given = decide(prepared, (obs, keys, t))
        state, reward, ended = move(now.state, given)
        happened = (_where(alive, obs), _where(alive, action), _where(alive, reward), alive)
        log = tuple(
            lax.dynamic_update_index_in_dim(whole, new, t, 0)
            for whole, new in zip(now.log, happened, strict=True)
        )
        return Running(_where(alive, state, now.state), alive & ~ended, log)

    def going(carry):
        return (carry[0] < limit) & jnp.any(carry[1].alive)

    obs, action = one[1][0], jax.eval_shape(act, *one)[0]
    kinds = ((obs.shape, obs.dtype), (action.shape, action.dtype), ((), theta.dtype), ((), bool))
    start = Running(
        state,
        jnp.ones(keys.shape, bool),
        tuple(jnp.zeros((limit, *keys.shape, *shape), dtype) for shape, dtype in kinds),
    )
    end = lax.while_loop(going, lambda carry: (carry[0] + 1, step(*carry)), (jnp.int32(0), start))[
        1
    ]
    return Trajectory(
        *(jnp.moveaxis(whole, 0, 2) for whole in end.log),
        ended=~end.alive,
        final_obs=observe(end.state),
    )


def _each(function: Callable[..., T], axes: int | Sequence[object] = 0) -> Callable[..., T]:
    """A function of one individual, for populations [B, N]."""
    return jax.vmap(jax.vmap(function, axes), axes)


def _where(condition: Array, value: Array, otherwise: Array | None = None) -> Array:
    """jnp.where for each individual; zeros where the condition is false, unless given."""
    wide = condition.reshape(condition.shape + (1,) * (value.ndim - condition.ndim))
    return jnp.where(wide, value, jnp.zeros_like(value) if otherwise is None else otherwise)
