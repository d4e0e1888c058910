"""Where a search may start from: a network whose last layer says little at first."""

import equinox as eqx
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from phenes.rl.policies.network import MLP
from phenes.rl.policies.policy import Policy


def quiet(policy: Policy, theta: Float[Array, " d"], factor: float) -> Float[Array, " d"]:
    """theta with the weights of the last layer times the factor; theta itself for networks of other
    kinds.
    """
    if factor == 1.0 or not isinstance(policy.net, MLP):
        return theta
    parameters = policy.unravel(theta)
    return ravel_pytree(
        eqx.tree_at(
            lambda net: net.layers[-1].weight, parameters, factor * parameters.layers[-1].weight
        )
    )[0]
