"""Exchangeable Rao-Blackwellisation (docs/estimators/exchangeable.md): only log p is needed, not
its gradient, and no evaluation of f.

Hide the true theta_i among K auxiliaries drawn from r(. | x_i) and take the conditional mean of the
score given the unordered set:

    t_i = sum_j w_j s_q(a_j) ,   w_j prop. to q(a_j) p_{a_j}(x_i) / r(a_j | x_i) ,   a_0 = theta_i.

Exactly unbiased for every K and every r; the variance falls from genotype (K = 0) to phenotype (K =
infinity).
"""

from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, PRNGKeyArray

from phenes import _validate
from phenes._score import score, search_score
from phenes.batch import Batch
from phenes.covariance import Dense
from phenes.estimators.scores import Estimator
from phenes.laws.normal import Normal

Q = TypeVar("Q", bound=Any)


class GaussianProposal(eqx.Module):
    """r(a | x) = N(centre + gain x, cov): a guess at the posterior, learnt from past pairs (theta,
    x).
    """

    centre: Float[Array, " d"]
    gain: Float[Array, "d k"]
    cov: Dense

    def sample(self, key: PRNGKeyArray, x: Float[Array, " k"]) -> Float[Array, " d"]:
        return Normal(self.centre + self.gain @ x, self.cov).sample(key)

    def log_prob(self, a: Float[Array, " d"], x: Float[Array, " k"]) -> Float[Array, ""]:
        return Normal(self.centre + self.gain @ x, self.cov).log_prob(a)


def fit_proposal(
    theta: Float[Array, "n d"], x: Float[Array, "n k"], widen: float = 1.15
) -> GaussianProposal:
    """Least squares of theta on x, from pairs of *past* generations; the spread is widened since
    light tails lose.
    """
    dx, dt = x - jnp.mean(x, axis=0)[None], theta - jnp.mean(theta, axis=0)[None]
    second = dx.T @ dx / x.shape[0]
    ridge = 1e-6 * jnp.trace(second) / x.shape[1] * jnp.eye(x.shape[1], dtype=x.dtype)
    gain = jnp.linalg.solve(second + ridge, dx.T @ dt / x.shape[0]).T
    rest = dt - dx @ gain.T
    cov = rest.T @ rest / max(x.shape[0] - x.shape[1] - 1, 1)
    floor = 1e-9 * jnp.trace(cov) / cov.shape[0] * jnp.eye(cov.shape[0], dtype=x.dtype)
    return GaussianProposal(
        jnp.mean(theta, axis=0) - gain @ jnp.mean(x, axis=0), gain, Dense(widen * (cov + floor))
    )


def exchangeable(auxiliaries: int, proposal: Any = None) -> Estimator:
    """With `auxiliaries` draws for each individual, from q or from `proposal` (`sample(key, x)`,
    `log_prob(a, x)`, built without looking at the current theta). Draws from q serve low dimensions
    or strong noise; else use a proposal or `exchangeable_coordinates`."""
    auxiliaries = _validate.count("auxiliaries", auxiliaries)

    def estimator(p: Any, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
        def candidates(key, theta, x):
            if proposal is None and hasattr(q, "resample"):
                return _with_own(theta, q.resample(key, theta, auxiliaries))
            if proposal is None:
                return _with_own(theta, jax.vmap(q.push)(q.draw(key, auxiliaries)))
            return _with_own(
                theta, jax.vmap(lambda k: proposal.sample(k, x))(jax.random.split(key, auxiliaries))
            )

        def log_weight(a, x):
            log_p = p.log_prob(x, a)
            return log_p if proposal is None else log_p + q.log_prob(a) - proposal.log_prob(a, x)

        a = jax.vmap(candidates)(_keys(batch, w), batch.theta, batch.x)
        logits = jax.vmap(lambda a, x: jax.vmap(lambda one: log_weight(one, x))(a))(a, batch.x)
        share = w[:, None] * jax.nn.softmax(logits, axis=1)
        # one population of n (auxiliaries + 1), so that the closed form of q's score serves here
        # too
        together = jax.tree.map(lambda leaf: leaf.reshape(share.size, *leaf.shape[2:]), a)
        return search_score(q, together, share.reshape(-1) * share.shape[1])

    return estimator


def exchangeable_coordinates(auxiliaries: int) -> Estimator:
    """Coordinate by coordinate, for laws and search families whose coordinates are independent: 60
    to 100 auxiliaries are then enough in any dimension, where the joint form needs exponentially
    many."""
    auxiliaries = _validate.count("auxiliaries", auxiliaries)

    def estimator(p: Any, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
        for name, law in (("p", p), ("q", q)):
            if not hasattr(law, "coordinate_log_prob"):
                raise ValueError(
                    f"{name} must have independent coordinates, got {type(law).__name__}: use"
                    " estimators.exchangeable"
                )

        def candidates(key, theta):
            return _with_own(theta, jax.vmap(q.push)(q.draw(key, auxiliaries)))

        a = jax.vmap(candidates)(_keys(batch, w), batch.theta)
        logits = jax.vmap(lambda a, x: jax.vmap(lambda one: p.coordinate_log_prob(x, one))(a))(
            a, batch.x
        )
        share = lax.stop_gradient(jax.nn.softmax(logits, axis=1))
        return score(
            lambda q: jnp.sum(share * jax.vmap(jax.vmap(q.coordinate_log_prob))(a), axis=(1, 2)),
            q,
            w,
        )

    return estimator


def _keys(batch: Batch, w: Array) -> PRNGKeyArray:
    if batch.key is None:
        raise ValueError("the batch must carry a key for estimators that draw, got None")
    return jax.random.split(batch.key, w.size)


def _with_own(theta: Any, drawn: Any) -> Any:
    """The true theta first: without it the estimate would be biased."""
    return jax.tree.map(lambda own, rest: jnp.concatenate([own[None], rest]), theta, drawn)
