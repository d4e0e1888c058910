"""store -> numbers. Everything that figures and reports say is computed here or from what is
returned here.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from phenes import problems
from phenes.store import Store
from phenes_lab.driver import Loaded, last, parts_of
from phenes_lab.report import Difference, difference, holm, mean_se, plus_minus, sign_test
from phenes_lab.reproduce.bbob.settings import EXPERIMENT, LANDSCAPE, METHODS, BbobSettings, Part


@dataclass(frozen=True)
class BbobResults(Loaded):
    """The last run of a store, in memory. parts: arrays by (function, method); those not run yet
    are not there.
    """

    settings: BbobSettings
    parts: dict[tuple[int, str], dict[str, np.ndarray]]
    landscapes: dict[int, dict[str, np.ndarray]]
    # seconds of a core for all parts of a method, compilation and F included
    cost: dict[str, float]

    def final(self, function: int, method: str, what: str = "F_mean") -> np.ndarray:
        """At the last generation, by seed."""
        return self.parts[function, method][what][:, -1]

    def functions(self, *methods: str) -> list[int]:
        """Those on which all of these methods were run."""
        return [
            f for f in sorted(self.settings.functions) if all((f, m) in self.parts for m in methods)
        ]

    def methods(self, function: int, among: Iterable[str] = METHODS) -> list[str]:
        return [m for m in among if (function, m) in self.parts]

    def gap(self, function: int, method: str, what: str = "F_mean") -> str:
        """At the end, mean and standard error as text."""
        return plus_minus(*mean_se(self.final(function, method, what)))

    def against(self, function: int, a: str, b: str, what: str = "F_mean") -> Difference:
        """b minus a: negative where b ends lower."""
        return difference(self.final(function, a, what), self.final(function, b, what))

    def name(self, function: int) -> str:
        return problems.bbob(function, self.settings.dim, self.settings.instance).name


def load(store: Store) -> BbobResults:
    run, loaded = last(store, EXPERIMENT, BbobSettings)
    there = parts_of(run, (part.key for part in loaded.settings.parts))
    every = {part: there[part.key] for part in loaded.settings.parts if part.key in there}
    parts = {tuple(part): every[part] for part in every if part.method != LANDSCAPE}
    landscapes = {part.function: every[part] for part in every if part.method == LANDSCAPE}
    each, cost = run.seconds(), dict.fromkeys(METHODS, 0.0)
    for function, method in parts:
        cost[method] += each[Part(function, method).key]
    return BbobResults(**vars(loaded), parts=parts, landscapes=landscapes, cost=cost)


@dataclass(frozen=True)
class Score:
    """b against a over the functions that both ran: how often the mean is lower, and how often
    clearly so, by Welch's test. Wins are what is claimed: they are those that stay after Holm's
    correction for so many functions. Losses are counted without it.
    """

    n: int
    wins: int
    losses: int
    p: float
    clear_wins: tuple[int, ...]
    clear_losses: tuple[int, ...]


def score(results: BbobResults, a: str, b: str, what: str = "F_mean") -> Score:
    each = {f: results.against(f, a, b, what) for f in results.functions(a, b)}
    wins, losses = (sum(sign * d.value > 0 for d in each.values()) for sign in (-1, 1))
    stays = holm([d.p for d in each.values()])
    clear_wins = tuple(f for (f, d), s in zip(each.items(), stays, strict=True) if s and d.below)
    clear_losses = tuple(f for f, d in each.items() if d.above)
    return Score(len(each), wins, losses, sign_test(wins, losses), clear_wins, clear_losses)


def reached(
    results: BbobResults, function: int, method: str, target: float, what: str = "f_mean"
) -> np.ndarray:
    """By seed, the generation from which on the gap is below the target; infinite if never.
    Straight lines in logarithms.
    """
    part = results.parts[function, method]
    return np.array([_crossing(part["generations"], curve, target) for curve in part[what]])


def _crossing(generations: np.ndarray, curve: np.ndarray, target: float) -> float:
    above = np.flatnonzero(~(curve < target))
    if above.size == 0:
        return float(generations[0])
    k = int(above[-1])
    if k == curve.size - 1:
        return math.inf
    x0, x1 = np.log(generations[k : k + 2])
    y0, y1 = np.log(np.maximum(curve[k : k + 2], 1e-300))
    if y1 >= y0:
        return float(generations[k + 1])
    return float(np.exp(x0 + (x1 - x0) * (math.log(target) - y0) / (y1 - y0)))


def seconds(results: BbobResults, method: str) -> np.ndarray:
    """Seconds of a run, averaged over seeds, by function."""
    return np.array(
        [np.mean(results.parts[f, method]["seconds"]) for f in results.functions(method)]
    )
