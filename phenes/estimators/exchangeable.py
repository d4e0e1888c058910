# pyright: reportUnknownMemberType=false
"""Exchangeable Rao-Blackwellisation (docs/estimators/exchangeable.md): only log p is needed.

Neither its gradient nor an evaluation of f. Hide the true theta_i among K auxiliaries drawn from
r(. | x_i) and take the conditional mean of the score given the unordered set:

    t_i = sum_j w_j s_q(a_j) ,   w_j prop. to q(a_j) p_{a_j}(x_i) / r(a_j | x_i) ,   a_0 = theta_i.

Exactly unbiased for every K and every r; the variance falls from genotype (K = 0) to phenotype
(K = infinity).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from phenes import _validate
from phenes._jax import solve
from phenes._score import score, search_score
from phenes.batch import Batch
from phenes.covariance import Dense
from phenes.estimators.missing import unmeasured
from phenes.estimators.scores import batch_key
from phenes.laws.normal import Normal
from phenes.protocols import (
    Estimator,
    HasCoordinateNoise,
    HasCoordinates,
    HasResample,
    InputLaw,
    Proposal,
    Q,
    Tree,
)


class GaussianProposal(eqx.Module):
    """r(a | x) = N(centre + gain x, cov): a guess at the posterior, from past pairs (theta, x).

    Parameters
    ----------
    centre : array, shape [d]
        Mean of a at x = 0.
    gain : array, shape [d, k]
        How a follows x.
    cov : Dense, shape [d, d]
        Covariance of a given x.

    Examples
    --------
    >>> x = jnp.arange(12.0).reshape(6, 2) ** 0.5
    >>> phenes.estimators.fit_proposal(theta=x**2, x=x).gain.shape
    (2, 2)
    """

    centre: Float[Array, " d"]
    gain: Float[Array, "d k"]
    cov: Dense

    def sample(self, key: PRNGKeyArray, x: Float[Array, " k"]) -> Float[Array, " d"]:
        """One auxiliary for x."""
        return Normal(self.centre + self.gain @ x, self.cov).sample(key)

    def log_prob(self, a: Float[Array, " d"], x: Float[Array, " k"]) -> Float[Array, ""]:
        """log r(a | x)."""
        return Normal(self.centre + self.gain @ x, self.cov).log_prob(a)


def fit_proposal(
    theta: Float[Array, "n d"], x: Float[Array, "n k"], widen: float = 1.15
) -> GaussianProposal:
    """Least squares of theta on x, from pairs of *past* generations.

    Parameters
    ----------
    theta : array, shape [N, d]
        What was intended.
    x : array, shape [N, k]
        What was realised.
    widen : float, default 1.15
        Factor on the covariance of the residuals, since light tails lose.

    Returns
    -------
    GaussianProposal
        The proposal for `exchangeable`.

    Examples
    --------
    >>> x = jnp.arange(12.0).reshape(6, 2) ** 0.5
    >>> proposal = phenes.estimators.fit_proposal(theta=x**2, x=x)
    """
    dx, dt = x - jnp.mean(x, axis=0)[None], theta - jnp.mean(theta, axis=0)[None]
    second = dx.T @ dx / x.shape[0]
    ridge = 1e-6 * jnp.trace(second) / x.shape[1] * jnp.eye(x.shape[1], dtype=x.dtype)
    gain = solve(second + ridge, dx.T @ dt / x.shape[0]).T
    rest = dt - dx @ gain.T
    cov = rest.T @ rest / max(x.shape[0] - x.shape[1] - 1, 1)
    floor = 1e-9 * jnp.trace(cov) / cov.shape[0] * jnp.eye(cov.shape[0], dtype=x.dtype)
    return GaussianProposal(
        jnp.mean(theta, axis=0) - gain @ jnp.mean(x, axis=0), gain, Dense(widen * (cov + floor))
    )


def exchangeable(auxiliaries: int, proposal: Proposal | None = None) -> Estimator:
    """The conditional mean of the score given the true theta and auxiliaries, unordered.

    Parameters
    ----------
    auxiliaries : int
        Draws for each individual.
    proposal : Proposal, optional
        Where they are drawn from (`sample(key, x)`, `log_prob(a, x)`), built without looking at the
        current theta; q unless given. Draws from q serve low dimensions or strong noise; else use a
        proposal or `exchangeable_coordinates`.

    Returns
    -------
    Estimator
        Unbiased for every number of auxiliaries.

    Raises
    ------
    ValueError
        If auxiliaries is no positive integer; when used, if the batch carries no key.

    Examples
    --------
    >>> p = phenes.inputs.GaussianNoise(0.1)
    >>> parts = phenes.weightings.standardise, optax.sgd(0.1)
    >>> strategy = phenes.es(p, phenes.estimators.exchangeable(4), *parts, popsize=20)
    """
    _validate.count("auxiliaries", auxiliaries)

    def estimator(p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
        def drawn(key: PRNGKeyArray, theta: Tree, x: Tree) -> Tree:
            if proposal is not None:
                keys = jax.random.split(key, auxiliaries)
                return jax.vmap(proposal.sample, in_axes=(0, None))(keys, x)
            if isinstance(q, HasResample):
                return q.resample(key, theta, auxiliaries)
            return jax.vmap(q.push)(q.draw(key, auxiliaries))

        def candidates(key: PRNGKeyArray, theta: Tree, x: Tree) -> Tree:
            return _with_own(theta, drawn(key, theta, x))

        def log_weight(a: Tree, x: Tree) -> Array:
            log_p = p.log_prob(x, a)
            return log_p if proposal is None else log_p + q.log_prob(a) - proposal.log_prob(a, x)

        keys = jax.random.split(batch_key(batch), w.size)
        a = jax.vmap(candidates)(keys, batch.theta, batch.x)
        logits = jax.vmap(jax.vmap(log_weight, in_axes=(0, None)))(a, batch.x)
        logits = _own_where(unmeasured(batch.x, w.size), logits)
        share = w[:, None] * jax.nn.softmax(logits, axis=1)

        def together(leaf: Array) -> Array:
            return leaf.reshape(share.size, *leaf.shape[2:])

        # one population of n (auxiliaries + 1), so that the closed form of q's score serves here
        # too
        return search_score(q, jax.tree.map(together, a), share.reshape(-1) * share.shape[1])

    return estimator


def exchangeable_coordinates(auxiliaries: int) -> Estimator:
    """`exchangeable` coordinate by coordinate, for laws and search of independent coordinates.

    60 to 100 auxiliaries are then enough in any dimension, where the joint form needs exponentially
    many.

    Parameters
    ----------
    auxiliaries : int
        Draws for each individual.

    Returns
    -------
    Estimator
        Unbiased for every number of auxiliaries.

    Raises
    ------
    ValueError
        If auxiliaries is no positive integer; when used, if coordinates are not independent.

    Examples
    --------
    >>> p = phenes.inputs.GaussianNoise(0.1)
    >>> parts = phenes.weightings.standardise, optax.sgd(0.1)
    >>> strategy = phenes.es(p, phenes.estimators.exchangeable_coordinates(60), *parts, popsize=20)
    """
    _validate.count("auxiliaries", auxiliaries)

    def estimator(p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
        if not isinstance(p, HasCoordinateNoise):
            raise _dependent("p", p)
        if not isinstance(q, HasCoordinates):
            raise _dependent("q", q)

        def candidates(key: PRNGKeyArray, theta: Tree) -> Tree:
            return _with_own(theta, jax.vmap(q.push)(q.draw(key, auxiliaries)))

        a = jax.vmap(candidates)(jax.random.split(batch_key(batch), w.size), batch.theta)
        logits = jax.vmap(jax.vmap(p.coordinate_log_prob, in_axes=(None, 0)))(batch.x, a)
        logits = _own_where(jnp.isnan(batch.x), logits)
        share = lax.stop_gradient(jax.nn.softmax(logits, axis=1))

        def loglik(q: HasCoordinates) -> Array:
            each = jax.vmap(jax.vmap(q.coordinate_log_prob))(a)
            return jnp.sum(share * each, axis=(1, 2))

        return score(loglik, q, w)

    return estimator


def _dependent(name: str, law: object) -> ValueError:
    return ValueError(
        f"{name} must have independent coordinates, got {type(law).__name__}: use"
        " estimators.exchangeable"
    )


def _own_where(
    missing: Bool[Array, "n *d"], logits: Float[Array, "n k *d"]
) -> Float[Array, "n k *d"]:
    """Nothing but theta is known where x was not measured: no auxiliary has a share there."""
    first = jnp.arange(logits.shape[1]) == 0
    own = jnp.where(first, 0.0, -jnp.inf).reshape(1, -1, *(1,) * (logits.ndim - 2))
    return jnp.where(jnp.expand_dims(missing, 1), own, logits)


def _with_own(theta: Tree, drawn: Tree) -> Tree:
    """The true theta first: without it the estimate would be biased."""

    def first(own: Array, rest: Array) -> Array:
        return jnp.concatenate([own[None], rest])

    return jax.tree.map(first, theta, drawn)
