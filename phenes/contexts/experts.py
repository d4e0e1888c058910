"""Mixtures of experts, gate and experts learnt together (the paper's appendix B; errata 11, 12).

psi = (rho, phi), the parameters of the gate and of the experts.
theta = (c, k, answer) is which expert says what, x = (c, answer) is what was heard, not from whom.
Then q(theta | c) = alpha(k | c) pi_k(answer | c), and the estimators are those of the rest of the
library:

    genotype   d log alpha(k | c) + d log pi_k(x | c)          the sampled expert only
    phenotype  sum_k post_k [d log alpha(k | c) + d log pi_k(x | c)]
               = d log sum_k alpha(k | c) pi_k(x | c)
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, cast, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float, Int, PRNGKeyArray

from phenes import _arrays, _validate
from phenes.contexts.source import Answer, Source, check_source, draw_contexts, visible
from phenes.protocols import Tree


class ExpertAnswer(NamedTuple):
    """theta: which expert was asked in a context, and what it answered.

    Parameters
    ----------
    context : pytree of arrays, or Case
        The context.
    expert : integer array []
        The index of the expert.
    answer : array
        What it answered.
    """

    context: Tree
    expert: Int[Array, ""]
    answer: Array


@runtime_checkable
class Expert(Protocol):
    """A law of answers in a context, pi(answer | c)."""

    def sample(self, key: PRNGKeyArray, c: Tree, /) -> Array:
        """One answer in the context c."""
        ...

    def log_prob(self, answer: Array, c: Tree, /) -> Float[Array, ""]:
        """log pi(answer | c)."""
        ...


class Labels(eqx.Module):
    """An expert that names one of finitely many labels: pi(x | c) = softmax(network(c))_x.

    Parameters
    ----------
    network : callable
        c -> logits [y], such as a module of `equinox.nn`.
    """

    network: Callable[[Tree], Float[Array, " y"]]

    def __init__(self, network: Callable[[Tree], Float[Array, " y"]]):
        self.network = _validate.function("network", network, "equinox.nn.Linear(4, 3, key=key)")

    def log_answers(self, c: Tree) -> Float[Array, " y"]:
        """log pi(label | c) of every label.

        Parameters
        ----------
        c : pytree of arrays
            The visible part of a context.

        Returns
        -------
        array [y]
        """
        return jax.nn.log_softmax(self.network(c))

    def sample(self, key: PRNGKeyArray, c: Tree) -> Int[Array, ""]:
        return jax.random.categorical(key, self.network(c))

    def log_prob(self, answer: Int[Array, ""], c: Tree) -> Float[Array, ""]:
        return self.log_answers(c)[answer]


class Numbers(eqx.Module):
    """An expert that gives a number or a vector: pi(x | c) = N(network(c), std^2).

    Parameters
    ----------
    network : callable
        c -> mean, such as a module of `equinox.nn`.
    std : float
        Where the standard deviation starts; it is learnt as its logarithm.
    """

    network: Callable[[Tree], Float[Array, "*y"]]
    log_std: Float[Array, ""]

    def __init__(self, network: Callable[[Tree], Float[Array, "*y"]], std: ArrayLike = 1.0):
        self.network = _validate.function("network", network, "equinox.nn.Linear(4, 1, key=key)")
        self.log_std = jnp.log(_arrays.positive("std", std))

    def sample(self, key: PRNGKeyArray, c: Tree) -> Float[Array, "*y"]:
        mean = self.network(c)
        return mean + jnp.exp(self.log_std) * jax.random.normal(key, mean.shape, mean.dtype)

    def log_prob(self, answer: Float[Array, "*y"], c: Tree) -> Float[Array, ""]:
        return jnp.sum(jax.scipy.stats.norm.logpdf(answer, self.network(c), jnp.exp(self.log_std)))


class Mixture(eqx.Module):
    """A mixture of experts: q(k, answer | c) = alpha(k | c) pi_k(answer | c).

    Parameters
    ----------
    gate : callable
        c -> logits [k] of the experts.
    experts : sequence of k experts
        `Labels`, `Numbers` or anything with `sample(key, c)` and `log_prob(answer, c)`.
    contexts : callable
        key -> context, such as `Cases`. Its law carries no psi: it takes part in sampling only.
    repeats : int
        How many individuals in a row get the same context.

    Raises
    ------
    ValueError
        If an expert lacks a method, or the gate has not a logit for each of them.
    """

    gate: Callable[[Tree], Float[Array, " k"]]
    experts: tuple[Expert, ...]
    contexts: Source = eqx.field(static=True)
    repeats: int = eqx.field(static=True)

    def __init__(
        self,
        gate: Callable[[Tree], Float[Array, " k"]],
        experts: Sequence[Expert],
        contexts: Source,
        repeats: int = 1,
    ):
        self.gate = _validate.function("gate", gate, "equinox.nn.Linear(4, 2, key=key)")
        self.experts, self.contexts = tuple(experts), check_source(contexts)
        self.repeats = _validate.count("repeats", repeats)
        for expert in self.experts:
            if not isinstance(expert, Expert):
                raise ValueError(
                    "experts must have sample and log_prob, such as"
                    f" phenes.contexts.Labels(network), got {expert!r}"
                )
        shape = jax.eval_shape(lambda key: gate(visible(contexts(key))), jax.random.key(0)).shape
        if shape != (len(self.experts),):
            raise ValueError(
                f"gate must give a logit for each of the {len(self.experts)} experts, got shape"
                f" {shape}"
            )

    def draw(self, key: PRNGKeyArray, n: int) -> tuple[Tree, PRNGKeyArray]:
        where, which = jax.random.split(key)
        return draw_contexts(self.contexts, where, n, self.repeats), jax.random.split(which, n)

    def sample(self, key: PRNGKeyArray) -> ExpertAnswer:
        where, which = jax.random.split(key)
        return self.push((self.contexts(where), which))

    def push(self, xi: tuple[Tree, PRNGKeyArray]) -> ExpertAnswer:
        context, key = xi
        which, what = jax.random.split(key)
        expert = jax.random.categorical(which, self.gate(visible(context)))
        each = [e.sample(what, visible(context)) for e in self.experts]
        return ExpertAnswer(context, expert, jnp.stack(each)[expert])

    def log_gate(self, context: Tree) -> Float[Array, " k"]:
        """log alpha(k | c) of every expert.

        Parameters
        ----------
        context : pytree of arrays, or Case
            The context.

        Returns
        -------
        array [k]
        """
        return jax.nn.log_softmax(self.gate(visible(context)))

    def log_joint(self, x: Answer) -> Float[Array, " k"]:
        """log alpha(k | c) + log pi_k(answer | c) of every expert.

        Parameters
        ----------
        x : Answer
            A context and an answer.

        Returns
        -------
        array [k]
        """
        return self.log_gate(x.context) + jnp.stack(
            [e.log_prob(x.answer, visible(x.context)) for e in self.experts]
        )

    def log_prob(self, theta: ExpertAnswer) -> Float[Array, ""]:
        return self.log_joint(Answer(theta.context, theta.answer))[theta.expert]

    def log_answers(self, context: Tree) -> Float[Array, " y"]:
        """log P(label | c) of every label, for experts that are `Labels`.

        Parameters
        ----------
        context : pytree of arrays, or Case
            The context.

        Returns
        -------
        array [y]
        """
        experts = cast("tuple[Labels, ...]", self.experts)
        each = jnp.stack([e.log_answers(visible(context)) for e in experts])
        return jax.nn.logsumexp(self.log_gate(context)[:, None] + each, axis=0)

    def move(self, updates: "Mixture") -> tuple["Mixture", Int[Array, ""]]:
        return eqx.apply_updates(self, updates), jnp.zeros((), jnp.int32)


class HiddenExpert(eqx.Module):
    """p: the answer as it was said, without the expert who said it.

    The marginal sums over the experts, so that the phenotype gradient credits every expert that
    could have given the answer, by its posterior.
    """

    def sample(self, key: PRNGKeyArray, theta: ExpertAnswer) -> Answer:
        return Answer(theta.context, theta.answer)

    def log_prob(self, x: Answer, theta: ExpertAnswer) -> Float[Array, ""]:
        return jnp.where(jnp.all(x.answer == theta.answer), 0.0, -jnp.inf)

    def marginal(self, q: Mixture) -> "ExpertMarginal":
        _validate.family(self, q, Mixture)
        return ExpertMarginal(q)

    def posterior(self, q: Mixture, x: Answer) -> "ExpertPosterior":
        _validate.family(self, q, Mixture, "posterior")
        return ExpertPosterior(x, jax.nn.log_softmax(q.log_joint(x)))


class ExpertMarginal(eqx.Module):
    """The marginal of an answer, log P(x | c) = logsumexp_k(log alpha(k | c) + log pi_k(x | c)).

    Parameters
    ----------
    q : Mixture
        The mixture of experts.
    """

    q: Mixture

    def log_prob(self, x: Answer) -> Float[Array, ""]:
        return jax.nn.logsumexp(self.q.log_joint(x))


class ExpertPosterior(eqx.Module):
    """The posterior of the expert, given the answer.

    Parameters
    ----------
    x : Answer
        The context and the answer.
    log_weight : array [k]
        log-probabilities of the experts.
    """

    x: Answer
    log_weight: Float[Array, " k"]

    def sample(self, key: PRNGKeyArray) -> ExpertAnswer:
        return ExpertAnswer(
            self.x.context, jax.random.categorical(key, self.log_weight), self.x.answer
        )

    def log_prob(self, theta: ExpertAnswer) -> Float[Array, ""]:
        return self.log_weight[theta.expert] + HiddenExpert().log_prob(self.x, theta)
