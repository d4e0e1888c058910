# pyright: reportUnknownMemberType=false
"""K experts behind a gate: the chosen one draws an output in the context (errata 11, 12)."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phenes import _validate
from phenes.protocols import Tree
from phenes.search.gate import Choice, Gate


class Experts(eqx.Module):
    """p(x | c, k) for x = (c, output), where each of K experts has a law of the output.

    Closed forms exist under `search.Gate`.

    Parameters
    ----------
    log_probs : callable
        (c) -> log-probabilities [K, outputs] of all experts in a context.

    Raises
    ------
    ValueError
        If log_probs is no function.

    Examples
    --------
    >>> tables = jnp.zeros((5, 3, 2))
    >>> p = phenes.inputs.Experts(lambda c: jax.nn.log_softmax(tables[c]))
    """

    log_probs: Callable[[Tree], Float[Array, "k y"]]

    def __init__(self, log_probs: Callable[[Tree], Float[Array, "k y"]]):
        self.log_probs = _validate.function(
            "log_probs", log_probs, "lambda c: jax.nn.log_softmax(tables[c])"
        )

    def sample(self, key: PRNGKeyArray, theta: Choice) -> Choice:
        """The output of the chosen expert."""
        logits = self.log_probs(theta.context)[theta.index]
        return Choice(theta.context, jax.random.categorical(key, logits))

    def log_prob(self, x: Choice, theta: Choice) -> Float[Array, ""]:
        """log p(x | c, k)."""
        return self.log_probs(x.context)[theta.index, x.index]

    def marginal(self, q: Gate) -> "GatedExperts":
        """P(x | c), the mixture of the experts."""
        _validate.family(self, q, Gate)
        return GatedExperts(q, self)

    def posterior(self, q: Gate, x: Choice) -> "ExpertPosterior":
        """P(k | x, c)."""
        _validate.family(self, q, Gate, "posterior")
        joint = q.log_weights(x.context) + self.log_probs(x.context)[:, x.index]
        return ExpertPosterior(x.context, jax.nn.log_softmax(joint))


class GatedExperts(eqx.Module):
    """log P(x | c) = logsumexp_k(log gate_k(c) + log pi_k(x | c)).

    Its gradient in the gate's logits is posterior - gate.
    """

    q: Gate
    law: Experts

    def log_prob(self, x: Choice) -> Float[Array, ""]:
        """log P(x | c)."""
        return jax.nn.logsumexp(
            self.q.log_weights(x.context) + self.law.log_probs(x.context)[:, x.index]
        )


class ExpertPosterior(eqx.Module):
    """Which expert it was, given what came out."""

    context: Tree
    log_weight: Float[Array, " k"]

    def sample(self, key: PRNGKeyArray) -> Choice:
        """One expert."""
        return Choice(self.context, jax.random.categorical(key, self.log_weight))

    def log_prob(self, theta: Choice) -> Float[Array, ""]:
        """log P(k | x, c)."""
        return self.log_weight[theta.index]

    def probabilities(self) -> Float[Array, " k"]:
        """P(k | x, c) of all experts."""
        return jnp.exp(self.log_weight)
