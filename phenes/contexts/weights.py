"""Weights that look at the context, for estimators that stay as they are.

What an answer is worth differs from context to context, and comparing an easy one with a hard one
is noise. Two ways out:

    per_context(weighting, repeats)   a plain weighting, of each context by itself: policies draw
                                      every context `repeats` times in a row
    Weighed(estimator, weights)       weights(p, q, batch) -> w[N] from the context: `belief`, or f
                                      minus a learnt `Baseline`

Both are functions of what was realised (c, x, f), never of theta, so that every estimator keeps its
mean and the phenotype its smaller variance (docs/parts/weightings.md).
"""

from collections.abc import Callable
from typing import Protocol, TypeVar, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, ArrayLike, Float

from phenes import _arrays, _validate, metric
from phenes.batch import Batch
from phenes.contexts.source import visible
from phenes.protocols import (
    Estimator,
    Family,
    HasMarginal,
    InputLaw,
    LearningEstimator,
    Observer,
    Optimiser,
    SearchLaw,
    Tree,
)
from phenes.strategy import Strategy, es
from phenes.weightings import Weighting

# P leaves at least this much to the other answers: one that was surer and wrong counts -999
LEAST_DOUBT = 1e-3

Part = TypeVar("Part", bound=Callable[..., object])


class ContextWeights(Protocol):
    """Weights of a population that look at the contexts."""

    def __call__(self, p: InputLaw, q: Family, batch: Batch, /) -> Float[Array, " n"]:
        """w[N] of a batch of N individuals."""
        ...


