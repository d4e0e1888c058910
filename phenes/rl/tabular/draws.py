"""Populations of Dirichlet policies, drawn in one piece.

`Dirichlet.push` has to be smooth in alpha and pays for it; estimators that do not differentiate it
get the same law here, and sooner. Marsaglia and Tsang's rejection for Gamma(alpha + 1), with
everybody proposing until the last one is accepted, then the power of a uniform.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, PRNGKeyArray

from phenes.batch import Batch
from phenes.strategy import Strategy, generation_keys


def log_gamma(key: PRNGKeyArray, alpha: Float[Array, "*s"], n: int) -> Float[Array, "n *s"]:
    """Logarithms of Gamma(alpha) variates, [n, ...], in single precision: below alpha = .01 the
    variates themselves underflow.
    """
    shape = (n, *alpha.shape)
    small = alpha.astype(jnp.float32)[None]
    d = small + 2 / 3
    c = 1 / jnp.sqrt(9 * d)

    def propose(carry):
        t, log_v, waiting = carry
        normal, uniform = jax.random.split(jax.random.fold_in(key, t))
        x = jax.random.normal(normal, shape, jnp.float32)
        root = 1 + c * x
        new = 3 * jnp.log(jnp.maximum(root, jnp.finfo(jnp.float32).tiny))
        log_u = jnp.log1p(-jax.random.uniform(uniform, shape, jnp.float32))
        fits = (root > 0) & (log_u < 0.5 * x * x + d * (1 - jnp.exp(new) + new))
        return t + 1, jnp.where(waiting & fits, new, log_v), waiting & ~fits

    start = (jnp.int32(1), jnp.zeros(shape, jnp.float32), jnp.ones(shape, bool))
    log_v = lax.while_loop(lambda carry: jnp.any(carry[2]), propose, start)[1]
    log_u = jnp.log1p(-jax.random.uniform(jax.random.fold_in(key, 0), shape, jnp.float32))
    return jnp.log(d) + log_v + log_u / small


def log_dirichlet(key: PRNGKeyArray, alpha: Float[Array, "*s k"], n: int) -> Float[Array, "n *s k"]:
    """Log-probabilities of n policies."""
    return jax.nn.log_softmax(log_gamma(key, alpha, n).astype(alpha.dtype), axis=-1)


def drawn_together(strategy: Strategy, popsize: int) -> Strategy:
    """The strategy with theta from `log_dirichlet`. For estimators that do not look at xi."""

    def ask(key: PRNGKeyArray, state: Any) -> Batch:
        keys = generation_keys(key, state.generation)
        return Batch(theta=log_dirichlet(keys.theta, state.q.alpha, popsize), key=keys.estimator)

    return strategy._replace(ask=ask)
