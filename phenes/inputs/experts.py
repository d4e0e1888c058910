"""K experts behind a gate: given the context and the chosen expert, an output is drawn (errata 11,
12).
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phenes import _validate
from phenes.search.gate import Choice, Gate


class Experts(eqx.Module):
    """p(x | c, k) for x = (c, output): `log_probs(c)` gives the log-probabilities [K, outputs] of
    all experts in a context.
    """

    log_probs: Callable[[Any], Float[Array, "k y"]]

    def __init__(self, log_probs):
        self.log_probs = _validate.function(
            "log_probs", log_probs, "lambda c: jax.nn.log_softmax(tables[c])"
        )

    def sample(self, key: PRNGKeyArray, theta: Choice) -> Choice:
        logits = self.log_probs(theta.context)[theta.index]
        return Choice(theta.context, jax.random.categorical(key, logits))

    def log_prob(self, x: Choice, theta: Choice) -> Float[Array, ""]:
        return self.log_probs(x.context)[theta.index, x.index]

    def marginal(self, q: Gate) -> "GatedExperts":
        _validate.family(self, q, Gate)
        return GatedExperts(q, self)

    def posterior(self, q: Gate, x: Choice) -> "ExpertPosterior":
        _validate.family(self, q, Gate, "posterior")
        joint = q.log_weights(x.context) + self.log_probs(x.context)[:, x.index]
        return ExpertPosterior(x.context, jax.nn.log_softmax(joint))


class GatedExperts(eqx.Module):
    """log P(x | c) = logsumexp_k(log gate_k(c) + log pi_k(x | c)); its gradient in the gate's
    logits is posterior - gate.
    """

    q: Gate
    law: Experts

    def log_prob(self, x: Choice) -> Float[Array, ""]:
        return jax.nn.logsumexp(
            self.q.log_weights(x.context) + self.law.log_probs(x.context)[:, x.index]
        )


class ExpertPosterior(eqx.Module):
    """Which expert it was, given what came out."""

    context: Any
    log_weight: Float[Array, " k"]

    def sample(self, key: PRNGKeyArray) -> Choice:
        return Choice(self.context, jax.random.categorical(key, self.log_weight))

    def log_prob(self, theta: Choice) -> Float[Array, ""]:
        return self.log_weight[theta.index]

    def probabilities(self) -> Float[Array, " k"]:
        return jnp.exp(self.log_weight)
