"""Steps of neural policies a second: `phenes.rl.rollouts` beside Gymnasium's synchronous vector
environment, in one run.

The job is one episode of each individual. Gymnasium's environments go on until the last of these
episodes has ended, as ours do; its steps are counted twice, those of these episodes alone (`ratio`)
and all that it took, also those of episodes nobody asked for (`least`).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from phenes_lab.driver import Progress, silent
from phenes_lab.report import table_of
from phenes_lab.settings import Checked

HIDDEN = {"CartPole-v1": (32, 32)}  # as in the paper; (64, 64) for all others
BALANCE = (0.05, 0.2, 1.0, 0.4)  # a pole is held up by pushing into this direction


@dataclass(frozen=True)
class RolloutSpeedSettings(Checked):
    """limit: steps after which episodes are cut off here. repeats: of both sides, taking turns; the
    fastest counts.
    """

    environments: tuple[str, ...] = ("CartPole-v1", "Pendulum-v1", "Swimmer-v5")
    popsize: int = 100
    limit: int = 200
    repeats: int = 5
    seed: int = 0

    def __post_init__(self):
        self.counts("popsize", "limit", "repeats")

    @classmethod
    def quick(cls) -> "RolloutSpeedSettings":
        return cls(environments=("CartPole-v1", "Pendulum-v1"), limit=50, repeats=2)


@dataclass(frozen=True)
class RolloutSpeedRow:
    """ours, gymnasium: microseconds a step. length: mean steps of an episode. least: with all steps
    of Gymnasium counted.
    """

    environment: str
    policies: str
    popsize: int
    length: float
    ours: float
    gymnasium: float
    ratio: float
    least: float


@dataclass(frozen=True)
class Job:
    """What both sides do: these policies, one episode each."""

    name: str
    policy: Any
    theta: Any
    keys: Any
    limit: int


def run(settings: RolloutSpeedSettings, progress: Progress = silent) -> list[RolloutSpeedRow]:
    """In single precision, as policies are trained."""
    cases = [
        (name, kind)
        for name in settings.environments
        for kind in ("untrained", *(["balancing"] if name == "CartPole-v1" else []))
    ]
    rows = []
    progress(0, len(cases))
    with jax.enable_x64(False):
        for k, (name, kind) in enumerate(cases):
            rows.append(_measure(settings, name, kind))
            progress(k + 1, len(cases))
    return rows


def _measure(settings: RolloutSpeedSettings, name: str, kind: str) -> RolloutSpeedRow:
    from phenes.rl import rollouts

    limit = min(settings.limit, rollouts.spaces(name).limit)
    env = rollouts.load(name, max_episode_steps=limit)
    job = _job(settings, env.spaces, kind, limit)
    theirs = _synchronous(job)
    times, steps = [], 0
    for k in range(settings.repeats + 1):
        started = time.perf_counter()
        x = jax.block_until_ready(env.play(job.policy, job.theta, job.keys))
        seconds, steps = time.perf_counter() - started, int(np.sum(x.mask))
        started = time.perf_counter()
        counted, taken = theirs()
        other = time.perf_counter() - started
        if k:  # the first time is that of the compiler
            times.append((seconds / steps, other / counted, other / taken))
    env.close()
    ours, gymnasium, everything = (1e6 * min(column) for column in zip(*times, strict=True))
    length, ratio = steps / settings.popsize, gymnasium / ours
    return RolloutSpeedRow(
        name, kind, settings.popsize, length, ours, gymnasium, ratio, everything / ours
    )


def _job(settings: RolloutSpeedSettings, spaces: Any, kind: str, limit: int) -> Job:
    from phenes.rl.policies import policy

    key = jax.random.key(settings.seed)
    made, theta = policy(key, spaces, HIDDEN.get(spaces.name, (64, 64)), normalise=False)
    if kind == "balancing":
        theta = _balancing(made, theta)
    noise = jax.random.normal(
        jax.random.fold_in(key, 1), (settings.popsize, theta.size), theta.dtype
    )
    keys = jax.random.split(jax.random.fold_in(key, 2), settings.popsize)
    return Job(spaces.name, made, theta[None] + 0.02 * noise, keys, limit)


def _balancing(policy: Any, theta: Any) -> Any:
    """One unit of each layer carries the direction into which to push: policies whose episodes are
    long, without training any.
    """
    first, second, last = (np.zeros_like(layer.weight) for layer in policy.unravel(theta).layers)
    first[0], second[0, 0], last[:, 0] = BALANCE, 1, (-50, 50)
    flat = [
        part.ravel() for weight in (first, second, last) for part in (weight, np.zeros(len(weight)))
    ]
    return jnp.asarray(np.concatenate(flat), theta.dtype)


def _synchronous(job: Job) -> Callable[[], tuple[int, int]]:
    """Plays the job once: (steps of first episodes, all steps). The policies are evaluated as ours
    are on the host, all in one call.
    """
    import gymnasium

    from phenes.rl.rollouts.python_envs import Actors

    n = len(job.theta)
    # the checker would slow it down
    options = {"max_episode_steps": job.limit, "disable_env_checker": True}
    envs = gymnasium.make_vec(job.name, num_envs=n, vectorization_mode="sync", **options)

    def play() -> tuple[int, int]:
        actors, everybody = Actors(job.policy, job.theta, job.keys, False), np.arange(n)
        obs, _ = envs.reset(seed=0)
        alive, counted, t = np.ones(n, bool), 0, 0
        while alive.any():
            _, actions = actors(everybody, obs, t)
            obs, _, terminated, truncated, _ = envs.step(actions)
            counted, alive, t = counted + int(alive.sum()), alive & ~(terminated | truncated), t + 1
        return counted, n * t

    return play


def table(rows: list[RolloutSpeedRow]) -> Any:
    """For people, as a `rich` table."""
    columns = {
        "environment": "{environment}",
        "policies": "{policies}",
        "episodes together": "{popsize}",
        "steps an episode": "{length:.1f}",
        "phenes": "{ours:.2f}",
        "gymnasium": "{gymnasium:.1f}",
        "ratio": "{ratio:.1f}",
        "counting all its steps": "{least:.1f}",
    }
    title = (
        "Microseconds a step, one episode of each policy: phenes, and Gymnasium's SyncVectorEnv"
        " with the same policies"
    )
    return table_of(rows, columns, title=title, left=2)
