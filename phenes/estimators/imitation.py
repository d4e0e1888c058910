# pyright: reportUnknownMemberType=false
"""Imitation: weighted maximum likelihood at the centre of the population, the paper's own proposal.

docs/estimators/biased_imitation.md.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from phenes._score import input_score, score
from phenes.batch import Batch
from phenes.estimators.missing import or_genotype
from phenes.protocols import HasCentre, InputLaw, Q


def biased_imitation(p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    """log p_theta(x_i) at theta = the centre of q: to do what good individuals did. BIASED.

    The paper's proposal for any p (its discussion). As the score at the mean of erratum 17 it
    leaves out that theta varies: for Gaussian noise E g = (1 + C^-1 S) times the gradient of the
    mean, nothing for the spread. Exact for a point population, where it is `phenotype`, and good if
    the noise is large beside the search. Individuals whose x has a NaN have their genotype score.

    Parameters
    ----------
    p : InputLaw
        The input law, with a slope of log p in theta.
    q : SearchLaw
        The search law, with `centre`.
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
        If q has no centre, or log p no slope.

    Examples
    --------
    >>> p = phenes.inputs.GaussianNoise(0.1)
    >>> parts = phenes.weightings.standardise, optax.sgd(0.1)
    >>> strategy = phenes.es(p, phenes.estimators.biased_imitation, *parts, popsize=20)
    """
    if not isinstance(q, HasCentre):
        raise ValueError(
            f"biased_imitation needs a search law with a centre, got {type(q).__name__}: use"
            " estimators.exchangeable"
        )
    if batch.theta is None:
        return _imitation(p, q, batch, w)
    return or_genotype(_imitation, p, q, batch, w)


def _imitation(p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    if not isinstance(q, HasCentre):
        raise TypeError(f"{type(q).__name__} has no centre")
    centre = q.centre()
    slope = input_score(p, batch.x, jnp.broadcast_to(centre[None], (w.size, *centre.shape)))

    def along(q: HasCentre) -> Array:
        def product(one: Array) -> Array:
            return jnp.sum(one * q.centre())

        return jax.vmap(product)(slope)

    return score(along, q, w)
