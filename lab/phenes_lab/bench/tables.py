"""Environments with a transition table: episodes and seconds until the greedy policy is as good as
it can be, beside plain Q-learning.

Q-learning is played from the same table, without the overhead of Gymnasium: rates (1 + n)^-0.6 by
the number of visits of a state and action, discount 1 - 1 / limit, values from 0 on, equal actions
by chance. It explores with probability 0.1 throughout, or with one that falls from 1 to 0.05 over
the first half of the episodes. Greedy policies are judged exactly, by the table.
"""

import itertools
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import phenes
from phenes.rl import tabular
from phenes.rl.tabular.evaluate import values_of
from phenes.rl.tabular.learners import horizon
from phenes_lab.driver import Progress, silent
from phenes_lab.report import grouped, rich_table, rows_as_json
from phenes_lab.settings import Checked

LOOK = 100  # episodes between two looks at the greedy policy of Q-learning
RATE = 0.6  # exponent of its learning rates: between 1/2 and 1, for which it converges
DISTINCT = 1e-12  # values closer than that are equal


class Task(NamedTuple):
    """target: at which the environment counts as solved. best: of the policies without a clock."""

    env: str
    options: dict[str, Any]
    target: float
    best: float


TASKS = {
    "Taxi-v4": Task("Taxi-v4", {}, 7.9, 7.93),
    "CliffWalking-v1": Task("CliffWalking-v1", {}, -13.0, -13.0),
    "FrozenLake-v1-8x8": Task("FrozenLake-v1", {"map_name": "8x8"}, 0.631, 0.6319),
    "FrozenLake8x8-v1": Task("FrozenLake8x8-v1", {}, 0.892, 0.8936),
}


@dataclass(frozen=True)
class TablesSettings(Checked):
    environments: tuple[str, ...] = tuple(TASKS)
    seeds: int = 10
    episodes: int = 50_000
    seed: int = 0

    def __post_init__(self):
        self.tuples()
        self.counts("seeds", "episodes")
        self.among("environments", TASKS)
        if self.episodes < LOOK:
            raise ValueError(f"episodes must be at least {LOOK}, got {self.episodes}")

    @classmethod
    def quick(cls) -> "TablesSettings":
        return cls(environments=("CliffWalking-v1",), seeds=2, episodes=1000)


@dataclass(frozen=True)
class TablesRow:
    """One contender on one task; reached: episodes until the target, None if never."""

    task: str
    contender: str
    reached: tuple[int | None, ...]
    seconds: tuple[float, ...]
    last: tuple[float, ...]


class Learnt(NamedTuple):
    """Values of the greedy policy, and after how many episodes."""

    values: np.ndarray
    episodes: np.ndarray


def ours(task: Task, seed: int, episodes: int) -> Learnt:
    """The default of `train`."""
    each = tabular.learners.POPSIZE
    out = phenes.rl.train(
        task.env, options=task.options, seed=seed, generations=episodes // each, progress=False
    )
    return Learnt(out.curve.deterministic, each * out.curve.at)


def q_learning(task: Task, seed: int, episodes: int, falls: bool = False) -> Learnt:
    """falls: the share of random actions falls; else it is 0.1."""
    table = tabular.load(task.env, **task.options).table
    limit, rng = horizon(table), np.random.default_rng(seed)
    learner = Learner(table, limit)
    policies = []
    for episode in range(episodes):
        share = max(0.05, 1 - 2 * episode / episodes) if falls else 0.1
        learner.play(rng, share)
        if (episode + 1) % LOOK == 0:
            policies.append(np.argmax(learner.values, axis=1))
    values = values_of(table, np.array(policies), limit)
    return Learnt(values, LOOK * np.arange(1, len(policies) + 1))


