"""Two-point estimators. The first half of the population and the second half are the partners
(errata 13-15).

For mirrored pairs (`es(..., mirrored=True)`) theta_1 = m + L z and theta_2 = m - L z.
"""

from typing import Any, TypeVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from phenes._score import marginal_score, search_score
from phenes.batch import Batch

Q = TypeVar("Q", bound=Any)


def two_point(p: Any, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    """1/2 (W1 - W2)(s(theta_1) - s(theta_2)), averaged over independent pairs. Unbiased (erratum
    13: no sigma).
    """
    return search_score(q, batch.theta, _against_partner(w))


def two_point_phenotype(p: Any, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    """1/2 (W1 - W2)(s(x_1) - s(x_2)): `two_point` Rao-Blackwellised, for independent pairs."""
    return marginal_score(p, q, batch.x, _against_partner(w))


def mirrored(p: Any, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    """1/4 (W1 - W2)(s(theta_1) - s(theta_2)) + 1/4 (W1 + W2)(s(theta_1) + s(theta_2)) over mirrored
    pairs. Unbiased.

    The first term is the antithetic estimate of the mean's gradient (the second vanishes there),
    the second that of the spread's.
    """
    halves = _split(w)
    odd, even = 0.5 * (halves[0] - halves[1]), 0.5 * (halves[0] + halves[1])
    return search_score(q, batch.theta, jnp.concatenate([even + odd, even - odd]))


def mirrored_phenotype(p: Any, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    """1/2 (W1 - W2)(S + C/2)^-1 (x1 - x2)/2: `mirrored` Rao-Blackwellised over the joint posterior
    of z (erratum 15).

    Unbiased, with covariance at most that of `mirrored`. With centred weights `phenotype` on the
    same pairs is usually as good; this one wins where W has a baseline that nothing controls
    (docs/estimators/pairs.md).
    """
    if not hasattr(p, "mirrored_score"):
        raise ValueError(
            f"mirrored_phenotype needs GaussianNoise, got {type(p).__name__}: use"
            " estimators.phenotype"
        )
    return p.mirrored_score(q, _split(batch.x), _split(w))


def _split(array: Array) -> Array:
    if array.shape[0] % 2:
        raise ValueError(f"pairs need an even population, got {array.shape[0]}")
    return array.reshape(2, -1, *array.shape[1:])


def _against_partner(w: Float[Array, " n"]) -> Float[Array, " n"]:
    """(W1 - W2) for the first partner and (W2 - W1) for the second: the mean over N of w s is then
    that over N/2 pairs of the half difference times the difference of scores."""
    halves = _split(w)
    return jnp.concatenate([halves[0] - halves[1], halves[1] - halves[0]])
