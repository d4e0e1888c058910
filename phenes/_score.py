# pyright: reportUnknownMemberType=false
"""The score of a log-likelihood, in one line of mathematics, and closed forms where laws have them.

Two dispatches, one after the other, find the closed form:

    estimators.phenotype -> marginal_score(p, q)        p has one (HasMarginalScore)? else autodiff
      -> GaussianNoise.marginal_score(q)                 M of p and q; cond_rare: NaN in x?
        -> q.observed_score(w, y, B)                     in the parameters of q's own family

It lives here and not in estimators because `inputs.Repeated` hands its own score on to that of the
pooled law, and inputs must not import estimators.
"""

from collections.abc import Callable
from typing import cast

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from phenes._jax import grad
from phenes.protocols import (
    HasMarginal,
    HasMarginalScore,
    HasScore,
    HasThetaScore,
    InputLaw,
    Q,
    Tree,
)


def score(loglik: Callable[[Q], Float[Array, " n"]], q: Q, w: Float[Array, " n"]) -> Q:
    """1/N sum_i w_i d loglik_i / d psi, shaped like q."""

    def objective(q: Q) -> Array:
        return jnp.mean(w * loglik(q))

    return cast(Q, eqx.filter_grad(objective)(q))


def search_score(q: Q, theta: Tree, w: Float[Array, " n"]) -> Q:
    """The score of log q(theta_i)."""
    if isinstance(q, HasScore):
        return q.score(theta, w)

    def loglik(q: Q) -> Array:
        return jax.vmap(q.log_prob)(theta)

    return score(loglik, q, w)


def marginal_score(p: InputLaw, q: Q, x: Tree, w: Float[Array, " n"]) -> Q:
    """The score of log P(x_i), P the marginal of p under q."""
    if isinstance(p, HasMarginalScore):
        return p.marginal_score(q, x, w)
    if not isinstance(p, HasMarginal):
        raise ValueError(
            f"{type(p).__name__} has no marginal in closed form: use estimators.information_mix or"
            " estimators.exchangeable, which need none"
        )

    def loglik(q: Q) -> Array:
        return jax.vmap(p.marginal(q).log_prob)(x)

    return score(loglik, q, w)


def input_score(p: InputLaw, x: Tree, theta: Tree) -> Tree:
    """d log p_theta(x_i) / d theta for each individual."""
    if isinstance(p, HasThetaScore):
        return p.theta_score(x, theta)
    return jax.vmap(grad(p.log_prob, argnums=1))(x, theta)
