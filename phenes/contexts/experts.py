"""Mixtures of experts, gate and experts learnt together: psi = (rho, phi) of the paper's appendix B
(errata 11, 12).

theta = (c, k, answer) is which expert says what, x = (c, answer) is what was heard, not from whom.
Then q(theta | c) = alpha(k | c) pi_k(answer | c), and the estimators are those of the rest of the
library:

    genotype   d log alpha(k | c) + d log pi_k(x | c)          the sampled expert only
    phenotype  sum_k post_k [d log alpha(k | c) + d log pi_k(x | c)] = d log sum_k alpha(k | c) pi_k(x | c)
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from phenes import _arrays, _validate
from phenes.contexts.source import Answered, check_source, draw_contexts, seen


class Said(NamedTuple):
    """theta: which expert was asked in a context, and what it answered."""

    context: Any
    expert: Int[Array, ""]
    answer: Any


class Labels(eqx.Module):
    """An expert that names one of finitely many labels: pi(x | c) = softmax(network(c))_x."""

    network: Callable[[Any], Float[Array, " y"]]

    def __init__(self, network):
        self.network = _validate.function("network", network, "equinox.nn.Linear(4, 3, key=key)")

    def log_answers(self, c: Any) -> Float[Array, " y"]:
        return jax.nn.log_softmax(self.network(c))

    def sample(self, key: PRNGKeyArray, c: Any) -> Int[Array, ""]:
        return jax.random.categorical(key, self.network(c))

    def log_prob(self, answer: Int[Array, ""], c: Any) -> Float[Array, ""]:
        return self.log_answers(c)[answer]


class Numbers(eqx.Module):
    """An expert that gives a number or a vector: pi(x | c) = N(network(c), std^2), std learnt as
    its logarithm.
    """

    network: Callable[[Any], Float[Array, "*y"]]
    log_std: Float[Array, ""]

    def __init__(self, network, std: float = 1.0):
        self.network = _validate.function("network", network, "equinox.nn.Linear(4, 1, key=key)")
        self.log_std = jnp.log(_arrays.positive("std", std))

    def sample(self, key: PRNGKeyArray, c: Any) -> Float[Array, "*y"]:
        mean = self.network(c)
        return mean + jnp.exp(self.log_std) * jax.random.normal(key, mean.shape, mean.dtype)

    def log_prob(self, answer: Float[Array, "*y"], c: Any) -> Float[Array, ""]:
        return jnp.sum(jax.scipy.stats.norm.logpdf(answer, self.network(c), jnp.exp(self.log_std)))


class Mixture(eqx.Module):
    """q(k, answer | c) = alpha(k | c) pi_k(answer | c): `gate(c)` are the logits of the experts,
    which are `Labels`, `Numbers` or anything with `sample(key, c)` and `log_prob(answer, c)`.
    `contexts(key) -> c` as for `DirichletPolicy`."""

    gate: Callable[[Any], Float[Array, " k"]]
    experts: tuple[Any, ...]
    contexts: Callable[[PRNGKeyArray], Any] = eqx.field(static=True)
    repeats: int = eqx.field(static=True)

    def __init__(self, gate, experts: Sequence[Any], contexts, repeats: int = 1):
        self.gate = _validate.function("gate", gate, "equinox.nn.Linear(4, 2, key=key)")
        self.experts, self.contexts = tuple(experts), check_source(contexts)
        self.repeats = _validate.count("repeats", repeats)
        for expert in self.experts:
            if not (hasattr(expert, "sample") and hasattr(expert, "log_prob")):
                raise ValueError(
                    "experts must have sample and log_prob, such as"
                    f" phenes.contexts.Labels(network), got {expert!r}"
                )
        shape = jax.eval_shape(lambda key: gate(seen(contexts(key))), jax.random.key(0)).shape
        if shape != (len(self.experts),):
            raise ValueError(
                f"gate must give a logit for each of the {len(self.experts)} experts, got shape"
                f" {shape}"
            )

    def draw(self, key: PRNGKeyArray, n: int) -> tuple[Any, PRNGKeyArray]:
        where, which = jax.random.split(key)
        return draw_contexts(self.contexts, where, n, self.repeats), jax.random.split(which, n)

    def sample(self, key: PRNGKeyArray) -> Said:
        where, which = jax.random.split(key)
        return self.push((self.contexts(where), which))

    def push(self, xi: tuple[Any, PRNGKeyArray]) -> Said:
        context, key = xi
        which, what = jax.random.split(key)
        expert = jax.random.categorical(which, self.gate(seen(context)))
        each = [e.sample(what, seen(context)) for e in self.experts]
        return Said(context, expert, jnp.stack(each)[expert])

    def log_gate(self, context: Any) -> Float[Array, " k"]:
        return jax.nn.log_softmax(self.gate(seen(context)))

    def log_joint(self, x: Answered) -> Float[Array, " k"]:
        """log alpha(k | c) + log pi_k(answer | c) of every expert."""
        return self.log_gate(x.context) + jnp.stack(
            [e.log_prob(x.answer, seen(x.context)) for e in self.experts]
        )

    def log_prob(self, theta: Said) -> Float[Array, ""]:
        return self.log_joint(Answered(theta.context, theta.answer))[theta.expert]

    def log_answers(self, context: Any) -> Float[Array, " y"]:
        """log P(label | c) of every label, for experts that are `Labels`."""
        each = jnp.stack([e.log_answers(seen(context)) for e in self.experts])
        return jax.nn.logsumexp(self.log_gate(context)[:, None] + each, axis=0)

    def move(self, updates: "Mixture") -> tuple["Mixture", Int[Array, ""]]:
        return eqx.apply_updates(self, updates), jnp.zeros((), jnp.int32)


class Hear(eqx.Module):
    """p: the answer as it was said, without who said it."""

    def sample(self, key: PRNGKeyArray, theta: Said) -> Answered:
        return Answered(theta.context, theta.answer)

    def log_prob(self, x: Answered, theta: Said) -> Float[Array, ""]:
        return jnp.where(jnp.all(x.answer == theta.answer), 0.0, -jnp.inf)

    def marginal(self, q: Mixture) -> "Heard":
        _validate.family(self, q, Mixture)
        return Heard(q)

    def posterior(self, q: Mixture, x: Answered) -> "Speaker":
        _validate.family(self, q, Mixture, "posterior")
        return Speaker(x, jax.nn.log_softmax(q.log_joint(x)))


class Heard(eqx.Module):
    """log P(x | c) = logsumexp_k(log alpha(k | c) + log pi_k(x | c))."""

    q: Mixture

    def log_prob(self, x: Answered) -> Float[Array, ""]:
        return jax.nn.logsumexp(self.q.log_joint(x))


class Speaker(eqx.Module):
    """Who it was, given what was heard."""

    x: Answered
    log_weight: Float[Array, " k"]

    def sample(self, key: PRNGKeyArray) -> Said:
        return Said(self.x.context, jax.random.categorical(key, self.log_weight), self.x.answer)

    def log_prob(self, theta: Said) -> Float[Array, ""]:
        return self.log_weight[theta.expert] + Hear().log_prob(self.x, theta)
