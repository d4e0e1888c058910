"""store -> numbers. Everything that figures and reports say is computed here or from what is
returned here.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from phenes.store import Store
from phenes_lab import driver
from phenes_lab.report import mean_se
from phenes_lab.reproduce.control.settings import METHODS, RIVALS, Settings


class One(NamedTuple):
    """A run. population: mean return by generation; mean_policy: of the mean policy, at the
    generations `at`. seconds: since the start, without compilation.

    first: the first generation at the target, infinite if never. value: of the mean policy that was
    kept, on 100 fresh episodes.
    """

    population: np.ndarray
    at: np.ndarray
    mean_policy: np.ndarray
    signal: np.ndarray
    seconds: np.ndarray
    popsize: int
    value: float
    first: float
    proved: bool = False  # at the target on 100 episodes, where the run then stopped

    @property
    def episodes(self) -> float:
        """To the target."""
        return self.first * self.popsize

    @property
    def clock(self) -> float:
        """Seconds to the target, without compilation."""
        return float(self.seconds[int(self.first) - 1]) if math.isfinite(self.first) else math.inf


@dataclass(frozen=True)
class Results:
    """The last run of a store, in memory; by method the runs that are there."""

    settings: Settings
    version: str
    status: str
    runs: dict[str, list[One]]
    sessions: list[driver.Session]

    def firsts(self, method: str) -> np.ndarray:
        return np.array([one.first for one in self.runs[method]])

    def median_first(self, method: str) -> float:
        return float(np.median(self.firsts(method)))

    def reached(self, method: str) -> int:
        return int(np.isfinite(self.firsts(method)).sum())

    def solved(self, method: str) -> int:
        """Seeds that got there; where runs stop at the target, with a proof on 100 episodes."""
        stops = self.settings.by_mean_policy and not self.settings.keep_on
        return sum(one.proved for one in self.runs[method]) if stops else self.reached(method)

    def values(self, method: str) -> np.ndarray:
        return np.array([one.value for one in self.runs[method]])

    def episodes(self, method: str) -> float:
        """To the target, the median over seeds."""
        return float(np.median([one.episodes for one in self.runs[method]]))

    def best_rival(self) -> str | None:
        """The setting of evosax with the fewest episodes to the target, and of those that never get
        there the one with the best end.
        """
        there = [name for name in self.runs if name in RIVALS]
        return min(
            there,
            key=lambda name: (self.episodes(name), -float(np.mean(self.values(name)))),
            default=None,
        )

    def shown(self) -> dict[str, list[One]]:
        """Of evosax only its best."""
        return {
            name: runs
            for name, runs in self.runs.items()
            if name not in RIVALS or name == self.best_rival()
        }


def name(store: Store) -> str:
    """Of the last experiment in there: cartpole, pendulum, swimmer."""
    return store.runs()[-1].experiment


def load(store: Store) -> Results:
    run = store.last(name(store))
    settings, seconds = Settings.from_stored(run.about.settings), run.seconds()
    names = {
        m: [f"{m}/{k}" for k in range(settings.seeds) if f"{m}/{k}" in seconds]
        for m in settings.methods
    }
    there = {
        m: [one_run(run[n], settings.target, settings.by_mean_policy) for n in parts]
        for m, parts in names.items()
        if parts
    }
    return Results(settings, run.about.version, run.about.status, there, driver.sessions(run))


def one_run(part: dict[str, np.ndarray], target: float, by_mean_policy: bool) -> One:
    """From what is stored of a run."""
    seen, when = (
        (part["deterministic"], part["at"])
        if by_mean_policy
        else (part["mean"], np.arange(1, part["mean"].size + 1))
    )
    there = np.flatnonzero(seen >= target)
    first = float(when[there[0]]) if there.size else math.inf
    curves = (
        part["mean"],
        part["at"],
        part["deterministic"],
        part["signal"],
        without_compilation(part["seconds"], part["at"]),
    )
    return One(*curves, int(part["popsize"]), float(part["value"]), first, bool(part["solved"]))


def without_compilation(seconds: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The generations before the second look, in which programs were compiled or were not, count as
    long as those after it.
    """
    if at.size < 3:
        return seconds
    (second, third), generation = seconds[at[1:3] - 1], np.arange(1, seconds.size + 1)
    each = (third - second) / (at[2] - at[1])
    return np.where(generation <= at[1], each * generation, seconds - second + each * at[1])


def summary(store: Store) -> dict[str, Any]:
    """What is worth keeping in a few kilobytes of JSON."""
    from phenes_lab.reproduce.control.claims import claims

    results = load(store)
    return {
        "experiment": name(store),
        "version": results.version,
        "status": results.status,
        "settings": vars(results.settings),
        "sessions": [session._asdict() for session in results.sessions],
        "claims": [vars(claim) for claim in claims(results)],
        "methods": {method: _numbers(results, method) for method in results.runs},
    }


def _numbers(results: Results, method: str) -> dict[str, Any]:
    runs = results.runs[method]
    return {
        "about": METHODS[method].about,
        "seeds": len(runs),
        "first": [finite(v) for v in results.firsts(method)],
        "median_first": finite(results.median_first(method)),
        "episodes": finite(results.episodes(method)),
        "seconds": finite(float(np.median([one.clock for one in runs]))),
        "reached": results.reached(method),
        "solved": results.solved(method),
        "value": [finite(v) for v in mean_se(results.values(method))],
        "values": [finite(v) for v in results.values(method)],
        "generations": [one.population.size for one in runs],
    }


def finite(value: float, digits: int = 4) -> float | None:
    """JSON has no word for infinity or NaN."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None
