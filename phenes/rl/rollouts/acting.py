"""What individual i does depends on keys[i] alone: its first state on number 0 of that stream, its
action at time t on number t + 1.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, PRNGKeyArray


def initial(key: PRNGKeyArray) -> PRNGKeyArray:
    return jax.random.fold_in(key, 0)


def actor(rest: Any, deterministic: bool) -> Callable[[Any, Any], tuple[Array, Array]]:
    """((arrays, theta), (obs, key, t)) -> the action as drawn, and as the environment takes it.
    rest: the policy without its arrays.
    """

    def act(own, seen):
        (arrays, theta), (obs, key, t) = own, seen
        policy = eqx.combine(arrays, rest)
        out = policy.output(theta, obs)
        action = (
            policy.head.mode(out)
            if deterministic
            else policy.head.sample(jax.random.fold_in(key, t + 1), out)
        )
        return action, policy.head.to_env(action)

    return act
