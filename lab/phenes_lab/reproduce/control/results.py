"""store -> numbers. Everything that figures and reports say is computed here or from what is
returned here.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phenes.store import Store
from phenes_lab import driver
from phenes_lab.reproduce.control.settings import RIVALS, ControlSettings


class One(NamedTuple):
    """A run. population: mean return by generation; mean_policy: of the mean policy, at the
    generations `at`. seconds: since the start, without compilation.

    first: the first generation at the target, infinite if never. value: of the mean policy that was
    kept, the last or an earlier one that looked better, on 100 fresh episodes.
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
    steps: np.ndarray = np.zeros(0, int)  # of the environment, by generation, where they were kept

    @property
    def episodes(self) -> float:
        """To the target."""
        return self.first * self.popsize

    @property
    def lately(self) -> float:
        """Of the mean policy in the last tenth of the generations, kept or not: the mean of its
        looks, or the last of them.
        """
        late = self.mean_policy[self.at > 0.9 * self.population.size]
        return float(np.mean(late if late.size else self.mean_policy[-1:]))

    @property
    def clock(self) -> float:
        """Seconds to the target, without compilation."""
        return float(self.seconds[int(self.first) - 1]) if math.isfinite(self.first) else math.inf


@dataclass(frozen=True)
class ControlResults(driver.Loaded):
    """The last run of a store, in memory; by method the runs that are there."""

    settings: ControlSettings
    name: str  # cartpole, pendulum or swimmer
    runs: dict[str, list[One]]

    def firsts(self, method: str) -> np.ndarray:
        return np.array([one.first for one in self.runs[method]])

    def median_first(self, method: str) -> float:
        return float(np.median(self.firsts(method)))

    def reached(self, method: str) -> int:
        return int(np.isfinite(self.firsts(method)).sum())

    def solved(self, method: str) -> int:
        """Seeds that got there; where runs stop at the target, with a proof on 100 episodes."""
        proved = sum(one.proved for one in self.runs[method])
        return proved if self.stops else self.reached(method)

    @property
    def stops(self) -> bool:
        """Runs stop at the target, with a proof: a look of 10 episodes may be luck."""
        return self.settings.by_mean_policy and not self.settings.keep_on

    def values(self, method: str) -> np.ndarray:
        return np.array([one.value for one in self.runs[method]])

    def lately(self, method: str) -> np.ndarray:
        return np.array([one.lately for one in self.runs[method]])

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


def load(store: Store) -> ControlResults:
    name = store.runs()[-1].experiment
    run, loaded = driver.last(store, name, ControlSettings)
    settings, runs = loaded.settings, {}
    for key, part in driver.parts_of(run, settings.parts).items():
        one = one_run(part, settings.target, settings.by_mean_policy)
        runs.setdefault(key.rpartition("/")[0], []).append(one)
    runs = {method: runs[method] for method in settings.methods if method in runs}
    return ControlResults(**vars(loaded), name=name, runs=runs)


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
    steps = part.get("steps", np.zeros(0, int))
    value, proved = float(part["value"]), bool(part["solved"])
    return One(*curves, int(part["popsize"]), value, first, proved, steps)


def without_compilation(seconds: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The generations before the second look, in which programs were compiled or were not, count as
    long as those after it.
    """
    if at.size < 3:
        return seconds
    (second, third), generation = seconds[at[1:3] - 1], np.arange(1, seconds.size + 1)
    each = (third - second) / (at[2] - at[1])
    return np.where(generation <= at[1], each * generation, seconds - second + each * at[1])
