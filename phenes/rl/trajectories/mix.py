"""The information mix with the whole matrix (docs/estimators/information_mix.md).

g = s_p + A (s_q - s_p), A = J~' (I/s^2 + J~ J~')^-1 J~ at the mean.

Given x, s_q - s_p is minus the slope of the log posterior of theta and has mean 0; so has any
matrix that depends on x alone times it. With A = J~'J~ (I/s^2 + J~'J~)^-1, which is the same by the
push-through identity, nothing of theta is left in g if the policy is linear and its actions are
Gaussian: g is then the exact Rao-Blackwellisation.

`curved_mix` has A at theta_i, where the policy acted, and the divergence of it. By Stein's identity
E[Phi D - div Phi | x] = 0 for every smooth matrix Phi(theta, x), D = s_q - s_p. With Phi = A =
J~' B J~, B = (I/s^2 + J~ J~')^-1 and J~ at theta_i (the factor L of the Fisher information stays at
the mean),

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
    at_mean,
    choose,
    inner,
    pushed,
    scored,
    solve,
)
from phenes.rl.trajectories.base import (
    ByTrajectory,
    LearningByTrajectory,
    Trajectories,
    individually,
)
from phenes.search.gaussian import IsotropicGaussian

STATES = 32
MORE_STATES = 50  # of linearised and curved_mix


class Mix(ByTrajectory):
    """The estimator that `mix` makes.

    Parameters
    ----------
    states : int
        So many of a trajectory stand for all of it in A.
    """

    states: int = eqx.field(static=True)

    def scores(
        self,
        p: Trajectories,
        q: IsotropicGaussian,
        batch: Batch,
        weight: Float[Array, "n t"] | None = None,
    ) -> Float[Array, "n d"]:
        m, s2, policy = q.mean, jnp.exp(2 * q.log_std), p.policy

        def one(theta, x, weight):
            s_p = scored(policy, theta, x, weight)
            chosen = choose(policy, m, x, self.states)
            rows = policy.features(m, chosen.obs, chosen.L)
            u = solve(inner(rows.dot(rows), s2), chosen.up(policy, m, (theta - m) / s2 - s_p.plain))
            return s_p.total + chosen.down(policy, m, chosen.weighed(u, weight))

        return individually(one, batch, batch.theta, batch.x, weight)


def mix(states: int = STATES) -> Mix:
    """The information mix with the whole matrix A; unbiased, whatever the policy.

    Far from linear, s_p has more variance than its model J~'J~: on long episodes the mix may then
    be worse than s_q (see `guarded_mix`).

    Parameters
    ----------
    states : int
        So many of a trajectory stand for all of it in A.

    Returns
    -------
    Mix
        An estimator.
    """
    return Mix(_validate.count("states", states))


class GuardedMix(LearningByTrajectory):
    """The estimator that `guarded_mix` makes.

    Parameters
    ----------
    states, memory
        See `guarded_mix`.
    excess : array, optional
        Running mean of v, one for each parameter array.
    mass : array, shape (), optional
        How much of it is data.
    """

    states: int = eqx.field(static=True)
    memory: float = eqx.field(static=True)
    excess: Float[Array, " arrays"] | None = None  # running mean of v
    mass: Float[Array, ""] | None = None  # total weight of the data in the running mean

    def start(self, p: Trajectories, q: IsotropicGaussian, batch: Batch) -> "GuardedMix":
        zero = jnp.zeros(int(p.policy.layers().max()) + 1, q.mean.dtype)
        return GuardedMix(self.states, self.memory, zero, zero[0])

    def observe(self, p: Trajectories, q: IsotropicGaussian, batch: Batch) -> "GuardedMix":
        """Learn how far s_p is from its linear model."""
        assert self.excess is not None  # since `start`
        assert self.mass is not None

        def one(theta, x):
            return (
                scored(p.policy, theta, x, None).total
                - at_mean(p.policy, q.mean, theta, x, None, None).total
            )

        layers = jnp.asarray(p.policy.layers())
        square = jnp.mean(individually(one, batch, batch.theta, batch.x) ** 2, axis=0)
        square = jnp.where(jnp.isfinite(square), square, 0.0)
        v = jax.ops.segment_sum(square, layers, self.excess.size) / jnp.bincount(
            layers, length=self.excess.size
        ).astype(square.dtype)
        keep = self.memory
        return GuardedMix(
            self.states,
            self.memory,
            keep * self.excess + (1 - keep) * v,
            keep * self.mass + (1 - keep),
        )

    def scores(
        self,
        p: Trajectories,
        q: IsotropicGaussian,
        batch: Batch,
        weight: Float[Array, "n t"] | None = None,
    ) -> Float[Array, "n d"]:
        if self.excess is None or self.mass is None:
            raise ValueError(
                "guarded_mix learns from past generations: call start and observe first, or leave"
                " both to phenes.es"
            )
        m, s2, policy = q.mean, jnp.exp(2 * q.log_std), p.policy
        known = self.mass > 0
        v = self.excess / jnp.where(known, self.mass, 1.0)
        by_array = jnp.where(known, 1 / (1 / s2 + v), 0.0)
        Q = by_array[jnp.asarray(policy.layers())]

        def one(theta, x, weight):
            s_p = scored(policy, theta, x, weight)
            D = (theta - m) / s2 - s_p.plain
            chosen = choose(policy, m, x, self.states)
            rows = policy.features(m, chosen.obs, chosen.L)
            # A = I - Q/s^2 + Q J~' (I + J~ Q J~')^-1 J~ Q / s^2: the linear model J~'J~ with v more
            # on the diagonal
            u = solve(
                inner(rows.dot(rows, by_array), jnp.ones_like(s2)), chosen.up(policy, m, Q * D)
            )
            return (
                s_p.total
                + s_p.mean_weight * (1 - Q / s2) * D
                + Q / s2 * chosen.down(policy, m, chosen.weighed(u, weight))
            )

        return individually(one, batch, batch.theta, batch.x, weight)


def guarded_mix(states: int = STATES, memory: float = 0.9) -> GuardedMix:
    """`mix` with what s_p varies beyond its linear model counted as noise.

    v = mean square of (J_i - J_m)'e for each parameter array is learnt from past generations, so
    that the mix stays unbiased; before the first it is the genotype score.

    Parameters
    ----------
    states : int
        So many of a trajectory stand for all of it in A.
    memory : float
        The share of v that is kept from generation to generation.

    Returns
    -------
    GuardedMix
        An estimator that learns.
    """
    return GuardedMix(_validate.count("states", states), memory)


class Linearised(ByTrajectory):
    """The estimator that `linearised` makes.

    Parameters
    ----------
    states, every_step
        See `linearised`.
    """

    states: int = eqx.field(static=True)
    every_step: bool = eqx.field(static=True)

    def scores(
        self,
        p: Trajectories,
        q: IsotropicGaussian,
        batch: Batch,
        weight: Float[Array, "n t"] | None = None,
    ) -> Float[Array, "n d"]:
        m, s2, policy = q.mean, jnp.exp(2 * q.log_std), p.policy

        def one(theta, x, weight):
            chosen = choose(policy, m, x, self.states)
            s_m = at_mean(policy, m, theta, x, weight, None if self.every_step else chosen.at)
            rows = policy.features(m, chosen.obs, chosen.L)
            u = solve(inner(rows.dot(rows), s2), chosen.up(policy, m, (theta - m) / s2 - s_m.plain))
            return s_m.total + chosen.down(policy, m, chosen.weighed(u, weight))

        return individually(one, batch, batch.theta, batch.x, weight)


def linearised(states: int = MORE_STATES, every_step: bool = True) -> Linearised:
    """The mix for a policy that is linear in theta; BIASED, and of the smallest variance.

    The bias is little where the policy is nearly linear within the spread of the search.

    Parameters
    ----------
    states : int
        So many of a trajectory stand for all of it in A.
    every_step : bool
        The score takes all steps; else it takes the same few, which leaves g no direction in which
        A cannot damp it: for long episodes.

    Returns
    -------
    Linearised
        An estimator.
    """
    return Linearised(_validate.count("states", states), every_step)


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
        return individually(one, batch, batch.theta, batch.x, weight, keys)


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


def curved_mix(states: int = MORE_STATES, probes: int = 1) -> CurvedMix:
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
