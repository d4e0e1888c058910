"""A policy: a network whose parameters are the flat theta, a head, and a scale."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jax.typing import DTypeLike
from jaxtyping import Array, ArrayLike, Float, PRNGKeyArray

from phenes import _validate
from phenes.protocols import Tree
from phenes.rl.policies.heads import Choices, GaussianHead, Head, Mixed, Softmax
from phenes.rl.policies.network import MLP, Layered, RowFeatures, of_mlp, of_module
from phenes.rl.policies.normalise import Normaliser

if TYPE_CHECKING:
    from phenes.rl.rollouts.spaces import Spaces

ACTION_NOISE = 0.3  # half ranges of the action

Network: TypeAlias = Callable[[Float[Array, " o"]], Float[Array, " k"]]
"""obs to output, a module of equinox."""


class Policy(eqx.Module):
    """pi_theta(action | obs): a network with theta as its parameters, a head, and a scale.

    Parameters
    ----------
    net : equinox.Module
        The network without its parameters.
    unravel : callable
        theta [d] -> its parameters.
    dim : int
        d.
    head : Head
        Makes an action of what the network says.
    scale : Normaliser or None
        Scale of the observations.
    """

    net: Network  # without its parameters
    unravel: Callable[[Array], Tree] = eqx.field(static=True)
    dim: int = eqx.field(static=True)
    head: Head
    scale: Normaliser | None

    def output(self, theta: Float[Array, " d"], obs: Float[Array, " o"]) -> Float[Array, " k"]:
        """What the network says of one observation.

        Parameters
        ----------
        theta : array, shape (d,)
            Parameters of the network.
        obs : array, shape (o,)
            The observation.

        Returns
        -------
        array, shape (k,)
            Output of the network.
        """
        return eqx.combine(self.unravel(theta), self.net)(self._scaled(obs, theta.dtype))

    def outputs(self, theta: Float[Array, " d"], obs: Float[Array, "t o"]) -> Float[Array, "t k"]:
        """What the network says of many observations.

        Parameters
        ----------
        theta : array, shape (d,)
            Parameters of the network.
        obs : array, shape (T, o)
            The observations.

        Returns
        -------
        array, shape (T, k)
            Outputs of the network.
        """
        return jax.vmap(self.output, in_axes=(None, 0))(theta, obs)

    def features(
        self, theta: Float[Array, " d"], obs: Float[Array, "r o"], L: Float[Array, "r k c"]
    ) -> RowFeatures | Layered:
        """Rows L'J at these observations, for their inner products.

        J is the Jacobian of the output with respect to theta.

        Parameters
        ----------
        theta : array, shape (d,)
            Parameters of the network.
        obs : array, shape (R, o)
            The observations.
        L : array, shape (R, k, c)
            A factor for each.

        Returns
        -------
        RowFeatures or Layered
            The rows; `dot` gives their inner products.
        """
        if not isinstance(self.net, MLP) or self.net.bias != 1:
            return of_module(self.output, theta, obs, L, self.layers())
        return of_mlp(eqx.combine(self.unravel(theta), self.net), self._scaled(obs, theta.dtype), L)

    def _scaled(self, obs: Array, dtype: DTypeLike) -> Array:
        if self.scale is None:
            return jnp.asarray(obs, dtype)
        return (jax.vmap(self.scale) if obs.ndim == 2 else self.scale)(obs).astype(dtype)

    def log_prob(
        self, theta: Float[Array, " d"], obs: Float[Array, " o"], action: Array
    ) -> Float[Array, ""]:
        return self.head.log_prob(self.output(theta, obs), action)

    def observe(self, obs: Float[Array, "n t o"], mask: Array) -> "Policy":
        """The scale with what was seen in a generation; the policy itself where there is none."""
        return self if self.scale is None else self.with_scale(self.scale.update(obs, mask))

    def with_scale(self, scale: Normaliser | None) -> "Policy":
        """The policy with another scale of observations.

        Parameters
        ----------
        scale : Normaliser or None
            The new one.

        Returns
        -------
        Policy
            A policy with this scale.
        """
        return eqx.tree_at(lambda m: m.scale, self, scale, is_leaf=lambda leaf: leaf is None)

    def with_head(self, head: Head) -> "Policy":
        """The policy with another head.

        Parameters
        ----------
        head : Head
            The new one.

        Returns
        -------
        Policy
            A policy with this head.
        """
        return eqx.tree_at(lambda m: m.head, self, head)

    def layers(self) -> np.ndarray:
        """For each coordinate of theta the number of the parameter array it belongs to.

        Returns
        -------
        ndarray of int, shape (d,)
            Counted from 0.
        """
        arrays = jax.tree.leaves(
            jax.eval_shape(self.unravel, jax.ShapeDtypeStruct((self.dim,), jnp.result_type(float)))
        )
        return np.repeat(np.arange(len(arrays)), [array.size for array in arrays])


def from_network(
    net: Network, head: Head, normaliser: Normaliser | None = None
) -> tuple[Policy, Float[Array, " d"]]:
    """Any equinox module obs -> output as a policy, and the theta to start from.

    Parameters
    ----------
    net : equinox.Module
        The network.
    head : Head
        Makes actions of its output.
    normaliser : Normaliser, optional
        The scale of observations; none unless given.

    Returns
    -------
    tuple of (Policy, array)
        The policy, and the parameters of the network as a flat theta [d].

    Raises
    ------
    ValueError
        If the network has no parameters.
    """
    _validate.function("net", net, "phenes.rl.policies.MLP(key, 4, 2)")
    parameters, rest = eqx.partition(net, eqx.is_inexact_array)
    theta = ravel_pytree(parameters)[0]
    if theta.size == 0:
        raise ValueError(
            f"net must have parameters (floating-point arrays) to learn, got {type(net).__name__}"
            " without any"
        )
    return Policy(rest, Unravel(parameters), theta.size, head, normaliser), theta


def head_for(spaces: "Spaces", action_noise: ArrayLike = ACTION_NOISE) -> Head:
    """Softmax for a choice, one for each of several, a Gaussian for real numbers.

    Parameters
    ----------
    spaces : Spaces
        Spaces of the environment.
    action_noise : float
        Standard deviation of continuous actions in half ranges.

    Returns
    -------
    Head
        A head for the actions of the environment.
    """
    if spaces.n is not None:
        return Softmax(spaces.n)
    choices = None if spaces.sizes is None else Choices(spaces.sizes)
    if choices is not None and spaces.low is None:
        return choices
    assert spaces.low is not None  # actions are choices, real numbers or both
    assert spaces.high is not None
    reals = GaussianHead(action_noise, spaces.low, spaces.high)
    return reals if choices is None else Mixed(choices, reals)


def policy(
    key: PRNGKeyArray,
    spaces: "Spaces",
    hidden: Sequence[int] = (32, 32),
    action_noise: ArrayLike = ACTION_NOISE,
    normalise: bool = True,
    bias: float = 1.0,
) -> tuple[Policy, Float[Array, " d"]]:
    """The default policy for the spaces of an environment, and the theta to start from.

    Parameters
    ----------
    key : PRNGKey
        Key of the initial weights.
    spaces : Spaces
        Spaces of the environment.
    hidden : sequence of int
        Widths of the hidden layers.
    action_noise : float
        See `head_for`.
    normalise : bool
        Bring observations to a common scale.
    bias : float
        Size of the constant input of a layer, 0 for none.

    Returns
    -------
    tuple of (Policy, array)
        The policy and its theta [d].
    """
    head = head_for(spaces, action_noise)
    net = MLP(key, spaces.obs_dim, head.outputs, hidden, bias=bias)
    return from_network(net, head, Normaliser.start(spaces.obs_dim) if normalise else None)


def quiet(policy: Policy, theta: Float[Array, " d"], factor: float) -> Float[Array, " d"]:
    """theta of a network that says little at first.

    Parameters
    ----------
    policy : Policy
        The policy; a network that is no `MLP` is left as it is.
    theta : array, shape (d,)
        Parameters of the network.
    factor : float
        Of the weights of the last layer.

    Returns
    -------
    array, shape (d,)
        theta with these weights times the factor.
    """
    if factor == 1.0 or not isinstance(policy.net, MLP):
        return theta
    parameters = policy.unravel(theta)
    return ravel_pytree(
        eqx.tree_at(
            lambda net: net.layers[-1].weight, parameters, factor * parameters.layers[-1].weight
        )
    )[0]


class Unravel:
    """theta [d] -> parameters of these shapes.

    Equal to another for the same network, and it survives the way to another process: it holds a
    tree of shapes, as a `PyTreeDef` with modules of equinox in it does not (their mark of a missing
    field is known by identity).
    """

    def __init__(self, parameters: Tree):
        self.like = jax.tree.map(
            lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), parameters
        )

    def __call__(self, theta: Float[Array, " d"]) -> Tree:
        leaves, tree = jax.tree.flatten(self.like)
        ends = np.cumsum([leaf.size for leaf in leaves])
        return jax.tree.unflatten(
            tree,
            [
                theta[end - leaf.size : end].reshape(leaf.shape)
                for leaf, end in zip(leaves, ends, strict=True)
            ],
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unravel) and self._value() == other._value()

    def __hash__(self) -> int:
        return hash(self._value())

    def _value(self) -> tuple[object, ...]:
        leaves, tree = jax.tree.flatten(self.like)
        return tree, tuple((leaf.shape, leaf.dtype) for leaf in leaves)
