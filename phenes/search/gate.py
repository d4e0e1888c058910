"""A categorical gate: which of K experts to use in a context c, by the softmax of any function of
c.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from phenes import _validate


class Choice(NamedTuple):
    """What was chosen, and in which context: theta = (c, expert), x = (c, output)."""

    context: Any
    index: Int[Array, ""]


class Gate(eqx.Module):
    """q(k | c) = softmax(logits(c))_k; psi are the arrays inside `logits` (an equinox module, or
    any callable pytree).

    `contexts(key) -> c` draws a context. Its law carries no psi, so it takes part in sampling only.
    """

    logits: Callable[[Any], Float[Array, " k"]]
    contexts: Callable[[PRNGKeyArray], Any] = eqx.field(static=True)

    def __init__(self, logits, contexts):
        self.logits = _validate.function("logits", logits, "equinox.nn.Linear(4, 3, key=key)")
        self.contexts = _validate.function(
            "contexts", contexts, "lambda key: jax.random.normal(key, (4,))"
        )

    def draw(self, key: PRNGKeyArray, n: int) -> tuple[Any, PRNGKeyArray]:
        where, which = jax.random.split(key)
        return jax.vmap(self.contexts)(jax.random.split(where, n)), jax.random.split(which, n)

    def sample(self, key: PRNGKeyArray) -> Choice:
        return self.push(jax.tree.map(lambda leaf: leaf[0], self.draw(key, 1)))

    def push(self, xi: tuple[Any, PRNGKeyArray]) -> Choice:
        context, key = xi
        return Choice(context, jax.random.categorical(key, self.logits(context)))

    def resample(self, key: PRNGKeyArray, theta: Choice, n: int) -> Choice:
        """n other choices in the context of theta: the context is given, not chosen."""
        index = jax.random.categorical(key, self.logits(theta.context), shape=(n,))
        return Choice(
            jax.tree.map(lambda c: jnp.broadcast_to(c, (n, *jnp.shape(c))), theta.context), index
        )

    def log_weights(self, context: Any) -> Float[Array, " k"]:
        return jax.nn.log_softmax(self.logits(context))

    def log_prob(self, theta: Choice) -> Float[Array, ""]:
        """log q(k | c)."""
        return self.log_weights(theta.context)[theta.index]

    def move(self, updates: "Gate") -> tuple["Gate", Int[Array, ""]]:
        return eqx.apply_updates(self, updates), jnp.zeros((), jnp.int32)
