"""Weights that look at the context, for estimators that stay as they are.

What an answer is worth differs from context to context, and comparing an easy one with a hard one
is noise. Two ways out:

    within(weighting, repeats)    each context comes `repeats` times in a row, and is weighed by itself: a plain weighting
    Weighed(estimator, weights)   weights(p, q, batch) -> w[N] from the context: `belief`, or f minus a learnt `Baseline`

Both are functions of what was realised (c, x, f), never of theta, so that every estimator keeps its
mean and the phenotype its smaller variance (docs/parts/weightings.md).
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from phenes import _arrays, _validate, metric
from phenes.batch import Batch
from phenes.contexts.source import seen
from phenes.protocols import LearningEstimator, Observer
from phenes.strategy import Strategy, es
from phenes.weightings import Weighting

# P leaves at least this much to the other answers: one that was surer and wrong counts -999
LEAST_DOUBT = 1e-3


def within(weighting: Weighting, repeats: int) -> Weighting:
    """`weighting` of the individuals in each context, for policies that draw every context
    `repeats` times in a row.
    """
    _validate.function("weighting", weighting, "phenes.weightings.standardise")
    repeats = _validate.count("repeats", repeats)
    if repeats < 2:
        raise ValueError(
            "repeats must be at least 2, got 1: one individual has nobody to be compared with"
        )

    def weigh(f: Float[Array, " n"]) -> Float[Array, " n"]:
        if f.size % repeats:
            raise ValueError(
                f"the population must be a multiple of the {repeats} repeats of a context, got"
                f" {f.size}"
            )
        return jax.vmap(weighting)(f.reshape(-1, repeats)).reshape(-1)

    return weigh


def as_it_is(f: Float[Array, " n"]) -> Float[Array, " n"]:
    """f itself; what could not be evaluated counts nothing."""
    return jnp.where(jnp.isfinite(f), f, 0.0)


def belief(p: Any, q: Any, batch: Batch) -> Float[Array, " n"]:
    """(f - P) / (1 - P), P = P(x | c) what the policy itself gave the answer: for f in [0, 1],
    where one answer is right.

    With these weights the phenotype estimate is d/d psi of f log P + (1 - f) log(1 - P), the
    likelihood of the feedback if P is the probability that x is right. By Fisher's identity this is
    the mean of the full-information score d log P(right answer | c) given what the feedback says.
    Its mean is not the gradient of E f: it still grows where E f is flat, since P is small.
    """
    return _belief(p, q, batch, LEAST_DOUBT)


class Belief(eqx.Module):
    """`belief` with weights of at most 1 / doubt in size.

    The phenotype score of a sure answer is as small as its weight is large, so their product stays
    bounded with any doubt. The scores of other estimators are not: more doubt gives them less
    variance, and a target that corrects sure mistakes more slowly.
    """

    doubt: Float[Array, ""]

    def __init__(self, doubt):
        self.doubt = _validate.shape("doubt", _arrays.positive("doubt", doubt), (), "one law")

    def __call__(self, p: Any, q: Any, batch: Batch) -> Float[Array, " n"]:
        return _belief(p, q, batch, self.doubt)


def _belief(p: Any, q: Any, batch: Batch, doubt: Any) -> Float[Array, " n"]:
    P = jnp.exp(_log_answer(p, q, batch))
    return as_it_is((batch.f - P) / jnp.maximum(1 - P, doubt))


def _log_answer(p: Any, q: Any, batch: Batch) -> Float[Array, " n"]:
    """log P(x | c), or that of the policy at the mean of q where there is no marginal: it must not
    depend on theta.
    """
    if hasattr(p, "marginal"):
        return jax.vmap(p.marginal(q).log_prob)(batch.x)
    if not hasattr(q, "mean"):
        raise ValueError(
            "belief needs a law with a marginal or a search law with a mean, got"
            f" {type(p).__name__} and {type(q).__name__}"
        )
    return jax.vmap(lambda x: p.log_prob(x, q.mean))(batch.x)


class Baseline(eqx.Module):
    """f - v(c), v learnt by least squares on past generations only: a `Table` for discrete
    contexts, a network, or a `Constant`.
    """

    model: Callable[[Any], Float[Array, ""]]
    optimiser: optax.GradientTransformation = eqx.field(static=True)
    state: Any

    def __init__(self, model, optimiser: optax.GradientTransformation):
        self.model = _validate.function("model", model, "phenes.contexts.Table(jnp.zeros(10))")
        if not hasattr(optimiser, "update"):
            raise ValueError(
                "optimiser must be an optax transformation such as optax.sgd(0.1), got"
                f" {optimiser!r}"
            )
        self.optimiser = optimiser
        self.state = optimiser.init(eqx.filter(model, eqx.is_inexact_array))

    def __call__(self, p: Any, q: Any, batch: Batch) -> Float[Array, " n"]:
        return as_it_is(batch.f - jax.vmap(lambda c: self.model(seen(c)))(batch.x.context))

    def observe(self, p: Any, q: Any, batch: Batch) -> "Baseline":
        def loss(model):
            return 0.5 * jnp.mean(eqx.tree_at(lambda b: b.model, self, model)(p, q, batch) ** 2)

        updates, state = self.optimiser.update(
            eqx.filter_grad(loss)(self.model),
            self.state,
            eqx.filter(self.model, eqx.is_inexact_array),
        )
        return eqx.tree_at(
            lambda b: (b.model, b.state), self, (eqx.apply_updates(self.model, updates), state)
        )


class Weighed(eqx.Module):
    """`estimator` with the weights `weights(p, q, batch)` instead of those it is given. Either may
    learn from past generations.
    """

    estimator: Any
    weights: Any

    def __init__(self, estimator, weights):
        self.estimator = _part(
            _validate.function("estimator", estimator, "phenes.estimators.phenotype")
        )
        self.weights = _part(_validate.function("weights", weights, "phenes.contexts.belief"))

    def start(self, p: Any, q: Any, batch: Batch) -> "Weighed":
        return (
            eqx.tree_at(lambda e: e.estimator, self, self.estimator.start(p, q, batch))
            if isinstance(self.estimator, LearningEstimator)
            else self
        )

    def step(self, p: Any, q: Any, batch: Batch, w: Float[Array, " n"]) -> "tuple[Any, Weighed]":
        """The gradient with what both parts knew before this generation, and both after it."""
        estimator, weights = self.estimator, self.weights
        w = weights(p, q, batch)
        if isinstance(estimator, LearningEstimator):
            g, estimator = estimator.step(p, q, batch, w)
        else:
            g = estimator(p, q, batch, w)
        if isinstance(weights, Observer):
            weights = weights.observe(p, q, batch)
        return g, eqx.tree_at(lambda e: (e.estimator, e.weights), self, (estimator, weights))

    def __call__(self, p: Any, q: Any, batch: Batch, w: Float[Array, " n"]) -> Any:
        return self.estimator(p, q, batch, self.weights(p, q, batch))


def _part(part: Any) -> Any:
    """Modules as they are; plain functions as part of the structure, so that a state that holds
    them can leave `jax.jit`.
    """
    return part if isinstance(part, eqx.Module) else jax.tree_util.Partial(part)


def learner(
    p: Any, estimator: Any, weights: Any, optimiser: optax.GradientTransformation, popsize: int = 1
) -> Strategy:
    """`phenes.es` for answers in contexts: an estimator, weights that look at the context, and
    steps along the plain gradient.
    """
    return es(p, Weighed(estimator, weights), as_it_is, optimiser, popsize, metric=metric.plain)
