"""The estimators of the paper: one choice of log-likelihood each.

All share one signature, `estimator(p, q, batch, w) -> g`, g shaped like q: the estimate of d
E[W(f(x))] / d psi.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from phenes import _validate
from phenes._score import input_score, marginal_score, score, search_score
from phenes.batch import Batch

Q = TypeVar("Q", bound=Any)
Estimator = Callable[[Any, Any, Batch, Float[Array, " n"]], Any]


def genotype(p: Any, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    """log q_psi(theta_i): the ordinary evolution strategy, which ignores x (eq.
    genotype-gradient-estimator). Unbiased.
    """
    return search_score(q, batch.theta, w)


def phenotype(p: Any, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    """log P_psi(x_i), P = marginal of p under q: the Rao-Blackwellised genotype estimator (eq.
    full-gradient-estimator).

    Unbiased, with covariance at most that of `genotype` in the Loewner order.
    """
    return marginal_score(p, q, batch.x, w)


def reparameterised(p: Any, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
    """log p_theta(x_i) through theta = push_psi(xi_i), at theta_i and never at the mean (errata
    16-19).

    Unbiased where log p is smooth in theta. Better than `genotype` only if x says less about theta
    than q does.
    """
    by_theta = input_score(p, batch.x, batch.theta)

    def inner(q):
        pushed = jax.vmap(q.push)(batch.xi)
        products = jax.tree.map(lambda s, t: s * t, by_theta, pushed)
        each = [jnp.sum(leaf.reshape(w.size, -1), axis=1) for leaf in jax.tree.leaves(products)]
        return jnp.sum(jnp.stack(each), axis=0)

    return score(inner, q, w)


def rao_blackwellise(estimator: Estimator, draws: int) -> Estimator:
    """Any estimator averaged over `draws` fresh draws of theta_i from its posterior given x_i.

    Exactly as unbiased as the estimator it is given, for individuals drawn independently (erratum
    15: not for mirrored pairs).
    """
    draws = _validate.count("draws", draws)

    def averaged(p: Any, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
        def once(key):
            keys = jax.random.split(key, w.size)
            theta = jax.vmap(lambda k, x: p.posterior(q, x).sample(k))(keys, batch.x)
            # estimators that look at xi see the one that would have led to this theta
            xi = jax.vmap(q.pull)(theta) if hasattr(q, "pull") else None
            return estimator(p, q, batch._replace(theta=theta, xi=xi), w)

        each = eqx.filter_vmap(once)(jax.random.split(batch.key, draws))
        return jax.tree.map(lambda leaf: jnp.mean(leaf, axis=0), each)

    return averaged
