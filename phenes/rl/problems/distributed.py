"""Learning on many workers, in two phases a generation: trajectories stay where they were played.

Workers answer the first phase with the returns of their individuals, and are sent back their
weights; each answers with one weighted gradient. What travels is the mean of the search, once to
each worker and phase, and one gradient from each, whatever the number of individuals and the length
of their episodes. The result is that of one process, to rounding: sums are added up in another
order.

A part is known by its seed: mean, spread and policy of the search, the key, the generation, and
which individuals. Theta is drawn on the worker. A worker that has to weigh a part which it has not
cached, because another worker played it and died, plays it again, with the same random numbers.
"""

import threading
import uuid
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from phenes._population import weigh
from phenes.batch import Batch
from phenes.execution.affinity import NumberedWorkers, numbered_workers
from phenes.protocols import InputLaw, SearchLaw, Tree
from phenes.rl.curve import Report
from phenes.rl.policies import Normaliser, Policy
from phenes.rl.problems.idle import Idle
from phenes.rl.problems.network import Carry, Generations, GenerationStep, report
from phenes.rl.problems.settings import Settings
from phenes.rl.rollouts import serialise
from phenes.rl.rollouts.backends import Rollouts, Workers
from phenes.rl.rollouts.processes import Processes
from phenes.rl.rollouts.python_envs import Host, Loop
from phenes.rl.rollouts.spaces import Options, Spaces, make
from phenes.rl.rollouts.trajectory import length, total
from phenes.rl.trajectories import ByTrajectory, Credited, Signal, Trajectories
from phenes.rl.trajectories.base import LearningByTrajectory, Q, gradient
from phenes.rl.trajectories.baselines import Sums
from phenes.rl.trajectories.selection import Measured
from phenes.search import IsotropicGaussian
from phenes.strategy import State, generation_keys

if TYPE_CHECKING:
    from gymnasium.envs.registration import EnvSpec

Leaf: TypeAlias = Array | np.ndarray


class Job(NamedTuple):
    """What stays the same from generation to generation.

    rest: (q, policy, estimator) with holes in the place of their arrays.
    """

    spec: "EnvSpec"
    options: Options
    spaces: Spaces
    settings: Settings
    rest: Tree


class Part(NamedTuple):
    """Individuals `own` of a generation of a run.

    arrays: those of (q, policy, estimator). Plain NumPy: it travels in any precision.
    """

    run: str
    number: int
    own: np.ndarray
    generation: int
    key: np.ndarray
    kind: str  # implementation of the PRNG key
    double: bool
    arrays: list[np.ndarray]


class Played(NamedTuple):
    """What came of the first phase.

    f, steps: returns and steps of the individuals; seen: count, mean and variance of the
    observations; sums: see `Credited.sums`.
    """

    f: Array | np.ndarray
    steps: Array | np.ndarray
    seen: Normaliser | None
    sums: Sums | None


