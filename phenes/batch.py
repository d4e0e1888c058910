"""The one record that flows: a population, what became of it, and what it was worth."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phenes._trees import rows
from phenes.protocols import HasSampleAll, InputLaw, Tree, Weighting


class Batch(NamedTuple):
    """N individuals; fields are filled in from left to right as the generation proceeds.

    Parameters
    ----------
    theta : tree of arrays, shape [N, ...]
        What was intended.
    x : tree of arrays, shape [N, ...] or [N, R, ...], optional
        What was realised, NaN where not measured.
    f : array, shape [N] or [N, R], optional
        Values, maximised.
    xi : tree of arrays, shape [N, ...], optional
        The randomness that q pushed to theta.
    key : key, optional
        Randomness for estimators that draw.

    Examples
    --------
    >>> phenes.Batch(theta=jnp.zeros((10, 3)))._replace(f=jnp.ones(10)).f.shape
    (10,)
    """

    theta: Tree
    x: Tree = None
    f: Tree = None
    xi: Tree = None
    key: Tree = None


def weigh(weighting: Weighting, f: Float[Array, "n *r"]) -> Float[Array, " n"]:
    """w[N]; of R evaluations at one theta, each is weighed among all and then averaged.

    docs/parts/inputs.md.
    """
    weights = weighting(f.reshape(-1))
    return jnp.mean(weights.reshape(f.shape[0], -1), axis=1)


def realise(p: InputLaw, key: PRNGKeyArray, theta: Tree) -> Tree:
    """x_i ~ p_theta_i; the randomness of individual i does not depend on the number of rows."""
    if isinstance(p, HasSampleAll):
        return p.sample_all(key, theta)
    return jax.vmap(p.sample)(jax.random.split(key, rows(theta)), theta)
