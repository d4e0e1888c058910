"""The network that most policies are: fully connected, tanh, Xavier initialisation."""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phenes import _validate


class MLP(eqx.Module):
    """A fully connected network obs [o] -> output [k] with Xavier initialisation.

    Parameters
    ----------
    key : PRNGKey
        Key of the initial weights.
    obs_dim : int
        o.
    out_dim : int
        k.
    hidden : sequence of int
        Widths of the hidden layers; none makes it linear.
    activation : callable
        Activation of the hidden layers.
    """

    layers: tuple[eqx.nn.Linear, ...]
    activation: Callable[[Array], Array] = eqx.field(static=True)

    def __init__(
        self,
        key: PRNGKeyArray,
        obs_dim: int,
        out_dim: int,
        hidden: Sequence[int] = (32, 32),
        activation=jnp.tanh,
    ):
        widths = [
            _validate.count("obs_dim", obs_dim),
            *(_validate.count("hidden", width) for width in hidden),
            _validate.count("out_dim", out_dim),
        ]
        keys = jax.random.split(key, len(widths) - 1)
        self.layers = tuple(
            _xavier(k, a, b) for k, a, b in zip(keys, widths[:-1], widths[1:], strict=True)
        )
        self.activation = _validate.function("activation", activation, "jax.numpy.tanh")

    def __call__(self, obs: Float[Array, " o"]) -> Float[Array, " k"]:
        *hidden, last = self.layers
        for layer in hidden:
            obs = self.activation(layer(obs))
        return last(obs)


def _xavier(key: PRNGKeyArray, inputs: int, outputs: int) -> eqx.nn.Linear:
    """Uniform in +-sqrt(6 / (inputs + outputs)), biases 0 (Glorot and Bengio 2010)."""
    layer = eqx.nn.Linear(inputs, outputs, key=key)
    limit = (6 / (inputs + outputs)) ** 0.5
    weight = jax.random.uniform(key, (outputs, inputs), layer.weight.dtype, -limit, limit)
    return eqx.tree_at(
        lambda m: (m.weight, m.bias), layer, (weight, jnp.zeros(outputs, weight.dtype))
    )
