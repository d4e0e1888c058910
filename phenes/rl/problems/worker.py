"""A worker in the two phases of a generation: it plays and keeps, then it weighs.

A part is known by its seed: mean, spread and policy of the search, the key, the generation, and
which individuals. Theta is drawn on the worker. A worker that has to weigh a part which it has not
cached, because another worker played it and died, plays it again, with the same random numbers.
"""

import threading
from typing import TYPE_CHECKING, NamedTuple, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from phenes.batch import Batch
from phenes.protocols import Tree
from phenes.rl.policies import Normaliser, Policy
from phenes.rl.problems.network import Carry, GenerationStep
from phenes.rl.problems.settings import Settings
from phenes.rl.rollouts import serialise
from phenes.rl.rollouts.backends import Rollouts
from phenes.rl.rollouts.gym_stages import Loop
from phenes.rl.rollouts.python_envs import Host
from phenes.rl.rollouts.spaces import Options, Spaces, make
from phenes.rl.rollouts.trajectory import length, total
from phenes.rl.trajectories import ByTrajectory, Credited, Trajectories
from phenes.rl.trajectories.baselines import Sums
from phenes.search import IsotropicGaussian
from phenes.strategy import State, generation_keys

if TYPE_CHECKING:
    from gymnasium.envs.registration import EnvSpec


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


class Scene(NamedTuple):
    """A part that was played."""

    generation: int
    law: Trajectories
    q: IsotropicGaussian
    estimator: ByTrajectory
    batch: Batch


_kept: dict[tuple[str, int], Scene] = {}  # cache of this worker, until the second phase
_environments: dict[tuple[int, bytes], Host] = {}


def play(job: bytes, part: Part) -> Played:
    """The first phase."""
    with jax.enable_x64(part.double):
        scene = _kept[part.run, part.number] = _scene(job, part)
        return jax.tree.map(np.asarray, _summary(scene.estimator, scene.law, scene.q, scene.batch))


def weigh(job: bytes, part: Part, w: np.ndarray, size: np.ndarray | None) -> Weighed:
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
    carry = Carry(State(q, (), None, jnp.asarray(part.generation, jnp.int32)), policy)
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
