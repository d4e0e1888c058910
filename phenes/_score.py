"""The score of a log-likelihood, in one line of mathematics, and the faster closed forms where a
law has them.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Q = TypeVar("Q", bound=Any)


def score(loglik: Callable[[Q], Float[Array, " n"]], q: Q, w: Float[Array, " n"]) -> Q:
    """1/N sum_i w_i d loglik_i / d psi, shaped like q."""
    return eqx.filter_grad(lambda q: jnp.mean(w * loglik(q)))(q)


def search_score(q: Q, theta: Any, w: Float[Array, " n"]) -> Q:
    """The score of log q(theta_i)."""
    closed = getattr(q, "score", None)
    return closed(theta, w) if closed else score(lambda q: jax.vmap(q.log_prob)(theta), q, w)


def marginal_score(p: Any, q: Q, x: Any, w: Float[Array, " n"]) -> Q:
    """The score of log P(x_i), P the marginal of p under q."""
    closed = getattr(p, "marginal_score", None)
    if closed:
        return closed(q, x, w)
    if not hasattr(p, "marginal"):
        raise ValueError(
            f"{type(p).__name__} has no marginal in closed form: use estimators.information_mix or"
            " estimators.exchangeable, which need none"
        )
    return score(lambda q: jax.vmap(p.marginal(q).log_prob)(x), q, w)


def input_score(p: Any, x: Any, theta: Any) -> Any:
    """d log p_theta(x_i) / d theta for each individual."""
    closed = getattr(p, "theta_score", None)
    return closed(x, theta) if closed else jax.vmap(jax.grad(p.log_prob, argnums=1))(x, theta)