class Learner:
    """Plain Q-learning."""

    def __init__(self, table: tabular.Table, limit: int):
        self.values = np.zeros((table.states, table.actions))
        self.visits = np.zeros((table.states, table.actions))
        self.limit, self.discount, self.first = limit, 1 - 1 / limit, np.cumsum(table.start)
        self.edges = np.cumsum(table.probability, axis=-1).tolist()
        self.next, self.ends = table.next.tolist(), table.ends.tolist()
        self.reward = table.reward.tolist()

    def play(self, rng: np.random.Generator, share: float) -> None:
        """One episode, learning after every step."""
        actions = self.values.shape[1]
        state = min(int(np.searchsorted(self.first, rng.random(), "right")), len(self.next) - 1)
        draws = iter(rng.random((self.limit, 3)).tolist())
        for random, choice, chance in draws:
            own = self.values[state]
            action = int(choice * actions)
            if random >= share:
                best = np.flatnonzero(own >= own.max() - DISTINCT)
                action = int(best[int(choice * best.size)])
            edges = self.edges[state][action]
            k = next((i for i, edge in enumerate(edges) if chance < edge), len(edges) - 1)
            end, after = self.ends[state][action][k], self.next[state][action][k]
            worth = self.reward[state][action][k]
            if not end:
                worth += self.discount * self.values[after].max()
            self.visits[state, action] += 1
            own[action] += (worth - own[action]) * (1 + self.visits[state, action]) ** -RATE
            if end:
                return
            state = after


CONTENDERS = {
    "phenes": ours,
    "Q-learning, 0.1": q_learning,
    "Q-learning, falling": lambda task, seed, n: q_learning(task, seed, n, falls=True),
}


def run(settings: TablesSettings, progress: Progress = silent) -> list[TablesRow]:
    """One after the other: seconds count (of the processor, for others may use it)."""
    rows, pairs = [], list(itertools.product(settings.environments, CONTENDERS))
    for k, (name, contender) in enumerate(pairs):
        progress(k, len(pairs))
        rows.append(_row(settings, name, contender))
    progress(len(pairs), len(pairs))
    return rows


def _row(settings: TablesSettings, name: str, contender: str) -> TablesRow:
    reached: list[int | None] = []
    seconds: list[float] = []
    last: list[float] = []
    task = TASKS[name]
    for seed in range(settings.seed, settings.seed + settings.seeds):
        began = time.process_time()
        found = CONTENDERS[contender](task, seed, settings.episodes)
        seconds.append(time.process_time() - began)
        there = np.flatnonzero(found.values >= task.target - 1e-6)
        reached.append(int(found.episodes[there[0]]) if there.size else None)
        last.append(float(found.values[-1]))
    return TablesRow(name, contender, tuple(reached), tuple(seconds), tuple(last))


def table(rows: list[TablesRow]) -> Any:
    """For people, as a `rich` table."""
    return rich_table(
        ("environment", "contender", "episodes", "seeds", "at the end", "CPU seconds (most)"),
        grouped(rows, _task, _cells),
        "Episodes until the greedy policy has the target (median), and CPU of a whole run",
        left=2,
        caption="the first run of phenes compiles",
    )


def _task(row: TablesRow) -> str:
    return f"{row.task}, {TASKS[row.task].target:g} of {TASKS[row.task].best:g}"


def _cells(row: TablesRow) -> list[str]:
    there = [n for n in row.reached if n is not None]
    many = f"{np.median(there):.0f}" if 2 * len(there) > len(row.reached) else "-"
    span = f"{min(row.last):.4g} to {max(row.last):.4g}"
    whole = f"{np.median(row.seconds):.1f} ({max(row.seconds):.1f})"
    return [row.contender, many, f"{len(there)} of {len(row.reached)}", span, whole]


def as_json(rows: list[TablesRow]) -> dict[str, Any]:
    """solved: whether phenes has the target with every seed, by task."""
    mine = [row for row in rows if row.contender == "phenes"]
    return rows_as_json("tables", rows, solved={r.task: None not in r.reached for r in mine})
