"""The mix with A at theta_i, where the policy acted, and the divergence of it.

By Stein's identity E[Phi D - div Phi | x] = 0 for every smooth matrix Phi(theta, x), D = s_q - s_p.
With Phi = A = J~' B J~, B = (I/s^2 + J~ J~')^-1 and J~ at theta_i (the factor L of the Fisher
information stays at the mean),

    div A = q - A q + J~' B [tr(H_r (I - A))]_r ,     q = sum_rr' B_rr' H_r J~_r' ,

H_r the Hessian of row r. q is half the gradient of tr(B J~ J~') with B held fixed; the traces take
random probes.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phenes import _validate
from phenes.batch import Batch
from phenes.rl.policies import Policy
from phenes.rl.trajectories._linear_algebra import (
    Chosen,
    along,
    choose,
    inner,
    pushed,
    scored,
    solve,
)
from phenes.rl.trajectories.base import ByTrajectory, Trajectories, individually
from phenes.rl.trajectories.mix import STATES
from phenes.search.gaussian import IsotropicGaussian


class CurvedMix(ByTrajectory):
    """The estimator that `curved_mix` makes.

    Parameters
    ----------
    states, probes
        See `curved_mix`.
    """

    states: int = eqx.field(static=True)
    probes: int = eqx.field(static=True)

    def scores(
        self,
        p: Trajectories,
        q: IsotropicGaussian,
        batch: Batch,
        weight: Float[Array, "n t"] | None = None,
    ) -> Float[Array, "n d"]:
        m, s2, policy = q.mean, jnp.exp(2 * q.log_std), p.policy

        def one(theta, x, weight, key):
            s_p = scored(policy, theta, x, weight)
            chosen = choose(policy, m, x, self.states)
            rows = policy.features(theta, chosen.obs, chosen.L)
            root = inner(rows.dot(rows), s2)
            B = solve(root, jnp.eye(root.shape[0], dtype=root.dtype))
            q_plain = _turn(policy, theta, chosen, B)
            q_weighed = (
                q_plain
                if weight is None
                else _turn(policy, theta, chosen, chosen.each_row(weight)[:, None] * B)
            )
            c = _traces(policy, theta, chosen, B, jax.random.split(key, self.probes))
            u = B @ (chosen.up(policy, theta, (theta - m) / s2 - s_p.plain + q_plain) - c)
            return s_p.total - q_weighed + chosen.down(policy, theta, chosen.weighed(u, weight))

        # keys are given for each individual, or one for all
        keys = batch.key if batch.key.ndim else jax.random.split(batch.key, batch.theta.shape[0])
        return individually(one, *along(batch), batch.theta, batch.x, weight, keys)


def _turn(
    policy: Policy, theta: Float[Array, " d"], chosen: Chosen, B: Float[Array, "rows rows"]
) -> Float[Array, " d"]:
    """sum_rr' B_rr' H_r J~_r', the slope of sum_rr' B_rr' J~_r . J~_r' in the first of the two."""
    here = policy.features(theta, chosen.obs, chosen.L)
    return jax.grad(
        lambda theta: jnp.sum(B * policy.features(theta, chosen.obs, chosen.L).dot(here))
    )(theta)


def _traces(
    policy: Policy,
    theta: Float[Array, " d"],
    chosen: Chosen,
    B: Float[Array, "rows rows"],
    keys: PRNGKeyArray,
) -> Array:
    """tr(H_r (I - A)) of each row, without bias: v' H_r (I - A) v with random signs v."""

    def one(key):
        v = jax.random.rademacher(key, theta.shape, theta.dtype)
        rest = v - chosen.down(policy, theta, B @ chosen.up(policy, theta, v))
        bent = jax.jvp(lambda theta: pushed(policy, theta, chosen.obs, rest), (theta,), (v,))[1]
        return jnp.einsum("rkc,rk->rc", chosen.L, bent).reshape(-1)

    return jnp.mean(jax.vmap(one)(keys), axis=0)


def curved_mix(states: int = STATES, probes: int = 1) -> CurvedMix:
    """The mix with A where the policy acted; unbiased, whatever the policy.

    Of all unbiased estimators the one with the smallest variance where episodes are long.

    Parameters
    ----------
    states : int
        So many of a trajectory stand for all of it in A.
    probes : int
        Random directions for the divergence.

    Returns
    -------
    CurvedMix
        An estimator.
    """
    return CurvedMix(_validate.count("states", states), _validate.count("probes", probes))
