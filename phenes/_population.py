"""What is done with a population as a whole: it is realised, and its values are weighed."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phenes._trees import rows
from phenes.protocols import HasSampleAll, InputLaw, Tree, Weighting


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
