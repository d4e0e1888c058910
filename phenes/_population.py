"""What is done with a population as a whole: it is realised, and its values are weighed."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phenes._trees import join, rows
from phenes.batch import Batch
from phenes.protocols import HasMirror, HasSampleAll, InputLaw, SearchLaw, Tree, Weighting


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


def draw(q: SearchLaw, key: PRNGKeyArray, n: int, mirrored: bool) -> Tree:
    """The randomness xi of n individuals, in mirrored pairs if asked for."""
    if not mirrored:
        return q.draw(key, n)
    if not isinstance(q, HasMirror):
        raise ValueError(f"mirrored pairs need a Gaussian search law, got {type(q).__name__}")
    half = q.draw(key, n // 2)
    return join(half, q.mirror(half))


def population_of(p: InputLaw, q: SearchLaw, key: PRNGKeyArray, n: int, mirrored: bool) -> Batch:
    """A population with theta and x, without values: what a generation looks like."""
    xi = draw(q, key, n, mirrored)
    theta = jax.vmap(q.push)(xi)
    return Batch(theta=theta, xi=xi, x=realise(p, key, theta), key=key)
