"""The one record that flows: a population, what became of it, and what it was worth."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray


class Batch(NamedTuple):
    """N individuals. Fields are filled in from left to right as the generation proceeds.

    theta: intended [N, ...]; x: realised [N, ...], NaN where not measured; f: values [N] or [N, R],
    maximised; xi: the randomness that q pushed to theta; key: randomness for estimators that draw.
    """

    theta: Any
    x: Any = None
    f: Any = None
    xi: Any = None
    key: Any = None


def weigh(weighting, f: Float[Array, "n *r"]) -> Float[Array, " n"]:
    """w[N]. Of R evaluations at one theta, each is weighed in the whole population and then
    averaged (docs/parts/inputs.md).
    """
    return jnp.mean(weighting(f.reshape(-1)).reshape(f.shape[0], -1), axis=1)


def realise(p: Any, key: PRNGKeyArray, theta: Any) -> Any:
    """x_i ~ p_theta_i for a population. The random numbers of individual i do not depend on the
    size of the population.
    """
    if hasattr(p, "sample_all"):
        return p.sample_all(key, theta)
    n = jax.tree.leaves(theta)[0].shape[0]
    return jax.vmap(p.sample)(jax.random.split(key, n), theta)
