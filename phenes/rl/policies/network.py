"""The network that most policies are, and rows of the Jacobian d output / d theta of any network.

A row of a fully connected network is, layer by layer, an outer product delta h' of what came back
and what went in. Inner products of rows are then products of small numbers, (delta . delta') (h .
h' + 1), and the matrix of all of them costs about as much as running the network. Any other module
gets its rows written down.
"""

import functools
from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
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
    bias : float
        The input of every layer that is the same whatever is seen, 0 (or False) for none. A smaller
        one is searched less far, by the same spread of theta.
    """

    layers: tuple[eqx.nn.Linear, ...]
    activation: Callable[[Array], Array] = eqx.field(static=True)
    bias: float = eqx.field(static=True)

    def __init__(
        self,
        key: PRNGKeyArray,
        obs_dim: int,
        out_dim: int,
        hidden: Sequence[int] = (32, 32),
        activation=jnp.tanh,
        bias: float = 1.0,
    ):
        widths = [
            _validate.count("obs_dim", obs_dim),
            *(_validate.count("hidden", width) for width in hidden),
            _validate.count("out_dim", out_dim),
        ]
        keys = jax.random.split(key, len(widths) - 1)
        self.bias = constant(bias)
        self.layers = tuple(
            _xavier(k, a, b, self.bias > 0)
            for k, a, b in zip(keys, widths[:-1], widths[1:], strict=True)
        )
        self.activation = _validate.function("activation", activation, "jax.numpy.tanh")

    def __call__(self, obs: Float[Array, " o"]) -> Float[Array, " k"]:
        *hidden, last = self.layers
        for layer in hidden:
            obs = self.activation(self._through(layer, obs))
        return self._through(last, obs)

    def _through(self, layer: eqx.nn.Linear, h: Float[Array, " i"]) -> Float[Array, " j"]:
        if self.bias in (0.0, 1.0):
            return layer(h)
        assert layer.bias is not None
        return layer.weight @ h + self.bias * layer.bias


def constant(bias: float) -> float:
    """The size of a constant input, checked; True and False, of older files, are 1 and 0."""
    size = _validate.number("bias", float(bias) if isinstance(bias, bool) else bias)
    if size < 0:
        raise ValueError(f"bias must be non-negative, got {size:g}")
    return size


def _xavier(key: PRNGKeyArray, inputs: int, outputs: int, bias: bool) -> eqx.nn.Linear:
    """Uniform in +-sqrt(6 / (inputs + outputs)), biases 0 (Glorot and Bengio 2010)."""
    layer = eqx.nn.Linear(inputs, outputs, bias, key=key)
    limit = (6 / (inputs + outputs)) ** 0.5
    weight = jax.random.uniform(key, (outputs, inputs), layer.weight.dtype, -limit, limit)
    layer = eqx.tree_at(lambda m: m.weight, layer, weight)
    if not bias:
        return layer
    return eqx.tree_at(lambda m: m.bias, layer, jnp.zeros(outputs, weight.dtype))


class RowFeatures(eqx.Module):
    """The rows themselves [rows, d]."""

    rows: Float[Array, "rows d"]
    layers: tuple[int, ...] = eqx.field(static=True)  # as `Policy.layers`

    def dot(
        self, other: "RowFeatures | Layered", scale: Float[Array, " arrays"] | None = None
    ) -> Float[Array, "rows rows"]:
        assert isinstance(other, RowFeatures)
        mine = self.rows if scale is None else self.rows * scale[jnp.asarray(self.layers)][None]
        return mine @ other.rows.T


class Layered(eqx.Module):
    """Rows of a layered network: delta [rows, out] and h [rows, in] of each layer."""

    delta: tuple[Float[Array, "rows out"], ...]
    h: tuple[Float[Array, "rows in"], ...]

    def dot(
        self, other: "RowFeatures | Layered", scale: Float[Array, " arrays"] | None = None
    ) -> Float[Array, "rows rows"]:
        """All inner products.

        scale: of each parameter array (weight, bias, weight, bias, ...), J diag(scale) J'.
        """
        assert isinstance(other, Layered)
        scales = [(1.0, 1.0)] * len(self.h) if scale is None else scale.reshape(-1, 2)
        parts = zip(self.delta, self.h, other.delta, other.h, scales, strict=True)
        products = [(d1 @ d2.T) * (w * (h1 @ h2.T) + b) for d1, h1, d2, h2, (w, b) in parts]
        return functools.reduce(jnp.add, products)


def of_mlp(net: MLP, obs: Float[Array, "r o"], L: Float[Array, "r k c"]) -> Layered:
    """Rows c' J, the columns c of L of the first state, of the second, and so on."""
    h, slopes = [obs], []
    for layer in net.layers[:-1]:
        z = h[-1] @ layer.weight.T + _bias(layer)
        value, slope = jax.jvp(net.activation, (z,), (jnp.ones_like(z),))
        h.append(value)
        slopes.append(slope)
    columns = L.shape[2]
    delta = [jnp.swapaxes(L, 1, 2).reshape(-1, L.shape[1])]
    for layer, slope in zip(net.layers[:0:-1], slopes[::-1], strict=True):
        delta.append((delta[-1] @ layer.weight) * jnp.repeat(slope, columns, axis=0))
    return Layered(tuple(delta[::-1]), tuple(jnp.repeat(value, columns, axis=0) for value in h))


def _bias(layer: eqx.nn.Linear) -> Float[Array, "1 out"]:
    assert layer.bias is not None  # `Policy.features` asks for no others
    return layer.bias[None]


def of_module(
    output: Callable[[Float[Array, " d"], Float[Array, " o"]], Float[Array, " k"]],
    theta: Float[Array, " d"],
    obs: Float[Array, "r o"],
    L: Float[Array, "r k c"],
    layers: np.ndarray,
) -> RowFeatures:
    """Rows of the Jacobian for any output(theta, obs)."""

    def one(obs, L):
        back = jax.vjp(lambda theta: output(theta, obs), theta)[1]
        return jax.vmap(lambda column: back(column)[0])(L.T)

    return RowFeatures(jax.vmap(one)(obs, L).reshape(-1, theta.size), tuple(layers.tolist()))
