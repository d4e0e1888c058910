"""p_theta(x) for trajectories: the policy theta acts in an environment, x is what it saw, did and
got.

log p is that of the actions. The environment's own part does not depend on theta and is left out,
as scores do; with it, every estimator of `phenes.estimators` that needs d log p / d theta works on
trajectories.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from phenes.rl.policies import Policy
from phenes.rl.rollouts.trajectory import Trajectory


class Trajectories(eqx.Module):
    """policy: of all individuals, which differ in theta alone. env: something that plays,
    `phenes.rl.rollouts.load("CartPole-v1")`.

    paired: individual i and i + N/2 (a mirrored pair) start from the same state.
    """

    policy: Policy
    env: Any = eqx.field(static=True, default=None)
    paired: bool = eqx.field(static=True, default=False)
    deterministic: bool = eqx.field(static=True, default=False)

    def sample(self, key: PRNGKeyArray, theta: Float[Array, " d"]) -> Trajectory:
        return jax.tree.map(lambda leaf: leaf[0], self.sample_all(key, theta[None]))

    def sample_all(self, key: PRNGKeyArray, theta: Float[Array, "n d"]) -> Trajectory:
        """The random numbers of individual i depend on the key and i alone."""
        return self.sample_some(key, theta, jnp.arange(theta.shape[0]), theta.shape[0])

    def sample_some(
        self, key: PRNGKeyArray, theta: Float[Array, "k d"], own: Int[Array, " k"], n: int
    ) -> Trajectory:
        """Individuals `own` of a population of n, as they are in the whole."""
        for_actions, for_start = jax.random.split(key)
        starts = individual_keys(for_start, own % (n // 2) if self.paired else own)
        keys = individual_keys(for_actions, own)
        return self.env.play(
            self.policy, theta, keys, initial_keys=starts, deterministic=self.deterministic
        )

    def log_prob(self, x: Trajectory, theta: Float[Array, " d"]) -> Float[Array, ""]:
        """sum_t log pi_theta(a_t | s_t)."""
        out = self.policy.outputs(theta, x.obs)
        return jnp.sum(jnp.where(x.mask, jax.vmap(self.policy.head.log_prob)(out, x.action), 0.0))


def individual_keys(key: PRNGKeyArray, numbers: Array) -> PRNGKeyArray:
    return jax.vmap(lambda i: jax.random.fold_in(key, i))(numbers)