def per_context(weighting: Weighting, repeats: int) -> Weighting:
    """A weighting of the individuals in each context, among themselves.

    Parameters
    ----------
    weighting : callable
        f [n] -> w [n], such as `phenes.weightings.standardise`.
    repeats : int
        How many individuals in a row share a context: `repeats` of the policy, at least 2.

    Returns
    -------
    callable
        f [N] -> w [N].

    Raises
    ------
    ValueError
        If `repeats` is 1, or the population is no multiple of it.
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


def raw(f: Float[Array, " n"]) -> Float[Array, " n"]:
    """f itself; evaluations that failed have weight 0.

    Parameters
    ----------
    f : array [n]
        Values, NaN where there is none.

    Returns
    -------
    array [n]
    """
    return jnp.where(jnp.isfinite(f), f, 0.0)


def belief(p: InputLaw, q: SearchLaw, batch: Batch) -> Float[Array, " n"]:
    """(f - P) / (1 - P), P = P(x | c) of the policy: for f in [0, 1], one answer being correct.

    With these weights the phenotype estimate is d/d psi of f log P + (1 - f) log(1 - P), the
    likelihood of the feedback if P is the probability that x is correct. By Fisher's identity this
    is the mean of the full-information score d log P(correct answer | c) given the feedback. Its
    mean is not the gradient of E f: it still grows where E f is flat, since P is small.

    Parameters
    ----------
    p : InputLaw
        With a marginal; or q has a mean, at which P is taken.
    q : SearchLaw
        The policy.
    batch : Batch
        A population, with f in [0, 1].

    Returns
    -------
    array [n]
        The weights.

    Raises
    ------
    ValueError
        If p has no marginal and q no mean.
    """
    return _belief(p, q, batch, LEAST_DOUBT)


class Belief(eqx.Module):
    """`belief` with weights of at most 1 / doubt in size.

    The phenotype score of a sure answer is as small as its weight is large, so their product stays
    bounded with any doubt. The scores of other estimators are not: more doubt gives them less
    variance, and a target that corrects sure mistakes more slowly.

    Parameters
    ----------
    doubt : float
        What P leaves to the other answers at least, positive.
    """

    doubt: Float[Array, ""]

    def __init__(self, doubt: ArrayLike):
        self.doubt = _validate.shape("doubt", _arrays.positive("doubt", doubt), (), "one law")

    def __call__(self, p: InputLaw, q: SearchLaw, batch: Batch) -> Float[Array, " n"]:
        return _belief(p, q, batch, self.doubt)


def _belief(p: InputLaw, q: SearchLaw, batch: Batch, doubt: ArrayLike) -> Float[Array, " n"]:
    P = jnp.exp(_log_answer(p, q, batch))
    return raw((batch.f - P) / jnp.maximum(1 - P, doubt))


def _log_answer(p: InputLaw, q: SearchLaw, batch: Batch) -> Float[Array, " n"]:
    """log P(x | c), without a marginal at the mean of q: it must not depend on theta."""
    if isinstance(p, HasMarginal):
        return jax.vmap(p.marginal(q).log_prob)(batch.x)
    mean = getattr(q, "mean", None)
    if mean is None:
        raise ValueError(
            "belief needs a law with a marginal or a search law with a mean, got"
            f" {type(p).__name__} and {type(q).__name__}"
        )
    return jax.vmap(lambda x: p.log_prob(x, mean))(batch.x)


class Baseline(eqx.Module):
    """f - v(c), v learnt by least squares on past generations only.

    Parameters
    ----------
    model : callable
        c -> v(c) []: a `Table` for discrete contexts, a network, or a `Constant`.
    optimiser : optax.GradientTransformation
        Optimiser of the least squares.
    """

    model: Callable[[Tree], Float[Array, ""]]
    optimiser: optax.GradientTransformation = eqx.field(static=True)
    state: Tree

    def __init__(
        self, model: Callable[[Tree], Float[Array, ""]], optimiser: optax.GradientTransformation
    ):
        self.model = _validate.function("model", model, "phenes.contexts.Table(jnp.zeros(10))")
        if not isinstance(optimiser, Optimiser):
            raise ValueError(
                "optimiser must be an optax transformation such as optax.sgd(0.1), got"
                f" {optimiser!r}"
            )
        self.optimiser = optimiser
        self.state = optimiser.init(eqx.filter(model, eqx.is_inexact_array))

    def __call__(self, p: InputLaw, q: SearchLaw, batch: Batch) -> Float[Array, " n"]:
        return raw(batch.f - jax.vmap(lambda c: self.model(visible(c)))(batch.x.context))

    def observe(self, p: InputLaw, q: SearchLaw, batch: Batch) -> "Baseline":
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
    """An estimator with weights that look at the context, instead of those it is given.

    Parameters
    ----------
    estimator : Estimator
        Such as `phenes.estimators.phenotype`; it may learn from past generations.
    weights : callable
        (p, q, batch) -> w [n], such as `belief` or a `Baseline`; it may learn too (`observe`).
    """

    estimator: Estimator  # as given, or wrapped by _part
    weights: ContextWeights

    def __init__(self, estimator: Estimator, weights: ContextWeights):
        self.estimator = _part(
            _validate.function("estimator", estimator, "phenes.estimators.phenotype")
        )
        self.weights = _part(_validate.function("weights", weights, "phenes.contexts.belief"))

    def start(self, p: InputLaw, q: SearchLaw, batch: Batch) -> "Weighed":
        if not isinstance(self.estimator, LearningEstimator):
            return self
        return eqx.tree_at(lambda e: e.estimator, self, self.estimator.start(p, q, batch))

    def step(
        self, p: InputLaw, q: SearchLaw, batch: Batch, w: Float[Array, " n"]
    ) -> "tuple[Family, Weighed]":
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

    def __call__(self, p: InputLaw, q: SearchLaw, batch: Batch, w: Float[Array, " n"]) -> Family:
        return self.estimator(p, q, batch, self.weights(p, q, batch))


def _part(part: Part) -> Part:
    """Modules as they are, plain functions as structure: a state that holds them leaves `jit`."""
    kept = part if isinstance(part, eqx.Module) else jax.tree_util.Partial(part)
    return cast(Part, kept)


def learner(
    p: InputLaw,
    estimator: Estimator,
    weights: ContextWeights,
    optimiser: optax.GradientTransformation,
    popsize: int = 1,
) -> Strategy:
    """`phenes.es` for answers in contexts, with steps along the plain gradient.

    Parameters
    ----------
    p : InputLaw
        `Draw()`, `HiddenExpert()` or a `NetworkPolicy`.
    estimator : Estimator
        Such as `phenes.estimators.phenotype`.
    weights : callable
        (p, q, batch) -> w [n], such as `belief` or a `Baseline`.
    optimiser : optax.GradientTransformation
        Such as `optax.adam(1e-2)`.
    popsize : int
        Answers in a generation, a multiple of the policy's `repeats`.

    Returns
    -------
    Strategy
        For `phenes.run`.
    """
    return es(p, Weighed(estimator, weights), raw, optimiser, popsize, metric=metric.plain)
