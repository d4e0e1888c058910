# pyright: reportUnknownMemberType=false
"""Two-point estimators: the first half of the population and the second half are the partners.

Errata 13-15. For mirrored pairs (`es(..., mirrored=True)`) theta_1 = m + L z and theta_2 = m - L z.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from phenes._score import search_score
from phenes.batch import Batch
from phenes.estimators.missing import if_missing, realised_score, unmeasured
from phenes.protocols import HasMirroredScore, InputLaw, Q


def two_point(p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    """1/2 (W1 - W2)(s(theta_1) - s(theta_2)), averaged over independent pairs. Unbiased.

    Erratum 13: no sigma.

    Parameters
    ----------
    p : InputLaw
        The input law.
    q : SearchLaw
        The search law.
    batch : Batch
        A population with theta and an even number of individuals.
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
    >>> strategy = phenes.es(p, phenes.estimators.two_point, *parts, popsize=20)
    """
    return search_score(q, batch.theta, _against_partner(w))


def two_point_phenotype(p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    """1/2 (W1 - W2)(s(x_1) - s(x_2)): `two_point` Rao-Blackwellised, for independent pairs.

    Parameters
    ----------
    p : InputLaw
        The input law.
    q : SearchLaw
        The search law.
    batch : Batch
        A population with x and an even number of individuals.
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
    >>> strategy = phenes.es(p, phenes.estimators.two_point_phenotype, *parts, popsize=20)
    """
    return realised_score(p, q, batch, _against_partner(w))


def mirrored(p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    """The antithetic estimate over mirrored pairs. Unbiased.

    1/4 (W1 - W2)(s(theta_1) - s(theta_2)) + 1/4 (W1 + W2)(s(theta_1) + s(theta_2)): the first term
    estimates the mean's gradient (the second vanishes there), the second that of the spread.

    Parameters
    ----------
    p : InputLaw
        The input law.
    q : SearchLaw
        The search law.
    batch : Batch
        A population with theta in mirrored pairs.
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
    >>> strategy = phenes.es(p, phenes.estimators.mirrored, *parts, popsize=20, mirrored=True)
    """
    halves = _split(w)
    odd, even = 0.5 * (halves[0] - halves[1]), 0.5 * (halves[0] + halves[1])
    return search_score(q, batch.theta, jnp.concatenate([even + odd, even - odd]))


def mirrored_phenotype(p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    """1/2 (W1 - W2)(S + C/2)^-1 (x1 - x2)/2: `mirrored` Rao-Blackwellised (erratum 15).

    The posterior is the joint one of z. Unbiased, with covariance at most that of `mirrored`. With
    centred weights `phenotype` on the same pairs is usually as good; this one wins where W has a
    baseline that nothing controls (docs/estimators/pairs.md).

    Parameters
    ----------
    p : InputLaw
        The input law.
    q : SearchLaw
        The search law.
    batch : Batch
        A population with x of mirrored pairs.
    w : array, shape [N]
        Weights of the individuals.

    Returns
    -------
    SearchLaw
        The gradient, shaped like q.

    Raises
    ------
    ValueError
        If p is not Gaussian noise, or the population is odd.

    Examples
    --------
    >>> p = phenes.inputs.GaussianNoise(0.1)
    >>> parts = phenes.estimators.mirrored_phenotype, phenes.weightings.standardise, optax.sgd(0.1)
    >>> strategy = phenes.es(p, *parts, popsize=20, mirrored=True)
    """
    if not isinstance(p, HasMirroredScore):
        raise ValueError(
            f"mirrored_phenotype needs GaussianNoise, got {type(p).__name__}: use"
            " estimators.phenotype"
        )
    if batch.theta is None:
        return p.mirrored_score(q, _split(batch.x), _split(w))
    return if_missing(_some_pairs, _all_pairs, p, q, batch, w)


def _all_pairs(p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    if not isinstance(p, HasMirroredScore):
        raise TypeError(f"{type(p).__name__} has no score of mirrored pairs")
    return p.mirrored_score(q, _split(batch.x), _split(w))


def _some_pairs(p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    """`mirrored` of pairs in which a NaN is anywhere."""
    missing = jnp.any(_split(unmeasured(batch.x, w.size)), axis=0)
    missing = jnp.concatenate([missing, missing])
    x = jnp.where(missing.reshape(-1, *(1,) * (batch.x.ndim - 1)), 0.0, batch.x)
    known = _all_pairs(p, q, batch._replace(x=x), jnp.where(missing, 0.0, w))
    return jax.tree.map(jnp.add, known, mirrored(p, q, batch, jnp.where(missing, w, 0.0)))


def _split(array: Array) -> Array:
    if array.shape[0] % 2:
        raise ValueError(f"pairs need an even population, got {array.shape[0]}")
    return array.reshape(2, -1, *array.shape[1:])


def _against_partner(w: Float[Array, " n"]) -> Float[Array, " n"]:
    """(W1 - W2) for the first partner and (W2 - W1) for the second.

    The mean over N of w s is then that over N/2 pairs of the half difference times the difference
    of scores.
    """
    halves = _split(w)
    return jnp.concatenate([halves[0] - halves[1], halves[1] - halves[0]])
