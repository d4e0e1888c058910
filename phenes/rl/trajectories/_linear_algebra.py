"""What estimators on trajectories are made of, for one individual.

Scores at theta and at the mean, rows of the Jacobian, the matrix A.

e_t = d log pi / d output at step t, J the Jacobian of the output with respect to theta, J~ = L'J
with L L' the Fisher information of the action, always taken at the mean m of the search, so that it
depends on x alone. A few states are enough for A.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from phenes.rl.policies import Policy
from phenes.rl.rollouts.trajectory import Trajectory


class States(NamedTuple):
    """Steps of a trajectory that stand for all of them.

    scale: root of how many steps each stands for, 0 where there are too few.
    """

    index: Int[Array, " r"]
    scale: Float[Array, " r"]


def states(x: Trajectory, most: int, dtype) -> States:
    """Evenly spread over the steps that were taken; all of them if they are at most `most`."""
    most = min(most, x.mask.shape[0])
    length = jnp.sum(x.mask)
    row = jnp.arange(most)
    every = jnp.maximum(length, most).astype(dtype) / most
    # midpoints of intervals of equal length, so that the first and last steps are represented as
    # well as the others
    index = jnp.where(
        length > most, jnp.floor((row.astype(dtype) + 0.5) * every).astype(row.dtype), row
    )
    return States(index, jnp.where(row < length, jnp.sqrt(every), 0.0))


class Score(NamedTuple):
    """sum_t w_t J_t'e_t (total) and sum_t J_t'e_t (plain).

    mean_weight: of the steps that were taken.
    """

    total: Float[Array, " d"]
    plain: Float[Array, " d"]
    mean_weight: Float[Array, ""]


def scored(
    policy: Policy, theta: Float[Array, " d"], x: Trajectory, weight: Float[Array, " t"] | None
) -> Score:
    """The score of the actions at theta."""
    out, back = jax.vjp(lambda theta: policy.outputs(theta, x.obs), theta)
    return _score(back, slopes(policy, out, x), x, weight)


def at_mean(
    policy: Policy,
    m: Float[Array, " d"],
    theta: Float[Array, " d"],
    x: Trajectory,
    weight: Float[Array, " t"] | None,
    at: States | None,
) -> Score:
    """J_m'e with e at theta: the score if the output were linear in theta.

    at: from these states alone, each with its scale, which is a root: as the noise of so many steps
    adds up.
    """
    if at is not None:
        x, weight = jax.tree.map(
            lambda leaf: leaf[at.index], (x._replace(ended=None, final_obs=None), weight)
        )
    e = slopes(policy, policy.outputs(theta, x.obs), x) * (1.0 if at is None else at.scale[:, None])
    back = jax.vjp(lambda m: policy.outputs(m, x.obs), m)[1]
    return _score(back, e, x, weight)


def slopes(policy: Policy, out: Float[Array, "t k"], x: Trajectory) -> Float[Array, "t k"]:
    """e_t = d log pi / d output, zero where no step was taken."""
    return jnp.where(x.mask[:, None], jax.vmap(jax.grad(policy.head.log_prob))(out, x.action), 0.0)


def _score(back, e: Float[Array, "t k"], x: Trajectory, weight: Float[Array, " t"] | None) -> Score:
    plain = back(e)[0]
    if weight is None:
        return Score(plain, plain, jnp.ones((), e.dtype))
    taken = x.mask.astype(e.dtype)
    return Score(
        back(weight[:, None] * e)[0], plain, taken @ weight / jnp.maximum(jnp.sum(taken), 1.0)
    )


def pushed(
    policy: Policy, theta: Float[Array, " d"], obs: Float[Array, "t o"], v: Float[Array, " d"]
) -> Float[Array, "t k"]:
    """J v for all steps, by one forward pass."""
    return jax.jvp(lambda theta: policy.outputs(theta, obs), (theta,), (v,))[1]


class Chosen(NamedTuple):
    """The chosen states of a trajectory.

    L: the factor of the Fisher information at the mean times the scale of the state.
    """

    obs: Float[Array, "r o"]
    L: Float[Array, "r k c"]
    at: States

    def up(
        self, policy: Policy, theta: Float[Array, " d"], v: Float[Array, " d"]
    ) -> Float[Array, " rows"]:
        """J~ v."""
        return jnp.einsum("rkc,rk->rc", self.L, pushed(policy, theta, self.obs, v)).reshape(-1)

    def down(
        self, policy: Policy, theta: Float[Array, " d"], u: Float[Array, " rows"]
    ) -> Float[Array, " d"]:
        """J~' u."""
        r, _, c = self.L.shape
        back = jax.vjp(lambda theta: policy.outputs(theta, self.obs), theta)[1]
        return back(jnp.einsum("rkc,rc->rk", self.L, u.reshape(r, c)))[0]

    def each_row(self, by_step: Float[Array, " t"]) -> Float[Array, " rows"]:
        """Numbers of steps as numbers of rows."""
        return jnp.repeat(by_step[self.at.index], self.L.shape[2])

    def weighed(
        self, u: Float[Array, " rows"], weight: Float[Array, " t"] | None
    ) -> Float[Array, " rows"]:
        return u if weight is None else u * self.each_row(weight)


def choose(policy: Policy, m: Float[Array, " d"], x: Trajectory, most: int) -> Chosen:
    at = states(x, most, m.dtype)
    obs = x.obs[at.index]
    L = jax.vmap(policy.head.factor)(policy.outputs(m, obs)) * at.scale[:, None, None]
    return Chosen(obs, L, at)


def inner(gram: Float[Array, "rows rows"], s2: Float[Array, ""]) -> Float[Array, "rows rows"]:
    """Cholesky factor of I/s^2 + J~ J~'."""
    return jnp.linalg.cholesky(gram + jnp.eye(gram.shape[0], dtype=gram.dtype) / s2)


def solve(
    root: Float[Array, "rows rows"], b: Float[Array, "rows *columns"]
) -> Float[Array, "rows *columns"]:
    return jax.scipy.linalg.cho_solve((root, True), b)
