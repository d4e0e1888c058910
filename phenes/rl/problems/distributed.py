"""Learning on many workers, in two phases a generation: trajectories stay where they were played.

Workers answer the first phase with the returns of their individuals, and are sent back their
weights; each answers with one weighted gradient. What travels is the mean of the search, once to
each worker and phase, and one gradient from each, whatever the number of individuals and the length
of their episodes. The result is that of one process, to rounding: sums are added up in another
order.
"""

import uuid
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from phenes.batch import Batch, weigh
from phenes.execution.affinity import Lanes
from phenes.rl.policies import Normaliser, Policy
from phenes.rl.problems import worker
from phenes.rl.problems.network import Carry, Learner, Report
from phenes.rl.problems.settings import Settings
from phenes.rl.rollouts import serialise
from phenes.rl.rollouts.processes import Processes
from phenes.rl.trajectories import Credited, Signal


class Told(NamedTuple):
    """What comes of both phases. g: the gradient; square: sum of squares of what individuals (or
    pairs) contribute.
    """

    f: Float[Array, " n"]
    steps: Int[Array, ""]
    g: Float[Array, " d"]
    square: Float[Array, ""]
    seen: Any
    sums: Any


def splits(estimator: Any) -> bool:
    """Whether it can be put together from parts: not if it learns from whole populations, except
    `credited`, for which sums are enough.
    """
    inner = estimator.estimator if isinstance(estimator, Credited) else estimator
    return not hasattr(inner, "observe")


class Phased:
    """A `Learner` whose generations are made by workers. played_again: parts that were lost between
    the phases.
    """

    def __init__(self, learner: Learner, lanes: Lanes):
        self.learner, self.lanes = learner, lanes
        self.settings, self.env, self.key = learner
        self.begin, self.ask, self.law, self.evaluate = (
            learner.begin,
            learner.ask,
            learner.law,
            learner.evaluate,
        )
        self.run, self.job, self.played_again = uuid.uuid4().hex, b"", 0

    def sample(self, carry: Carry, batch: Batch) -> Told:
        """Both phases."""
        whole = carry.state.q, carry.policy, carry.estimator
        if not self.job:
            self.job = self._job(whole)
        parts = self._parts(int(carry.state.generation), whole)
        played = self.lanes.gather(worker.play, [(self.job, part) for part in parts])
        f = np.empty(self.settings.popsize, played[0].f.dtype)
        for part, answer in zip(parts, played, strict=True):
            f[part.own] = answer.f
        sums = (
            None
            if played[0].sums is None
            else jax.tree.map(lambda *each: sum(each), *(p.sums for p in played))
        )
        w, size = (
            np.asarray(weigh(self.settings.weighting, jnp.asarray(f))),
            (None if sums is None else np.asarray(sums.size)),
        )
        weighed = self.lanes.gather(
            worker.weigh, [(self.job, part, w[part.own], size) for part in parts]
        )
        self.played_again += sum(answer.again for answer in weighed)
        g, square = (
            sum(answer.g for answer in weighed) / self.settings.popsize,
            sum(answer.square for answer in weighed),
        )
        seen = [p.seen for p in played]
        steps = sum(p.steps for p in played)
        return Told(f, steps, g, np.asarray(square), seen, sums)  # pyright: ignore

    def tell(self, carry: Carry, batch: Batch) -> tuple[Carry, Report]:
        told: Told = batch.x
        # the strategy takes the mean of the rows: here it is one, their mean
        state, info = self.learner.strategy(self.law(carry)).tell(
            carry.state, Batch(batch.theta, told.g[None], told.f)
        )
        estimator = carry.estimator if told.sums is None else carry.estimator.learnt(told.sums)  # pyright: ignore[reportAttributeAccessIssue]
        report = Report(
            info.f_mean,
            info.f_best,
            jnp.asarray(told.steps, jnp.int32),
            info.failed,
            info.skipped,
            *self._signal(told),
        )
        return Carry(state, _observed(carry.policy, told.seen), estimator), report

    def close(self) -> None:
        self.lanes.close()

    def _signal(self, told: Told) -> Signal:
        """See `phenes.rl.trajectories.signal`."""
        n = self.settings.popsize // (1 + self.settings.mirrored)
        second = told.g @ told.g
        return Signal((second - told.square / n**2) * n / max(n - 1, 1), second)

    def _job(self, whole: Any) -> bytes:
        assert isinstance(self.env, Processes)
        spec, options, spaces = self.env.job
        return serialise.pack(
            worker.Job(spec, options, spaces, self.settings, serialise.without_arrays(whole))
        )

    def _parts(self, generation: int, whole: Any) -> list[worker.Part]:
        """Mirrored pairs stay together."""
        n, paired = self.settings.popsize, self.settings.mirrored
        first = np.array_split(
            np.arange(n // (1 + paired)), min(len(self.lanes), n // (1 + paired))
        )
        key, double = (
            np.asarray(jax.random.key_data(self.key)),
            jnp.result_type(float) == jnp.float64,
        )
        common = (
            generation,
            key,
            str(jax.random.key_impl(self.key)),
            bool(double),
            serialise.arrays(whole),
        )
        return [
            worker.Part(
                self.run, k, np.concatenate([own, own + n // 2]) if paired else own, *common
            )
            for k, own in enumerate(first)
        ]


def _observed(policy: Policy, seen: list[Normaliser | None]) -> Policy:
    for scale in seen:
        if scale is not None and policy.scale is not None:
            policy = policy.with_scale(policy.scale.merged(scale))
    return policy


def phased(settings: Settings, env: Any, key: Any, workers: Any) -> Any:
    """A `Learner`; one in two phases where the environment is played on workers and the estimator
    can be put together from parts.
    """
    from phenes.execution.affinity import lanes

    learner = Learner(settings, env, key)
    own = lanes(workers) if isinstance(env, Processes) and splits(settings.estimator) else None
    if own is None:
        return learner
    env.executor = own
    return Phased(learner, own)
