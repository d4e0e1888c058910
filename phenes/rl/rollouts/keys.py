"""Keys of individuals: what individual i does depends on keys[i] alone.

Its first state takes number 0 of that stream, its action at time t number t + 1.
"""

from collections.abc import Callable
from typing import Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float, PRNGKeyArray

from phenes.protocols import Tree

Own = tuple[Tree, Array]  # arrays of the policy, theta
Seen = tuple[Array, PRNGKeyArray, Array]  # obs, key, t


class ActionHead(Protocol):
    """What rollouts need of a head."""

    def sample(self, key: PRNGKeyArray, out: Float[Array, " k"], /) -> Array:
        """An action that is drawn."""
        ...

    def mode(self, out: Float[Array, " k"], /) -> Array:
        """The best action."""
        ...

    def to_env(self, action: Array, /) -> Array:
        """The action as the environment takes it."""
        ...


class ActingPolicy(Protocol):
    """What rollouts need of a policy: a tree of arrays that acts with theta."""

    @property
    def head(self) -> ActionHead:
        """Makes actions of the output."""
        ...

    def output(self, theta: Float[Array, " d"], obs: Float[Array, " o"], /) -> Float[Array, " k"]:
        """What the network says of one observation."""
        ...


def initial(key: PRNGKeyArray) -> PRNGKeyArray:
    return jax.random.fold_in(key, 0)


def actor(rest: Tree, deterministic: bool) -> Callable[[Own, Seen], tuple[Array, Array]]:
    """((arrays, theta), (obs, key, t)) -> the action as drawn, and as the environment takes it.

    rest: the policy without its arrays.
    """

    def act(own: Own, seen: Seen) -> tuple[Array, Array]:
        (arrays, theta), (obs, key, t) = own, seen
        policy: ActingPolicy = eqx.combine(arrays, rest)
        out = policy.output(theta, obs)
        action = (
            policy.head.mode(out)
            if deterministic
            else policy.head.sample(jax.random.fold_in(key, t + 1), out)
        )
        return action, policy.head.to_env(action)

    return act


def population(
    theta: ArrayLike, keys: PRNGKeyArray, initial_keys: PRNGKeyArray | None
) -> tuple[Array, PRNGKeyArray, PRNGKeyArray]:
    """theta [N, D], keys [N], initial keys [N] (those of the actions unless given)."""
    theta = jnp.asarray(theta)
    if theta.ndim != 2 or len(theta) == 0 or not jnp.issubdtype(theta.dtype, jnp.floating):
        raise ValueError(
            "theta must be real numbers [N, D], one row for each individual, got shape"
            f" {theta.shape} of {theta.dtype}"
        )
    initial = keys if initial_keys is None else initial_keys
    for name, given in (("keys", keys), ("initial_keys", initial)):
        typed = hasattr(given, "dtype") and jnp.issubdtype(given.dtype, jax.dtypes.prng_key)
        if not typed or given.shape != theta.shape[:1]:
            got = (
                f"shape {given.shape} of {given.dtype}" if hasattr(given, "dtype") else repr(given)
            )
            raise ValueError(
                f"{name} must be typed keys of shape ({len(theta)},), one for each row of theta,"
                f" got {got}"
            )
    return theta, keys, initial
