"""Policies in networks: theta searched by a Gaussian law, estimators on trajectories.

One generation is a function from what is carried to what is carried, compiled with the environment
or in two halves around it.
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple, Protocol, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jax.typing import DTypeLike
from jaxtyping import Array, ArrayLike, Float, Int, PRNGKeyArray

from phenes import metric
from phenes.batch import Batch
from phenes.protocols import Tree
from phenes.rl.curve import Curve, Report
from phenes.rl.policies import GaussianHead, Normaliser, Policy
from phenes.rl.problems import Advanced
from phenes.rl.problems.network_policy import NetworkPolicy, totals
from phenes.rl.problems.settings import Settings
from phenes.rl.rollouts.backends import Rollouts
from phenes.rl.rollouts.trajectory import Trajectory, length, total
from phenes.rl.trajectories import ByTrajectory, Genotype, Trajectories
from phenes.rl.trajectories.selection import Measured
from phenes.search import IsotropicGaussian
from phenes.strategy import Info, State, Strategy, es, generation_keys

CHUNK = 5  # generations between two looks at the mean policy
LOOKS = 10  # episodes of a look
PROOF = 100  # episodes that decide whether the target is reached

EVALUATION = 0x65766C  # a stream of random numbers apart from that of the generations


class Carry(NamedTuple):
    """Everything that the next generation depends on, beside the key."""

    state: State  # its estimator is a `Measured`
    policy: Policy  # with the scale of observations

    @property
    def estimator(self) -> ByTrajectory:
        """The estimator, with what it has learnt."""
        return self.measured.estimator

    @property
    def measured(self) -> Measured:
        """The estimator of the state."""
        return cast(Measured, self.state.estimator)


class Answer(NamedTuple):
    """A mean policy, with the scale of observations that it was learnt with."""

    theta: Float[Array, " d"]
    scale: Normaliser | None


class Generations(Protocol):
    """A generation in two halves: what comes of the population, and the update from it."""

    def sample(self, carry: Carry, batch: Batch) -> Tree:
        """What `tell` has to know of the episodes of this population."""
        ...

    def tell(self, carry: Carry, batch: Batch, sample: Tree) -> tuple[Carry, Report]:
        """The update."""
        ...

    def close(self) -> None:
        """Let go of workers."""
        ...


class GenerationStep(NamedTuple):
    """The functions of a run: begin; then ask, sample, tell make a generation."""

    settings: Settings
    env: Rollouts
    key: PRNGKeyArray

    def begin(self, policy: Policy, theta: Float[Array, " d"]) -> Carry:
        """The carry before the first generation."""
        q = IsotropicGaussian(theta, self.settings.sigma[0])
        # an estimator without state needs no population to start from: the environment may be one
        # that cannot be traced
        state = self.strategy(None, Genotype()).init(q)
        learner = Measured.of(
            self.settings.estimator,
            self.settings.mirrored,
            Trajectories(policy, self.env),
            state.q,
            _shapes(self.env),
        )
        # arrays that were made from Python numbers have weak types, and would be other types to the
        # compiled loop than what it returns
        return jax.tree.map(
            lambda leaf: jnp.asarray(leaf, leaf.dtype) if eqx.is_array(leaf) else leaf,
            Carry(state._replace(estimator=learner), policy),
        )

    def ask(self, carry: Carry) -> Batch:
        """The population."""
        return self.strategy(None).ask(self.key, carry.state)

    def sample(self, carry: Carry, batch: Batch) -> Trajectory:
        """Its episodes."""
        keys = generation_keys(self.key, carry.state.generation)
        return self.law(carry).sample_all(keys.x, batch.theta)

    def tell(self, carry: Carry, batch: Batch, sample: Trajectory) -> tuple[Carry, Report]:
        """The update."""
        f = jnp.asarray(total(sample), carry.state.q.mean.dtype)
        state, info = self.strategy(self.law(carry)).tell(
            carry.state, batch._replace(x=sample, f=f)
        )
        steps = jnp.sum(length(sample), dtype=jnp.int32)
        after = Carry(state, carry.policy.observe(sample.obs, sample.mask))
        return after, report(info, steps, after.measured)

    def once(self, carry: Carry) -> tuple[Carry, Report]:
        """ask, sample and tell, where the environment can be compiled with them."""
        batch = self.ask(carry)
        return self.tell(carry, batch, self.sample(carry, batch))

    def law(self, carry: Carry) -> Trajectories:
        """p of this generation, with the action noise that it has."""
        s, policy = self.settings, carry.policy
        if s.action_noise is None and isinstance(policy.head, GaussianHead):
            policy = policy.with_head(policy.head.with_std(jnp.exp(carry.state.q.log_std)))
        return Trajectories(policy, self.env, s.mirrored, s.deterministic)

    def strategy(self, p: Trajectories | None, estimator: ByTrajectory | None = None) -> Strategy:
        """The strategy of Algorithm 2, for this p."""
        s = self.settings
        return es(
            p,  # pyright: ignore[reportArgumentType]
            s.estimator if estimator is None else estimator,
            s.weighting,
            optax.adam(s.rate),
            s.popsize,
            metric=metric.plain,
            std=s.spread(),
            mirrored=s.mirrored,
        )

    def close(self) -> None:
        """Nothing is held."""


def report(info: Info, steps: Int[Array, ""], measured: Measured) -> Report:
    """The report of one generation."""
    return Report(info.f_mean, info.f_best, steps, info.failed, info.skipped, *measured.signal)


def _shapes(env: Rollouts) -> Batch:
    """A batch of nothing, with the shapes that an estimator may ask for."""
    obs = jax.ShapeDtypeStruct((1, env.spaces.limit, env.spaces.obs_dim), jnp.result_type(float))
    return Batch(None, Trajectory(*cast("list[Array]", [obs, None, None, None, None, None])))


class NetworkProblem:
    """A training of the network `policy` from theta on, see `Problem`.

    generations: what makes the halves of a generation where the environment is not compiled; the
    step itself unless given.
    """

    chunk = CHUNK
    keeps_best = True

    def __init__(
        self,
        step: GenerationStep,
        policy: Policy,
        theta: Float[Array, " d"],
        generations: Generations | None = None,
    ):
        self.step, self.policy, self.theta = step, policy, theta
        self.generations: Generations = step if generations is None else generations
        self.stream = jax.random.fold_in(step.key, EVALUATION)
        self.some = self._compiled() if step.env.compiled else self._in_halves()

    def begin(self) -> Carry:
        """See `Problem.begin`."""
        return self.step.begin(self.policy, self.theta)

    def advance(self, carry: Carry, n: int) -> Advanced[Carry]:
        """See `Problem.advance`. The last of them is followed by a look at the mean policy."""
        carry, reports = self.some(carry, n)
        generation = int(carry.state.generation)
        return Advanced(
            carry, reports, [(generation, self.look(self.answer(carry), generation, LOOKS))]
        )

    def answer(self, carry: Carry) -> Answer:
        """See `Problem.answer`."""
        return Answer(carry.state.q.mean, carry.policy.scale)

    def prove(self, answer: Answer, generation: int) -> float:
        """See `Problem.prove`."""
        return self.look(answer, generation, PROOF)

    def look(self, answer: Answer, generation: int, episodes: int) -> float:
        """Mean return with the best actions; which episodes, depends on the generation alone."""
        env, policy = self.step.env, self.policy.with_scale(answer.scale)
        keys = jax.random.split(jax.random.fold_in(self.stream, generation), episodes // LOOKS)
        if not env.compiled:
            return float(np.mean(totals(env, policy, answer.theta, keys[0], episodes)))
        # one small compiled program for looks and proofs
        return float(np.mean([_few(env, key, policy, answer.theta) for key in keys]))

    def readout(self, answer: Answer, carry: Carry, curve: Curve) -> NetworkPolicy:
        """See `Problem.readout`."""
        policy = carry.policy.with_scale(answer.scale)
        return NetworkPolicy(policy, np.asarray(answer.theta), self.step.env.spaces)

    def close(self) -> None:
        """See `Problem.close`."""
        self.generations.close()
        self.step.env.close()

    def _compiled(self) -> Callable[[Carry, int], tuple[Carry, list[Report]]]:
        """n generations as one program.

        Programs are found by settings and environment, which are compared by value: another seed,
        or more generations, need no other.
        """
        step = self.step._replace(settings=dataclasses.replace(self.step.settings, generations=1))

        def some(carry: Carry, n: int) -> tuple[Carry, list[Report]]:
            carry, reports = _scanned(step, carry, n)
            return carry, [jax.tree.map(np.asarray, reports)]

        return some

    def _in_halves(self) -> Callable[[Carry, int], tuple[Carry, list[Report]]]:
        """Python around an environment that is not compiled."""
        ask = eqx.filter_jit(lambda carry: self.step.ask(carry))
        tell = eqx.filter_jit(
            lambda carry, batch, sample: self.generations.tell(carry, batch, sample)
        )

        def some(carry: Carry, n: int) -> tuple[Carry, list[Report]]:
            reports = []
            for _ in range(n):
                batch = ask(carry)
                sample = _on_device(self.generations.sample(carry, batch), batch.theta.dtype)
                carry, report = tell(carry, batch, sample)
                reports.append(jax.tree.map(np.asarray, report))
            return carry, reports

        return some


def _on_device(x: Tree, dtype: DTypeLike) -> Tree:
    """NumPy arrays of any precision as JAX arrays of one."""

    def put(leaf: ArrayLike) -> Array:
        real = np.issubdtype(np.asarray(leaf).dtype, np.floating)
        return jnp.asarray(leaf, dtype if real else None)

    return jax.tree.map(put, x)


@eqx.filter_jit
def _scanned(step: GenerationStep, carry: Carry, n: int) -> tuple[Carry, Report]:
    """n generations as one program."""
    first, rest = eqx.partition(carry, eqx.is_array)

    def one(arrays: Tree, _: None) -> tuple[Tree, Report]:
        after, report = step.once(eqx.combine(arrays, rest))
        return eqx.filter(after, eqx.is_array), report

    last, reports = lax.scan(one, first, length=n)
    return eqx.combine(last, rest), reports


@eqx.filter_jit
def _few(env: Rollouts, key: PRNGKeyArray, policy: Policy, theta: Float[Array, " d"]) -> Array:
    """Returns of a look: the same program for all estimators."""
    return totals(env, policy, theta, key, LOOKS)
