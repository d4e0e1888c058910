"""Environments that the defaults of `phenes train` were not chosen on, beside ES with the same
number of episodes.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from phenes.rl import rollouts
from phenes.rl.training import Settings as Training
from phenes.store import Store
from phenes_lab import driver
from phenes_lab.report import (
    CLEARLY,
    Claim,
    Document,
    difference,
    finite,
    mean_se,
    number,
    plus_minus,
    summary_head,
    verdict,
)
from phenes_lab.reproduce.control.compute import learnt
from phenes_lab.reproduce.control.results import One, one_run
from phenes_lab.reproduce.control.settings import METHODS as CONTROL
from phenes_lab.settings import Checked

EXPERIMENT = "untuned"
METHODS = ("ES", "default")  # of `control.METHODS`


@dataclass(frozen=True)
class HeldOutSettings(Checked):
    """episodes: of every run in the environment of the same place."""

    environments: tuple[str, ...] = (
        "Acrobot-v1",
        "MountainCarContinuous-v0",
        "HalfCheetah-v5",
        "Hopper-v5",
    )
    episodes: tuple[int, ...] = (4000, 4000, 4000, 8000)
    seeds: int = 2
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
        return cls(environments=("Acrobot-v1", "Hopper-v5"), episodes=(200, 200), seeds=1)


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
    return learnt(environment, made, generations, settings.seed + int(number), None)


@dataclass(frozen=True)
class HeldOutResults(driver.Loaded):
    """runs: by environment that both methods played, and by method. thresholds: returns at which
    environments say that they are solved.
    """

    settings: HeldOutSettings
    runs: dict[str, dict[str, list[One]]]
    thresholds: dict[str, float | None]


def load(store: Store) -> HeldOutResults:
    run, loaded = driver.last(store, EXPERIMENT, HeldOutSettings)
    settings, there = loaded.settings, run.keys()
    thresholds = {env: rollouts.spaces(env).threshold for env in settings.environments}
    runs = {}
    for env, threshold in thresholds.items():
        target = math.inf if threshold is None else threshold
        parts = {
            m: [f"{env}/{m}/{k}" for k in range(settings.seeds) if f"{env}/{m}/{k}" in there]
            for m in METHODS
        }
        if all(parts.values()):  # what is there of one method alone says nothing
            runs[env] = {
                m: [one_run(run[name], target, True) for name in names]
                for m, names in parts.items()
            }
    return HeldOutResults(**vars(loaded), runs=runs, thresholds=thresholds)


def report(results: HeldOutResults, out: Path) -> tuple[Path, Path]:
    document = Document("Environments that the defaults were not chosen on")
    document.text(
        f"phenes {results.version}. Every run in an environment has the same number of episodes,"
        " whatever its population. The return is that of the mean policy with its best actions: 10"
        " episodes along the way, 100 fresh ones at the end."
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
        threshold = results.thresholds[env]
        for method, runs in methods.items():
            ends = ", ".join(number(one.value, 4) for one in runs)
            firsts = ", ".join(number(one.episodes, 4) for one in runs)
            solved = "-" if threshold is None else f"{threshold:g}"
            seconds = ", ".join(f"{one.seconds[-1]:.0f}" for one in runs)
            budget = str(results.settings.budget(env))
            rows.append([env, method, CONTROL[method].about, budget, ends, solved, firsts, seconds])
    head = ["environment", "method", "what it is", "episodes", "return at the end, by seed"]
    head += ["solved at", "episodes until then", "seconds"]
    document.table(head, rows)


def claims(results: HeldOutResults) -> list[Claim]:
    return [_beside(env, runs) for env, runs in results.runs.items()]


def _beside(env: str, runs: dict[str, list[One]]) -> Claim:
    es, ours = (np.array([one.value for one in runs[method]]) for method in METHODS)
    d = difference(es, ours)
    return Claim(
        f"{env}: the default learns more than ES from the same number of episodes",
        f"return of the mean policy at the end, {ours.size} seeds: ES {plus_minus(*mean_se(es))},"
        f" default {plus_minus(*mean_se(ours))}, {d}",
        f"holds: {CLEARLY}; partly: by the mean",
        verdict(d.above, bool(d.value > 0), seeds=d.n),
    )


def summary(results: HeldOutResults) -> dict[str, Any]:
    """What is worth keeping in a few kilobytes of JSON."""
    return {
        **summary_head(EXPERIMENT, results, claims(results)),
        "environments": {
            env: {m: _numbers(runs[m]) for m in runs} for env, runs in results.runs.items()
        },
    }


def _numbers(runs: list[One]) -> dict[str, Any]:
    return {
        "values": [finite(one.value) for one in runs],
        "first_episodes": [finite(one.episodes) for one in runs],
        "generations": [one.population.size for one in runs],
        "popsize": runs[0].popsize,
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
        picture = Figure(figsize=(4 * n, 4.2), layout="constrained")
        titled(picture, "Return of the mean policy with its best actions; each line is a seed")
        for ax, (env, methods) in zip(
            picture.subplots(1, n, squeeze=False)[0], results.runs.items(), strict=True
        ):
            for method, runs in methods.items():
                for k, one in enumerate(runs):
                    x, y = series(one, "episodes", True)
                    label = LABELS[method] if k == 0 else None
                    ax.plot(x, y, color=COLOURS[method], linewidth=1.4, label=label)
            threshold = results.thresholds[env]
            if threshold is not None:
                ax.axhline(threshold, color=INK, linestyle=":", linewidth=1, label="solved")
            ax.set(xlabel="episodes", title=env)
            ax.legend(loc="best", fontsize=8)
        picture.axes[0].set_ylabel("return")
    return [save(picture, out / "untuned-learning.png")]
