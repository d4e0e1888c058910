"""Steps of episodes a second: the compiled loop of `phenes.rl.tabular` beside Gymnasium's own
`env.step`, in one run.
"""

import time
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from phenes_lab.driver import Progress, silent
from phenes_lab.report import table_of
from phenes_lab.settings import Checked


@dataclass(frozen=True)
class TabularSpeedSettings(Checked):
    """popsizes: episodes that are played together. loop: steps of the Gymnasium loop. repeats: of
    both; the fastest counts.
    """

    environments: tuple[str, ...] = ("FrozenLake-v1", "CliffWalking-v1", "Taxi-v4")
    popsizes: tuple[int, ...] = (100, 1000)
    loop: int = 20_000
    repeats: int = 5
    limit: int = 200  # for environments without a limit of their own
    seed: int = 0

    def __post_init__(self):
        self.counts("loop", "repeats", "limit")

    @classmethod
    def quick(cls) -> "TabularSpeedSettings":
        return cls(environments=("FrozenLake-v1",), loop=2000, repeats=3)


@dataclass(frozen=True)
class TabularSpeedRow:
    """Microseconds a step, of uniformly random actions; ratio: Gymnasium over ours. length: mean
    steps of an episode.
    """

    environment: str
    popsize: int
    length: float
    ours: float
    gymnasium: float
    ratio: float


def run(settings: TabularSpeedSettings, progress: Progress = silent) -> list[TabularSpeedRow]:
    rows, total = [], len(settings.environments) * (1 + len(settings.popsizes))
    progress(0, total)
    for k, name in enumerate(settings.environments):
        before = k * (1 + len(settings.popsizes))
        theirs = _gymnasium(settings, name)
        progress(before + 1, total)
        for j, popsize in enumerate(settings.popsizes):
            ours, length = _compiled(settings, name, popsize)
            rows.append(TabularSpeedRow(name, popsize, length, ours, theirs, theirs / ours))
            progress(before + 2 + j, total)
    return rows


def _gymnasium(settings: TabularSpeedSettings, name: str) -> float:
    import gymnasium

    limit = gymnasium.spec(name).max_episode_steps or settings.limit
    env = gymnasium.make(name, max_episode_steps=limit)
    count = int(env.action_space.n)  # pyright: ignore[reportAttributeAccessIssue]
    actions = np.random.default_rng(settings.seed).integers(count, size=settings.loop).tolist()
    env.reset(seed=settings.seed)
    times = []
    for _ in range(settings.repeats):
        started = time.perf_counter()
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        times.append(time.perf_counter() - started)
    return 1e6 * min(times) / settings.loop


def _compiled(settings: TabularSpeedSettings, name: str, popsize: int) -> tuple[float, float]:
    """Microseconds a step that was taken (not of waiting for the longest episode), and steps an
    episode.
    """
    from phenes.rl import tabular

    table = tabular.load(name).table
    table = table.limited(table.limit or settings.limit)
    policies = jnp.full((popsize, table.states, table.actions), 1 / table.actions)
    compiled = (
        jax.jit(lambda key: tabular.play(table, key, policies)).lower(jax.random.key(0)).compile()
    )
    times, steps = [], []
    for k in range(settings.repeats):
        key = jax.random.fold_in(jax.random.key(settings.seed), k)
        started = time.perf_counter()
        x = jax.block_until_ready(compiled(key))
        times.append(time.perf_counter() - started)
        steps.append(int(np.sum(x.length)))
    return (
        1e6 * min(t / n for t, n in zip(times, steps, strict=True)),
        float(np.mean(steps)) / popsize,
    )


def table(rows: list[TabularSpeedRow]) -> Any:
    """For people, as a `rich` table."""
    columns = {
        "environment": "{environment}",
        "episodes together": "{popsize}",
        "steps an episode": "{length:.1f}",
        "phenes": "{ours:.3f}",
        "gymnasium": "{gymnasium:.1f}",
        "ratio": "{ratio:.0f}",
    }
    title = "Microseconds a step, random actions: compiled from the table, and Gymnasium's loop"
    return table_of(rows, columns, title=title)
