"""Learning on many workers, in two phases a generation: trajectories stay where they were played.

Workers answer the first phase with the returns of their individuals, and are sent back their
weights; each answers with one weighted gradient. What travels is the mean of the search, once to
each worker and phase, and one gradient from each, whatever the number of individuals and the length
of their episodes. The result is that of one process, to rounding: sums are added up in another
order.
"""

import uuid
from typing import NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from phenes._population import weigh
from phenes.batch import Batch
from phenes.execution.affinity import NumberedWorkers, numbered_workers
from phenes.protocols import InputLaw, SearchLaw, Tree
from phenes.rl.curve import Report
from phenes.rl.policies import Normaliser, Policy
from phenes.rl.problems import worker
from phenes.rl.problems.network import Carry, Generations, GenerationStep, report
from phenes.rl.rollouts import serialise
from phenes.rl.rollouts.backends import Workers
from phenes.rl.rollouts.processes import Processes
from phenes.rl.trajectories import Credited, Signal
from phenes.rl.trajectories.base import ByTrajectory, LearningByTrajectory, Q, gradient
from phenes.rl.trajectories.baselines import Sums
from phenes.rl.trajectories.selection import Measured

Leaf: TypeAlias = Array | np.ndarray


class Gathered(NamedTuple):
    """What comes of both phases, NumPy arrays until they are told.

    f: returns [n]; steps: played; g: the gradient [d]; square: sum of squares of what individuals
    (or pairs) contribute; seen: scales of the observations of each part; sums: see `Credited.sums`.
    """

    f: Leaf
    steps: Leaf | int
    g: Leaf
    square: Leaf
    seen: list[Normaliser | None]
    sums: Sums | None


class GatheredGradient(eqx.Module):
    """The estimator of one generation that was weighed elsewhere: it knows the gradient already."""

    g: Float[Array, " d"]
    after: Measured

    def start(self, p: InputLaw, q: SearchLaw, batch: Batch) -> "GatheredGradient":
        """There is nothing to make room for."""
        return self

    def step(self, p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> tuple[Q, Measured]:
        """The gradient that was gathered, and the estimator of the next generation."""
        return gradient(q, self.g[None]), self.after


def splits(estimator: ByTrajectory) -> bool:
    """Whether it can be put together from parts.

    Not if it learns from whole populations, except `credited`, for which sums are enough.
    """
    inner = estimator.estimator if isinstance(estimator, Credited) else estimator
    return not isinstance(inner, LearningByTrajectory)


class Distributed:
    """`Generations` that are made by workers. played_again: parts lost between the phases."""

    def __init__(self, step: GenerationStep, workers: NumberedWorkers):
        self.step, self.workers = step, workers
        self.run, self.job, self.played_again = uuid.uuid4().hex, b"", 0

    def sample(self, carry: Carry, batch: Batch) -> Gathered:
        """Both phases."""
        settings, whole = self.step.settings, (carry.state.q, carry.policy, carry.estimator)
        if not self.job:
            self.job = self._job(whole)
        parts = self._parts(int(carry.state.generation), whole)
        played = self.workers.gather(worker.play, [(self.job, part) for part in parts])
        f = np.empty(settings.popsize, played[0].f.dtype)
        for part, answer in zip(parts, played, strict=True):
            f[part.own] = answer.f
        sums = size = None
        if played[0].sums is not None:
            sums = jax.tree.map(lambda *each: sum(each), *(p.sums for p in played))
            size = np.asarray(sums.size)
        w = np.asarray(weigh(settings.weighting, jnp.asarray(f)))
        weighed = self.workers.gather(
            worker.weigh, [(self.job, part, w[part.own], size) for part in parts]
        )
        self.played_again += sum(answer.again for answer in weighed)
        return Gathered(
            f,
            sum(p.steps for p in played),
            np.asarray(sum(answer.g for answer in weighed) / settings.popsize),
            np.asarray(sum(answer.square for answer in weighed)),
            [p.seen for p in played],
            sums,
        )

    def tell(self, carry: Carry, batch: Batch, sample: Gathered) -> tuple[Carry, Report]:
        """The update; x of the batch is not here."""
        estimator = carry.estimator
        if isinstance(estimator, Credited) and sample.sums is not None:
            estimator = estimator.learnt(sample.sums)
        measured = Measured(estimator, self.step.settings.mirrored, self._signal(sample))
        state, info = self.step.strategy(self.step.law(carry)).tell(
            carry.state._replace(estimator=GatheredGradient(jnp.asarray(sample.g), measured)),
            Batch(batch.theta, f=sample.f),
        )
        steps = jnp.asarray(sample.steps, jnp.int32)
        return Carry(state, _observed(carry.policy, sample.seen)), report(info, steps, measured)

    def close(self) -> None:
        """Let go of the workers."""
        self.workers.close()

    def _signal(self, sample: Gathered) -> Signal:
        """See `phenes.rl.trajectories.signal`."""
        n = self.step.settings.popsize // (1 + self.step.settings.mirrored)
        g = jnp.asarray(sample.g)
        second = g @ g
        return Signal((second - sample.square / n**2) * n / max(n - 1, 1), second)

    def _job(self, whole: Tree) -> bytes:
        env = self.step.env
        assert isinstance(env, Processes)
        spec, options, spaces = env.job
        rest = serialise.without_arrays(whole)
        return serialise.pack(worker.Job(spec, options, spaces, self.step.settings, rest))

    def _parts(self, generation: int, whole: Tree) -> list[worker.Part]:
        """Parts of the population, with mirrored pairs kept together."""
        n, paired, key = self.step.settings.popsize, self.step.settings.mirrored, self.step.key
        each = n // (1 + paired)
        common = (
            generation,
            np.asarray(jax.random.key_data(key)),
            str(jax.random.key_impl(key)),
            bool(jnp.result_type(float) == jnp.float64),
            serialise.arrays(whole),
        )
        return [
            worker.Part(
                self.run, k, np.concatenate([own, own + n // 2]) if paired else own, *common
            )
            for k, own in enumerate(np.array_split(np.arange(each), min(len(self.workers), each)))
        ]


def _observed(policy: Policy, seen: list[Normaliser | None]) -> Policy:
    for scale in seen:
        if scale is not None and policy.scale is not None:
            policy = policy.with_scale(policy.scale.merged(scale))
    return policy


def divided(step: GenerationStep, workers: Workers) -> tuple[GenerationStep, Generations]:
    """The step, and what makes its generations.

    In two phases where the environment is played on workers and the estimator can be put together
    from parts; else the step itself. Looks at the mean policy are then played by the same workers.
    """
    env = step.env
    if not (isinstance(env, Processes) and splits(step.settings.estimator)):
        return step, step
    own = numbered_workers(workers)
    if own is None:
        return step, step
    step = step._replace(env=env.on(own))
    return step, Distributed(step, own)
