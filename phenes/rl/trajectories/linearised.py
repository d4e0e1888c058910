"""The Rao-Blackwellised score of the policy linearised at the mean.

    g = J' (sa^2 I + s^2 J J')^-1 (J dtheta + sa eta) = J_m'e + A (s_q - J_m'e)      (the second form is for actions of any law)

is E[dtheta / s^2 | actions] if the output were linear in theta: exact for linear policies with
Gaussian actions, where it equals `mix`.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from phenes import checks
from phenes.batch import Batch
from phenes.rl.trajectories.base import ByTrajectory, individually
from phenes.rl.trajectories.linear import along, at_mean, choose, inner, solve
from phenes.search.gaussian import IsotropicGaussian

STATES = 50


class Linearised(ByTrajectory):
    """See `linearised`."""

    states: int = eqx.field(static=True)
    every_step: bool = eqx.field(static=True)

    def scores(
        self, p: Any, q: IsotropicGaussian, batch: Batch, weight: Float[Array, "n t"] | None = None
    ) -> Float[Array, "n d"]:
        m, s2, policy = q.mean, jnp.exp(2 * q.log_std), p.policy

        def one(theta, x, weight):
            chosen = choose(policy, m, x, self.states)
            s_m = at_mean(policy, m, theta, x, weight, None if self.every_step else chosen.at)
            rows = policy.features(m, chosen.obs, chosen.L)
            u = solve(inner(rows.dot(rows), s2), chosen.up(policy, m, (theta - m) / s2 - s_m.plain))
            return s_m.total + chosen.down(policy, m, chosen.weighed(u, weight))

        return individually(one, *along(batch), batch.theta, batch.x, weight)


def linearised(states: int = STATES, every_step: bool = True) -> Linearised:
    """BIASED, a little where the policy is nearly linear within the spread of the search, and of
    the smallest variance there is.

    states: so many of a trajectory stand for all of it in A. every_step: the score takes all steps;
    else it takes the same few, which leaves g no direction in which A cannot damp it: for long
    episodes.
    """
    return Linearised(checks.count("states", states), every_step)
