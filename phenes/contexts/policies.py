"""Policies that answer in a context.

The Dirichlet policy of the paper's appendix B with any network behind it, and a network whose
weights are searched.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, PRNGKeyArray

from phenes import _validate
from phenes.contexts.source import Answer, Source, check_source, draw_contexts, visible
from phenes.protocols import Tree
from phenes.search.dirichlet import Dirichlet


class AnswerLogits(NamedTuple):
    """theta: log-probabilities of all answers, as they were drawn for a context.

    Parameters
    ----------
    context : pytree of arrays, or Case
        The context.
    log_probs : array [k]
        log-probabilities of the k answers.
    """

    context: Tree
    log_probs: Float[Array, " k"]


class DirichletPolicy(eqx.Module):
    """q(pi | c) = Dirichlet(pi | exp(log_alpha(c))); psi are the arrays inside `log_alpha`.

    Parameters
    ----------
    log_alpha : callable
        c -> log alpha [k]: a module of `equinox.nn`, `Concentrated`, or a `Table`.
    contexts : callable
        key -> context, such as `Cases`. Its law carries no psi: it takes part in sampling only.
    repeats : int
        How many individuals in a row get the same context.
    """

    log_alpha: Callable[[Tree], Float[Array, " k"]]
    contexts: Source = eqx.field(static=True)
    repeats: int = eqx.field(static=True)

    def __init__(
        self,
        log_alpha: Callable[[Tree], Float[Array, " k"]],
        contexts: Source,
        repeats: int = 1,
    ):
        self.log_alpha = _validate.function(
            "log_alpha", log_alpha, "equinox.nn.Linear(4, 3, key=key)"
        )
        self.contexts, self.repeats = check_source(contexts), _validate.count("repeats", repeats)

    def of(self, context: Tree) -> Dirichlet:
        """The law of the answers' probabilities in one context.

        Parameters
        ----------
        context : pytree of arrays, or Case
            The context.

        Returns
        -------
        Dirichlet
        """
        return Dirichlet(jnp.exp(self.log_alpha(visible(context))))

    def draw(self, key: PRNGKeyArray, n: int) -> tuple[Tree, PRNGKeyArray]:
        where, which = jax.random.split(key)
        return draw_contexts(self.contexts, where, n, self.repeats), jax.random.split(which, n)

    def sample(self, key: PRNGKeyArray) -> AnswerLogits:
        where, which = jax.random.split(key)
        return self.push((self.contexts(where), which))

    def push(self, xi: tuple[Tree, PRNGKeyArray]) -> AnswerLogits:
        context, key = xi
        return AnswerLogits(context, self.of(context).push(key))

    def resample(self, key: PRNGKeyArray, theta: AnswerLogits, n: int) -> AnswerLogits:
        """n other thetas in the context of this one: the context is given, not chosen."""
        again = jax.tree.map(
            lambda leaf: jnp.broadcast_to(leaf, (n, *jnp.shape(leaf))), theta.context
        )
        return jax.vmap(lambda c, k: self.push((c, k)))(again, jax.random.split(key, n))

    def log_prob(self, theta: AnswerLogits) -> Float[Array, ""]:
        return self.of(theta.context).log_prob(theta.log_probs)

    def log_answers(self, context: Tree) -> Float[Array, " k"]:
        """log P(answer | c) = log alpha - log sum alpha of every answer.

        Parameters
        ----------
        context : pytree of arrays, or Case
            The context.

        Returns
        -------
        array [k]
        """
        return jax.nn.log_softmax(self.log_alpha(visible(context)))

    def move(self, updates: "DirichletPolicy") -> tuple["DirichletPolicy", Int[Array, ""]]:
        return eqx.apply_updates(self, updates), jnp.zeros((), jnp.int32)


class Draw(eqx.Module):
    """p: an answer drawn with the probabilities in theta.

    With a `DirichletPolicy` and `is_correct` this is classification with bandit feedback. The score
    of the marginal is delta_{x,x_i}/alpha_x - 1/sum alpha in the context that came, 0 in all others
    (erratum 10).
    """

    def sample(self, key: PRNGKeyArray, theta: AnswerLogits) -> Answer:
        return Answer(theta.context, jax.random.categorical(key, theta.log_probs))

    def log_prob(self, x: Answer, theta: AnswerLogits) -> Float[Array, ""]:
        return theta.log_probs[x.answer]

    def marginal(self, q: DirichletPolicy) -> "AnswerMarginal":
        _validate.family(self, q, DirichletPolicy)
        return AnswerMarginal(q)

    def posterior(self, q: DirichletPolicy, x: Answer) -> "AnswerPosterior":
        _validate.family(self, q, DirichletPolicy, "posterior")
        alpha = q.of(x.context).alpha
        return AnswerPosterior(x.context, Dirichlet(alpha.at[x.answer].add(1.0)))


class HasLogAnswers(Protocol):
    """A law of finitely many answers in a context."""

    def log_answers(self, context: Tree, /) -> Float[Array, " k"]:
        """log P(answer | c) of every answer."""
        ...


class AnswerMarginal(eqx.Module):
    """P(x | c), for every law of answers that has `log_answers`."""

    q: HasLogAnswers

    def log_prob(self, x: Answer) -> Float[Array, ""]:
        return self.q.log_answers(x.context)[x.answer]


class AnswerPosterior(eqx.Module):
    """The posterior of theta given the answer: one count more for it."""

    context: Tree
    law: Dirichlet

    def sample(self, key: PRNGKeyArray) -> AnswerLogits:
        return AnswerLogits(self.context, self.law.sample(key))

    def log_prob(self, theta: AnswerLogits) -> Float[Array, ""]:
        return self.law.log_prob(theta.log_probs)


class NetworkPolicy(eqx.Module):
    """p: a network with weights theta [d] answers; for Gaussian search over the weights.

    There is no marginal in closed form: use `genotype` or `information_mix`.

    Parameters
    ----------
    logits : callable
        (theta [d], c) -> logits [k] of all answers, see `flatten`.
    contexts : callable
        key -> context, such as `Cases`.
    """

    logits: Callable[[Float[Array, " d"], Tree], Float[Array, " k"]] = eqx.field(static=True)
    contexts: Source = eqx.field(static=True)

    def __init__(
        self,
        logits: Callable[[Float[Array, " d"], Tree], Float[Array, " k"]],
        contexts: Source,
    ):
        self.logits = _validate.function(
            "logits", logits, "lambda theta, c: theta.reshape(3, 4) @ c"
        )
        self.contexts = check_source(contexts)

    def log_answers(self, theta: Float[Array, " d"], context: Tree) -> Float[Array, " k"]:
        """log p_theta(answer | c) of every answer.

        Parameters
        ----------
        theta : array [d]
            The weights.
        context : pytree of arrays, or Case
            The context.

        Returns
        -------
        array [k]
        """
        return jax.nn.log_softmax(self.logits(theta, visible(context)))

    def sample(self, key: PRNGKeyArray, theta: Float[Array, " d"]) -> Answer:
        where, what = jax.random.split(key)
        context = self.contexts(where)
        return Answer(context, jax.random.categorical(what, self.log_answers(theta, context)))

    def log_prob(self, x: Answer, theta: Float[Array, " d"]) -> Float[Array, ""]:
        return self.log_answers(theta, x.context)[x.answer]


def flatten(
    network: Callable[[Tree], Float[Array, " k"]],
) -> tuple[Float[Array, " d"], Callable[[Float[Array, " d"], Tree], Array]]:
    """The weights of an equinox module as one vector, and the module as a function of it.

    Parameters
    ----------
    network : equinox.Module
        c -> logits [k].

    Returns
    -------
    weights : array [d]
        All weights: where a search over them starts.
    logits : callable
        (theta [d], c) -> logits [k]: what `NetworkPolicy` takes.

    Raises
    ------
    ValueError
        If the network has no weights.
    """
    arrays, rest = eqx.partition(network, eqx.is_inexact_array)
    weights, unravel = ravel_pytree(arrays)
    if weights.size == 0:
        raise ValueError(
            f"network must have weights to search, got {type(network).__name__} without any"
        )
    return weights, lambda theta, c: eqx.combine(unravel(theta), rest)(c)
