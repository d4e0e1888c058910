# pyright: reportUnknownMemberType=false
"""The estimators of the paper: one choice of log-likelihood each.

All share one signature, `estimator(p, q, batch, w) -> g`, g shaped like q: the estimate of
d E[W(f(x))] / d psi.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phenes import _validate
from phenes._score import input_score, score, search_score
from phenes._trees import mean_rows
from phenes.batch import Batch
from phenes.estimators.missing import or_genotype, realised_score, unmeasured
from phenes.protocols import Estimator, HasPosterior, HasPull, InputLaw, Q, Tree


def genotype(p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    """log q_psi(theta_i): the ordinary evolution strategy, which ignores x. Unbiased.

    Eq. genotype-gradient-estimator.

    Parameters
    ----------
    p : InputLaw
        The input law.
    q : SearchLaw
        The search law.
    batch : Batch
        A population with theta.
    w : array, shape [N]
        Weights of the individuals.

    Returns
    -------
    SearchLaw
        The gradient, shaped like q.

    Examples
    --------
    >>> p = phenes.inputs.GaussianNoise(0.1)
    >>> parts = phenes.weightings.standardise, optax.sgd(0.1)
    >>> strategy = phenes.es(p, phenes.estimators.genotype, *parts, popsize=20)
    """
    return search_score(q, batch.theta, w)


def phenotype(p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    """log P_psi(x_i), P = marginal of p under q: the Rao-Blackwellised genotype estimator.

    Eq. full-gradient-estimator. Unbiased, with covariance at most that of `genotype` in the Loewner
    order. Where x is NaN, it was not measured, and the genotype score takes its place: of single
    coordinates if they are independent given theta, else of the individual.

    Parameters
    ----------
    p : InputLaw
        The input law.
    q : SearchLaw
        The search law.
    batch : Batch
        A population with x, and with theta if x was not always measured.
    w : array, shape [N]
        Weights of the individuals.

    Returns
    -------
    SearchLaw
        The gradient, shaped like q.

    Raises
    ------
    ValueError
        If p has no marginal in closed form under q.

    Examples
    --------
    >>> p = phenes.inputs.GaussianNoise(0.1)
    >>> parts = phenes.weightings.standardise, optax.sgd(0.1)
    >>> strategy = phenes.es(p, phenes.estimators.phenotype, *parts, popsize=20)
    """
    return realised_score(p, q, batch, w)


def reparameterised(p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    """log p_theta(x_i) through theta = push_psi(xi_i), at theta_i and never at the mean.

    Errata 16-19. Unbiased where log p is smooth in theta. Better than `genotype` only if x says
    less about theta than q does. Individuals whose x has a NaN have their genotype score.

    Parameters
    ----------
    p : InputLaw
        The input law.
    q : SearchLaw
        The search law.
    batch : Batch
        A population with theta, x and xi.
    w : array, shape [N]
        Weights of the individuals.

    Returns
    -------
    SearchLaw
        The gradient, shaped like q.

    Examples
    --------
    >>> p = phenes.inputs.GaussianNoise(0.1)
    >>> parts = phenes.weightings.standardise, optax.sgd(0.1)
    >>> strategy = phenes.es(p, phenes.estimators.reparameterised, *parts, popsize=20)
    """
    return or_genotype(_reparameterised, p, q, batch, w)


def _reparameterised(p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    by_theta = input_score(p, batch.x, batch.theta)

    def inner(q: Q) -> Array:
        pushed = jax.vmap(q.push)(batch.xi)
        products = jax.tree.map(jnp.multiply, by_theta, pushed)
        each = [jnp.sum(leaf.reshape(w.size, -1), axis=1) for leaf in jax.tree.leaves(products)]
        return jnp.sum(jnp.stack(each), axis=0)

    return score(inner, q, w)


def rao_blackwellise(estimator: Estimator, draws: int) -> Estimator:
    """Any estimator averaged over fresh draws of theta_i from its posterior given x_i.

    Exactly as unbiased as the estimator it is given, for individuals drawn independently (erratum
    15: not for mirrored pairs).

    Parameters
    ----------
    estimator : Estimator
        The estimator to average.
    draws : int
        Draws of theta for each individual.

    Returns
    -------
    Estimator
        The average.

    Raises
    ------
    ValueError
        If draws is no positive integer; when used, if p has no posterior in closed form.

    Examples
    --------
    >>> p = phenes.inputs.GaussianNoise(0.1)
    >>> averaged = phenes.estimators.rao_blackwellise(phenes.estimators.genotype, 4)
    >>> parts = phenes.weightings.standardise, optax.sgd(0.1)
    >>> strategy = phenes.es(p, averaged, *parts, popsize=20)
    """
    _validate.count("draws", draws)

    def averaged(p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
        if not isinstance(p, HasPosterior):
            raise ValueError(
                f"{type(p).__name__} has no posterior in closed form: use"
                " estimators.information_mix or estimators.exchangeable, which need none"
            )

        def posterior_draw(key: PRNGKeyArray, x: Tree) -> Tree:
            return p.posterior(q, x).sample(key)

        missing = unmeasured(batch.x, w.size)

        def own_if_missing(own: Array, drawn: Array) -> Array:
            return jnp.where(missing.reshape(-1, *(1,) * (own.ndim - 1)), own, drawn)

        def once(key: PRNGKeyArray) -> Q:
            theta = jax.vmap(posterior_draw)(jax.random.split(key, w.size), batch.x)
            if batch.theta is not None:
                theta = jax.tree.map(own_if_missing, batch.theta, theta)
            # estimators that look at xi see the one that would have led to this theta
            xi = jax.vmap(q.pull)(theta) if isinstance(q, HasPull) else None
            return estimator(p, q, batch._replace(theta=theta, xi=xi), w)

        return mean_rows(eqx.filter_vmap(once)(jax.random.split(batch_key(batch), draws)))

    return averaged


def batch_key(batch: Batch) -> PRNGKeyArray:
    """The randomness that a batch carries for estimators that draw."""
    if batch.key is None:
        raise ValueError("the batch must carry a key for estimators that draw, got None")
    return batch.key
