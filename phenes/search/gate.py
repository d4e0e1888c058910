# pyright: reportUnknownMemberType=false
"""A categorical gate: which of K experts to use in a context c."""

from collections.abc import Callable
from typing import NamedTuple, Self

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray

from phenes import _validate
from phenes._trees import shifted, take
from phenes.protocols import Tree


class Choice(NamedTuple):
    """What was chosen, and in which context: theta = (c, expert), x = (c, output).

    Parameters
    ----------
    context : tree of arrays
        The context c.
    index : int array, shape []
        The expert k, or the output.

    Examples
    --------
    >>> phenes.search.Choice(context=jnp.zeros(4), index=jnp.array(2)).index.item()
    2
    """

    context: Tree
    index: Int[Array, ""]  # pyright: ignore[reportIncompatibleMethodOverride]  # tuple.index is not used


class Gate(eqx.Module):
    """q(k | c) = softmax(logits(c))_k; psi are the arrays inside `logits`.

    Parameters
    ----------
    logits : callable
        (c) -> logits [K]: an equinox module, or any callable pytree.
    contexts : callable
        (key) -> c draws a context. Its law carries no psi, so it takes part in sampling only.

    Raises
    ------
    ValueError
        If one of the two is no function.

    Examples
    --------
    >>> logits = equinox.nn.Linear(4, 3, key=jax.random.key(0))
    >>> q = phenes.search.Gate(logits, lambda key: jax.random.normal(key, (4,)))
    >>> q.log_weights(jnp.zeros(4)).shape
    (3,)
    """

    logits: Callable[[Tree], Float[Array, " k"]]
    contexts: Callable[[PRNGKeyArray], Tree] = eqx.field(static=True)

    def __init__(
        self,
        logits: Callable[[Tree], Float[Array, " k"]],
        contexts: Callable[[PRNGKeyArray], Tree],
    ):
        self.logits = _validate.function("logits", logits, "equinox.nn.Linear(4, 3, key=key)")
        self.contexts = _validate.function(
            "contexts", contexts, "lambda key: jax.random.normal(key, (4,))"
        )

    def draw(self, key: PRNGKeyArray, n: int) -> tuple[Tree, Key[Array, " n"]]:
        """Contexts and random bits of n individuals."""
        where, which = jax.random.split(key)
        return jax.vmap(self.contexts)(jax.random.split(where, n)), jax.random.split(which, n)

    def sample(self, key: PRNGKeyArray) -> Choice:
        """One context and the expert chosen in it."""
        return self.push(take(self.draw(key, 1), 0))

    def push(self, xi: tuple[Tree, PRNGKeyArray]) -> Choice:
        """The expert that random bits choose in a context."""
        context, key = xi
        return Choice(context, jax.random.categorical(key, self.logits(context)))

    def resample(self, key: PRNGKeyArray, theta: Choice, n: int) -> Choice:
        """n other choices in the context of theta: the context is given, not chosen."""
        index = jax.random.categorical(key, self.logits(theta.context), shape=(n,))

        def again(c: Array) -> Array:
            return jnp.broadcast_to(c, (n, *jnp.shape(c)))

        return Choice(jax.tree.map(again, theta.context), index)

    def log_weights(self, context: Tree) -> Float[Array, " k"]:
        """log q(k | c) of all experts.

        Parameters
        ----------
        context : tree of arrays
            The context c.

        Returns
        -------
        array, shape [k]
        """
        return jax.nn.log_softmax(self.logits(context))

    def log_prob(self, theta: Choice) -> Float[Array, ""]:
        """log q(k | c)."""
        return self.log_weights(theta.context)[theta.index]

    def move(self, updates: Self) -> tuple[Self, Int[Array, ""]]:
        """psi + updates: every psi is inside the domain."""
        return shifted(self, updates), jnp.zeros((), jnp.int32)