class Weighed(NamedTuple):
    """What came of the second phase.

    g: the sum of what the individuals contribute; square: of its squares (of pairs, if they are
    mirrored). again: it had to be played again.
    """

    g: np.ndarray
    square: float
    again: bool


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
        played = self.workers.gather(play_part, [(self.job, part) for part in parts])
        f = np.empty(settings.popsize, played[0].f.dtype)
        for part, answer in zip(parts, played, strict=True):
            f[part.own] = answer.f
        sums = size = None
        if played[0].sums is not None:
            sums = jax.tree.map(lambda *each: sum(each), *(p.sums for p in played))
            size = np.asarray(sums.size)
        w = np.asarray(weigh(settings.weighting, jnp.asarray(f)))
        weighed = self.workers.gather(
            weigh_part, [(self.job, part, w[part.own], size) for part in parts]
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
        return Carry(state, _observed(carry.policy, sample.seen), carry.idle), report(
            info, steps, measured
        )

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
        return serialise.pack(Job(spec, options, spaces, self.step.settings, rest))

    def _parts(self, generation: int, whole: Tree) -> list[Part]:
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
            Part(self.run, k, np.concatenate([own, own + n // 2]) if paired else own, *common)
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
    # where returns are not what the learner sees, it has to see whole trajectories
    s = step.settings
    whole = s.bonus != 0 or s.widen or s.together
    if whole or not (isinstance(env, Processes) and splits(step.settings.estimator)):
        return step, step
    own = numbered_workers(workers)
    if own is None:
        return step, step
    step = step._replace(env=env.on(own))
    return step, Distributed(step, own)


class Scene(NamedTuple):
    """A part that was played."""

    generation: int
    law: Trajectories
    q: IsotropicGaussian
    estimator: ByTrajectory
    batch: Batch


_kept: dict[tuple[str, int], Scene] = {}  # cache of this worker, until the second phase
_environments: dict[tuple[int, bytes], Host] = {}


def play_part(job: bytes, part: Part) -> Played:
    """The first phase."""
    with jax.enable_x64(part.double):
        scene = _kept[part.run, part.number] = _scene(job, part)
        return jax.tree.map(np.asarray, _summary(scene.estimator, scene.law, scene.q, scene.batch))


def weigh_part(job: bytes, part: Part, w: np.ndarray, size: np.ndarray | None) -> Weighed:
    """The second phase. size: of the weights of single steps in the whole population."""
    with jax.enable_x64(part.double):
        kept = _kept.pop((part.run, part.number), None)
        there = kept is not None and kept.generation == part.generation
        scene = kept if kept is not None and there else _scene(job, part)
        estimator = scene.estimator
        if size is not None:  # only `credited` has sums to take it from
            estimator = cast(Credited, estimator).sized(jnp.asarray(size))
        paired = serialise.opened(job).settings.mirrored
        g, square = _weighted(estimator, scene.law, scene.q, scene.batch, jnp.asarray(w), paired)
        return Weighed(np.asarray(g), float(square), not there)


def _scene(blob: bytes, part: Part) -> Scene:
    job, own = serialise.opened(blob), jnp.asarray(part.own)
    key = jax.random.wrap_key_data(jnp.asarray(part.key), impl=part.kind)
    q, policy, estimator = serialise.filled(job.rest, part.arrays)
    step = GenerationStep(job.settings, _environment(blob, job), key)
    carry = Carry(
        State(q, (), None, jnp.asarray(part.generation, jnp.int32)), policy, Idle.start(0)
    )
    batch, for_x = _population(job.settings, key, carry, own)
    law = step.law(carry)
    x = jax.tree.map(jnp.asarray, law.sample_some(for_x, batch.theta, own, job.settings.popsize))
    return Scene(
        part.generation,
        law,
        q,
        estimator,
        batch._replace(x=x, f=jnp.asarray(total(x), q.mean.dtype)),
    )


def _environment(blob: bytes, job: Job) -> Host:
    """The environment of this thread, cached from one generation to the next."""
    name = threading.get_ident(), blob
    if name not in _environments:
        _environments[name] = Host(Loop(lambda: make(job.spec, job.options)), job.spaces)
    return _environments[name]


@eqx.filter_jit
def _population(
    settings: Settings, key: PRNGKeyArray, carry: Carry, own: Array
) -> tuple[Batch, PRNGKeyArray]:
    """theta of these individuals, with their keys for estimators, and the key of the episodes."""
    nowhere = cast(Rollouts, None)  # who asks does not play
    batch = GenerationStep(settings, nowhere, key).ask(carry)
    keys = jax.random.split(batch.key, settings.popsize)
    return Batch(batch.theta[own], key=keys[own]), generation_keys(key, carry.state.generation).x


@eqx.filter_jit
def _summary(
    estimator: ByTrajectory, p: Trajectories, q: IsotropicGaussian, batch: Batch
) -> Played:
    policy: Policy = p.policy
    seen = (
        None
        if policy.scale is None
        else Normaliser.of(batch.x.obs.astype(policy.scale.mean.dtype), batch.x.mask)
    )
    sums = estimator.sums(p, q, batch) if isinstance(estimator, Credited) else None
    return Played(batch.f, jnp.sum(length(batch.x), dtype=jnp.int32), seen, sums)


@eqx.filter_jit
def _weighted(
    estimator: ByTrajectory,
    p: Trajectories,
    q: IsotropicGaussian,
    batch: Batch,
    w: Array,
    paired: bool,
) -> tuple[Float[Array, " d"], Array]:
    each = estimator.contributions(p, q, batch, w)
    of_pairs = each.reshape(2, -1, each.shape[1]).mean(axis=0) if paired else each
    return jnp.sum(each, axis=0), jnp.sum(of_pairs**2)
