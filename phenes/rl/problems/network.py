"""One generation, as a function from what is carried to what is carried: compiled with the
environment, or in two halves around it.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

import phenes
from phenes import metric
from phenes.batch import Batch, weigh
from phenes.rl.policies import GaussianHead, Policy
from phenes.rl.problems.settings import Settings
from phenes.rl.rollouts.trajectory import Trajectory, length, total
from phenes.rl.trajectories import ByTrajectory, Trajectories, signal
from phenes.rl.trajectories.base import gradient
from phenes.search import IsotropicGaussian
from phenes.strategy import State, Strategy, generation_keys


class Carry(NamedTuple):
    """Everything that the next generation depends on, beside the key."""

    state: State
    policy: Policy  # with the scale of observations
    estimator: ByTrajectory  # with what it has learnt


class Best(NamedTuple):
    """The best mean policy that was looked at, with the scale of its observations."""

    value: Any
    theta: Any
    scale: Any


class Report(NamedTuple):
    """Of one generation: mean and best return of the population, steps played, failed episodes, skipped updates, and the estimates of
    |E g|^2 (size) and E|g|^2 (second), whose ratio is the share of signal in the gradient."""

    mean: Float[Array, ""]
    best: Float[Array, ""]
    steps: Int[Array, ""]
    failed: Int[Array, ""]
    skipped: Int[Array, ""]
    size: Float[Array, ""]
    second: Float[Array, ""]


class Learner(NamedTuple):
    """The functions of a run: begin(policy, theta) -> carry; ask, sample, tell, one after the
    other, make a generation.
    """

    settings: Settings
    env: Any
    key: PRNGKeyArray

    def begin(self, policy: Policy, theta: Float[Array, " d"]) -> Carry:
        q = IsotropicGaussian(theta, self.settings.sigma[0])
        state = self.strategy(None).init(q)
        estimator = self.settings.estimator
        if hasattr(estimator, "start"):
            estimator = estimator.start(  # pyright: ignore
                Trajectories(policy, self.env), state.q, _shapes(policy, self.env)
            )
        # arrays that were made from Python numbers have weak types, and would be other types to the
        # compiled loop than what it returns
        return jax.tree.map(
            lambda leaf: jnp.asarray(leaf, leaf.dtype) if eqx.is_array(leaf) else leaf,
            Carry(state, policy, estimator),
        )

    def ask(self, carry: Carry) -> Batch:
        return self.strategy(None).ask(self.key, carry.state)

    def sample(self, carry: Carry, batch: Batch) -> Trajectory:
        return self.law(carry).sample_all(
            generation_keys(self.key, carry.state.generation).x, batch.theta
        )

    def tell(self, carry: Carry, batch: Batch) -> tuple[Carry, Report]:
        p, q, x = self.law(carry), carry.state.q, batch.x
        f = jnp.asarray(total(x), q.mean.dtype)
        batch = batch._replace(f=f)
        each, estimator = carry.estimator.advance(p, q, batch, weigh(self.settings.weighting, f))
        # the strategy is told what the individuals contribute, in place of what they did
        state, info = self.strategy(p).tell(carry.state, batch._replace(x=each))
        measured = signal(each, self.settings.mirrored)
        report = Report(
            info.f_mean,
            info.f_best,
            jnp.sum(length(x), dtype=jnp.int32),
            info.failed,
            info.skipped,
            *measured,
        )
        return Carry(state, carry.policy.observe(x.obs, x.mask), estimator), report

    def once(self, carry: Carry) -> tuple[Carry, Report]:
        """ask, sample and tell, where the environment can be compiled with them."""
        batch = self.ask(carry)
        return self.tell(carry, batch._replace(x=self.sample(carry, batch)))

    def law(self, carry: Carry) -> Trajectories:
        """p of this generation, with the action noise that it has."""
        s, policy = self.settings, carry.policy
        if s.action_noise is None and isinstance(policy.head, GaussianHead):
            policy = policy.with_head(policy.head.with_std(jnp.exp(carry.state.q.log_std)))
        return Trajectories(policy, self.env, s.mirrored, s.deterministic)

    def evaluate(
        self, policy: Policy, theta: Float[Array, " d"], key: PRNGKeyArray, episodes: int
    ) -> Float[Array, " e"]:
        """Returns of one theta with its best actions."""
        law = Trajectories(policy, self.env, deterministic=True)
        return total(law.sample_all(key, jnp.broadcast_to(theta[None], (episodes, theta.size))))

    def strategy(self, p: Any) -> Strategy:
        s = self.settings
        return phenes.es(
            p,
            lambda p, q, batch, w: gradient(q, batch.x),
            s.weighting,
            optax.adam(s.rate),
            s.popsize,
            metric=metric.plain,
            std=s.spread(),
            mirrored=s.mirrored,
        )


def _shapes(policy: Policy, env: Any) -> Batch:
    """A batch of nothing, with the shapes that an estimator may ask for."""
    obs = jax.ShapeDtypeStruct((1, env.spaces.limit, env.spaces.obs_dim), jnp.result_type(float))
    return Batch(None, Trajectory(obs, None, None, None, None, None))
