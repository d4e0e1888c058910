"""The default of `phenes train` beside augmented random search: episodes to a return.

On environments that the default was chosen on, and on others that were put aside before.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from phenes.rl import rollouts
from phenes.rl.training import Settings as Training
from phenes.store import Store
from phenes_lab import driver
from phenes_lab.report import (
    Claim,
    Document,
    finite,
    number,
    summary_head,
    verdict,
)
from phenes_lab.reproduce.control.compute import learnt
from phenes_lab.reproduce.control.results import One, one_run
from phenes_lab.reproduce.control.settings import METHODS as CONTROL
from phenes_lab.settings import Checked

EXPERIMENT = "untuned"
METHODS = ("ARS", "default")  # of `control.METHODS`
NEAR = 1.5  # times as many episodes as the rival are not much worse
COLUMNS = 4  # of panels in the picture


class Task(NamedTuple):
    """targets: returns of the mean policy. tuned: the default was chosen on it."""

    targets: tuple[float, ...]
    tuned: bool = False


TASKS = {
    "HalfCheetah-v5": Task((1500.0, 3000.0), tuned=True),
    "Hopper-v5": Task((1000.0, 2500.0), tuned=True),
    "Swimmer-v5": Task((325.0,), tuned=True),
    "Walker2d-v5": Task((1000.0,)),
    "InvertedPendulum-v5": Task((950.0,)),
    "InvertedDoublePendulum-v5": Task((9000.0,), tuned=True),
    "MountainCarContinuous-v0": Task((90.0,), tuned=True),  # the search was made to widen on it
    "LunarLander-v3": Task((200.0,)),
    "LunarLanderContinuous-v3": Task((200.0,)),  # needs Box2D
}


def task(environment: str) -> Task:
    """What is asked of an environment; of one that is not in the list, its own threshold."""
    if environment in TASKS:
        return TASKS[environment]
    threshold = rollouts.spaces(environment).threshold
    return Task((math.inf if threshold is None else threshold,))


@dataclass(frozen=True)
class HeldOutSettings(Checked):
    """episodes: at most, of every run in the environment of the same place. A run ends where its
    mean policy keeps the last target on 100 episodes.
    """

    environments: tuple[str, ...] = (
        "MountainCarContinuous-v0",
        "InvertedDoublePendulum-v5",
        "InvertedPendulum-v5",
        "Hopper-v5",
        "Swimmer-v5",
        "Walker2d-v5",
        "HalfCheetah-v5",
    )
    episodes: tuple[int, ...] = (2000, 2000, 1000, 2000, 1000, 2000, 1000)
    seeds: int = 5
    seed: int = 2026  # added to the number of the run

    def __post_init__(self):
        self.tuples()
        self.counts("seeds")
        if len(self.environments) != len(self.episodes):
            raise ValueError(
                f"episodes must be one number for each of {len(self.environments)} environments,"
                f" got {self.episodes}"
            )

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(
            f"{env}/{method}/{k}"
            for k in range(self.seeds)
            for env in self.environments
            for method in METHODS
        )

    def budget(self, environment: str) -> int:
        return self.episodes[self.environments.index(environment)]

    @classmethod
    def quick(cls) -> "HeldOutSettings":
        """A minute or two, to see that it works."""
        return cls(
            environments=("MountainCarContinuous-v0", "Hopper-v5"), episodes=(200, 200), seeds=1
        )


def tasks(settings: HeldOutSettings) -> dict[str, str]:
    for environment in settings.environments:
        # without gymnasium or mujoco this says so, here and not in every process
        rollouts.spaces(environment)
    return {name: name for name in settings.parts}


def cost(settings: HeldOutSettings, name: str) -> float:
    return settings.budget(name.split("/")[0]) / 1000


def compute(settings: HeldOutSettings, name: str) -> dict[str, np.ndarray]:
    jax.config.update("jax_enable_x64", False)  # as `phenes train` does it
    environment, method, number = name.split("/")
    made = CONTROL[method].build(rollouts.spaces(environment))
    assert isinstance(made, Training)  # of the methods here
    generations = max(1, settings.budget(environment) // made.popsize)
    target = max(task(environment).targets)
    return learnt(environment, made, generations, settings.seed + int(number), target)


@dataclass(frozen=True)
class HeldOutResults(driver.Loaded):
    """runs: by environment that both methods played, and by method, of the seeds that both have."""

    settings: HeldOutSettings
    runs: dict[str, dict[str, list[One]]]


def load(store: Store) -> HeldOutResults:
    run, loaded = driver.last(store, EXPERIMENT, HeldOutSettings)
    settings, there = loaded.settings, run.keys()
    runs = {}
    for env in settings.environments:
        last = max(task(env).targets)
        both = [k for k in range(settings.seeds) if all(f"{env}/{m}/{k}" in there for m in METHODS)]
        if both:  # what is there of one method alone says nothing
            runs[env] = {
                m: [one_run(run[f"{env}/{m}/{k}"], last, True) for k in both] for m in METHODS
            }
    return HeldOutResults(**vars(loaded), runs=runs)


def to_target(one: One, target: float) -> float:
    """Episodes until a look at the mean policy saw this return; infinite if none did.

    A run may also end without such a look: where its population is at the last target, 100 episodes
    of the mean policy decide. They count as a look at all targets.
    """
    there = one.at[np.flatnonzero(one.mean_policy >= target)]
    if there.size:
        return float(there[0] * one.popsize)
    return float(one.population.size * one.popsize) if one.proved else math.inf


def steps_to(one: One, target: float) -> float:
    """Steps of the environment that were learnt from until then."""
    episodes = to_target(one, target)
    if math.isinf(episodes):
        return math.inf
    return float(one.steps[: round(episodes / one.popsize)].sum())


def report(results: HeldOutResults, out: Path) -> tuple[Path, Path]:
    document = Document("The default beside augmented random search")
    document.text(
        f"phenes {results.version}. Episodes of learning until the mean policy, with its best"
        " actions, returns the target: mean of 10 episodes, about every 100 episodes. A run ends"
        " when the last target holds on 100 episodes, which are played where such a look or the"
        " mean of the population is there, or with its budget. Random search has the"
        " settings published for each environment, the default one setting for all; it was chosen"
        " on those called tuned, and the others were put aside before."
    )
    document.claims(claims(results))
    document.heading("Learning")
    document.figure(Path("untuned-learning.png"), "Return of the mean policy by episodes.")
    _table(document, results)
    document.sessions(results.sessions, "runs")
    return document.write(out)


def _table(document: Document, results: HeldOutResults) -> None:
    rows = []
    for env, methods in results.runs.items():
        kind = "tuned" if task(env).tuned else "held out"
        for target in task(env).targets:
            for method, runs in methods.items():
                firsts = sorted(to_target(one, target) for one in runs)
                each = ", ".join(_count(first) for first in firsts)
                missed = f"{sum(math.isinf(first) for first in firsts)} of {len(firsts)}"
                ends = ", ".join(number(one.value, 4) for one in runs)
                seconds = number(float(np.median([one.seconds[-1] for one in runs])), 3)
                budget = str(results.settings.budget(env))
                row = [env, kind, f"{target:g}", method, _count(float(np.median(firsts))), each]
                row.append(_count(float(np.median([steps_to(one, target) for one in runs]))))
                rows.append([*row, missed, ends, seconds, budget])
    head = ["environment", "", "target", "method", "episodes, median", "each seed, sorted"]
    head += [
        "environment steps, median",
        "not reached",
        "return at the end, by seed",
        "seconds of a run",
        "budget",
    ]
    document.table(head, rows)


def _count(episodes: float) -> str:
    return f"{episodes:.0f}" if math.isfinite(episodes) else "never"


def claims(results: HeldOutResults) -> list[Claim]:
    return [
        _beside(env, target, runs)
        for env, runs in results.runs.items()
        for target in task(env).targets
        if math.isfinite(target)
    ]


def _beside(env: str, target: float, runs: dict[str, list[One]]) -> Claim:
    rival, ours = (np.array([to_target(one, target) for one in runs[m]]) for m in METHODS)
    theirs, own = float(np.median(rival)), float(np.median(ours))
    fails = int(np.isinf(ours).sum() - np.isinf(rival).sum())
    kind = "tuned" if task(env).tuned else "held out"
    return Claim(
        f"{env} ({kind}): the default needs fewer episodes to {target:g} than random search",
        f"median of {ours.size} seeds: {_count(theirs)} and {_count(own)}; not reached by"
        f" {int(np.isinf(rival).sum())} and {int(np.isinf(ours).sum())} seeds",
        f"holds: fewer, and no more seeds fail; partly: at most {NEAR:g} times as many, or neither"
        " gets there in the median",
        verdict(own < theirs and fails <= 0, own <= NEAR * theirs, seeds=ours.size),
    )


def summary(results: HeldOutResults) -> dict[str, Any]:
    """What is worth keeping in a few kilobytes of JSON."""
    return {
        **summary_head(EXPERIMENT, results, claims(results)),
        "environments": {
            env: {m: _numbers(env, runs[m]) for m in runs} for env, runs in results.runs.items()
        },
    }


def _numbers(env: str, runs: list[One]) -> dict[str, Any]:
    return {
        "values": [finite(one.value) for one in runs],
        "episodes_to": {
            f"{target:g}": [finite(to_target(one, target)) for one in runs]
            for target in task(env).targets
        },
        "generations": [one.population.size for one in runs],
        "popsize": runs[0].popsize,
        "steps": [int(one.steps.sum()) for one in runs],
        "seconds": [finite(float(one.seconds[-1])) for one in runs],
    }


def figures(results: HeldOutResults, out: Path) -> list[Path]:
    """Returns of the mean policy by episodes, one line for each run."""
    import matplotlib
    from matplotlib.figure import Figure

    from phenes.plots import INK, STYLE, save
    from phenes_lab.palette import titled
    from phenes_lab.reproduce.control.figures import COLOURS, LABELS, series

    with matplotlib.rc_context(STYLE):
        n = len(results.runs)
        columns = min(n, COLUMNS)
        rows = -(-n // columns)
        picture = Figure(figsize=(3.6 * columns, 3.4 * rows + 0.6), layout="constrained")
        titled(picture, "Return of the mean policy with its best actions; each line is a seed")
        axes = picture.subplots(rows, columns, squeeze=False)
        for ax in axes.flat[n:]:
            ax.set_axis_off()
        for ax, (env, methods) in zip(axes.flat, results.runs.items(), strict=False):
            for method, runs in methods.items():
                for k, one in enumerate(runs):
                    x, y = series(one, "episodes", True)
                    label = LABELS[method] if k == 0 else None
                    # points as well: a run may end at its first look
                    ax.plot(x, y, "o-", ms=3, color=COLOURS[method], lw=1.4, label=label)
            for target in filter(math.isfinite, task(env).targets):
                ax.axhline(target, color=INK, linestyle=":", linewidth=1)
            ax.set(xlabel="episodes", title=env)
        picture.axes[0].legend(loc="best", fontsize=8)
        for ax in axes[:, 0]:
            ax.set_ylabel("return")
    return [save(picture, out / "untuned-learning.png")]
