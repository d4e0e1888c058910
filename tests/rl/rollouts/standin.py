"""A small policy: all that rollouts ask of one."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from tests.laws.statistics import once


class Head(NamedTuple):
    """Discrete if there are no bounds; otherwise normal with noise 0.3 around the output, clipped
    for the environment.
    """

    low: tuple | None = None
    high: tuple | None = None

    def sample(self, key, out):
        return (
            jax.random.categorical(key, out)
            if self.low is None
            else out + 0.3 * jax.random.normal(key, out.shape, out.dtype)
        )

    def mode(self, out):
        return jnp.argmax(out) if self.low is None else out

    def to_env(self, action):
        return (
            action
            if self.low is None
            else jnp.clip(
                action, jnp.asarray(self.low, action.dtype), jnp.asarray(self.high, action.dtype)
            )
        )


class Linear(NamedTuple):
    """out = W obs + b."""

    outputs: int
    head: Head

    def output(self, theta, obs):
        weight, bias = theta[: -self.outputs].reshape(self.outputs, -1), theta[-self.outputs :]
        return weight @ obs.astype(theta.dtype) + bias


def for_spaces(spaces):
    if spaces.n is not None:
        return Linear(spaces.n, Head())
    return Linear(spaces.action_dim, Head(tuple(spaces.low.tolist()), tuple(spaces.high.tolist())))


def population(spaces, n, seed=0, dtype=np.float64):
    """A policy, theta [n, D] and keys [n]."""
    policy = for_spaces(spaces)
    size = policy.outputs * (spaces.obs_dim + 1)
    theta = np.random.default_rng(seed).normal(size=(n, size)).astype(dtype)
    return policy, jnp.asarray(theta), jax.random.split(jax.random.key(seed), n)


def play(rollouts, policy, theta, keys, deterministic=False, initial_keys=None):
    """`rollouts.play` inside of a function that is compiled in a hurry."""
    compiled = once(
        lambda theta, keys, initial: rollouts.play(policy, theta, keys, deterministic, initial)
    )
    return compiled(theta, keys, keys if initial_keys is None else initial_keys)
