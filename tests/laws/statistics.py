"""Monte Carlo with its standard error. Keys are fixed; a test asks whether a difference is within
so many standard errors.
"""

import functools
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from phenes._population import realise
from phenes.batch import Batch
from tests import tiers

SIGMAS = 5.0  # several thousand comparisons are made: one in 1.7 million falls outside by chance
CHUNK = 1000  # individuals
# `make laws`: every pair, and up to a million individuals each (pairs.chunks)
WHOLE = tiers.CHOSEN == "laws"
CHUNKS = 1000 if WHOLE else 50
MANY = max(CHUNKS, 200)  # enough to see a wrong formula fail


# compilers would take most of the time of these tests: only what runs for a million individuals is
# optimised, and that a little
ONCE = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}
often = functools.partial(
    jax.jit,
    compiler_options={
        "xla_backend_optimization_level": int(WHOLE),
        "xla_cpu_use_fusion_emitters": False,
    },
)


def once(function):
    return eqx.filter_jit(lambda *args: function(*args), compiler_options=ONCE)


class Estimate(NamedTuple):
    mean: np.ndarray
    se: np.ndarray


def population(q, p, key, n, mirrored=False):
    for_xi, for_x, for_estimator = jax.random.split(key, 3)
    if mirrored:
        half = q.draw(for_xi, n // 2)
        xi = jnp.concatenate([half, -half])
    else:
        xi = q.draw(for_xi, n)
    theta = jax.vmap(q.push)(xi)
    return Batch(theta=theta, x=realise(p, for_x, theta), xi=xi, key=for_estimator)


def chunks_of(function, key, chunks=CHUNKS):
    """`function(key)` on independent chunks: its arrays, stacked."""
    values = often(lambda keys: jax.lax.map(function, keys))(jax.random.split(key, chunks))
    return jax.tree.map(np.asarray, values)


def estimate(values):
    """Mean and standard error over chunks."""
    return Estimate(values.mean(0), values.std(0, ddof=1) / np.sqrt(values.shape[0]))


def over_chunks(function, key, chunks=CHUNKS):
    return estimate(chunks_of(function, key, chunks))


def flat(g):
    return ravel_pytree(g)[0]


def assert_within(estimate, exact, sigmas=SIGMAS):
    """|mean - exact| within so many standard errors (and rounding, where the standard error is
    0).
    """
    exact = np.asarray(exact)
    slack = 1e-9 * np.maximum(1.0, np.abs(exact))
    z = np.abs(estimate.mean - exact) / (estimate.se + slack / sigmas)
    worst = np.unravel_index(np.argmax(z), z.shape)
    assert z.max() <= sigmas, (
        f"{z.max():.1f} standard errors off at {worst}: {estimate.mean[worst]} +-"
        f" {estimate.se[worst]}, exact {exact[worst]}"
    )
