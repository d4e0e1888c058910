"""store -> regrets against evaluations, and how many more a rival takes.

A rival has reached a regret at the first look at which its median over seeds is not above it, even
if it loses it again: inner Monte Carlo wanders once its steps are within the noise of its values.
The ratio is its evaluations there over those of phenes, for the median regret that phenes has at a
budget; a rival that never gets there has a ratio of more than its last look suggests.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phenes.store import Store
from phenes_lab.bench.risk.contenders import OURS
from phenes_lab.bench.risk.settings import RiskSettings
from phenes_lab.driver import Loaded, last, parts_of

NAME = "risk"


class Curve(NamedTuple):
    """Evaluations at the looks [k], and regrets [seeds, k]."""

    at: np.ndarray
    regrets: np.ndarray

    @property
    def median(self) -> np.ndarray:
        return np.median(self.regrets, axis=0)


class Claim(NamedTuple):
    """What phenes said of its answers [n]: how many, successes, and successes that cover."""

    runs: int
    successes: int
    covered: int


class Ratio(NamedTuple):
    """Evaluations of a rival over `budget` of phenes to the regret that phenes has there."""

    problem: str
    rival: str
    budget: int
    regret: float
    times: float
    reached: bool


@dataclass(frozen=True)
class RiskResults(Loaded):
    curves: dict[str, dict[str, Curve]]  # by problem and contender
    claims: dict[str, Claim]

    @property
    def ratios(self) -> list[Ratio]:
        return [
            ratio(problem, name, budget, float(target), curve)
            for problem, curves in self.curves.items()
            if OURS in curves
            for budget, target in zip(curves[OURS].at, curves[OURS].median, strict=True)
            for name, curve in curves.items()
            if name != OURS
        ]


def ratio(problem: str, rival: str, budget: int, target: float, curve: Curve) -> Ratio:
    there = curve.at[curve.median <= target]
    at = there[0] if there.size else curve.at[-1]
    return Ratio(problem, rival, int(budget), target, float(at / budget), bool(there.size))


def load(store: Store) -> RiskResults:
    """Of the last run, also if it is not complete."""
    run, loaded = last(store, NAME, RiskSettings)
    parts = {part.key: part for part in loaded.settings.parts}
    found: dict[str, dict[str, dict[int, list[dict[str, np.ndarray]]]]] = {}
    for key, arrays in parts_of(run, parts).items():
        part = parts[key]
        runs = found.setdefault(part.problem, {}).setdefault(part.contender, {})
        runs.setdefault(part.budget, []).append(arrays)
    curves = {
        problem: {name: _curve(runs) for name, runs in named.items()}
        for problem, named in found.items()
    }
    claims = {
        problem: _claim([each for runs in named[OURS].values() for each in runs])
        for problem, named in found.items()
        if OURS in named
    }
    return RiskResults(**vars(loaded), curves=curves, claims=claims)


def _curve(runs: dict[int, list[dict[str, np.ndarray]]]) -> Curve:
    """One run with looks for each seed, or one for each budget and seed."""
    pieces = []
    for _, several in sorted(runs.items()):
        k = min(each["at"].size for each in several)
        regrets = np.array([each["regret"][:k] for each in several])
        pieces.append((several[0]["at"][:k], regrets))
    seeds = min(len(regrets) for _, regrets in pieces)
    return Curve(
        np.concatenate([at for at, _ in pieces]),
        np.concatenate([regrets[:seeds] for _, regrets in pieces], axis=1),
    )


def _claim(runs: list[dict[str, np.ndarray]]) -> Claim:
    said = [(*each["claim"], float(each["truth"])) for each in runs]
    good = [(fun, se, truth) for fun, se, success, truth in said if success]
    covered = sum(abs(fun - truth) <= 2 * se for fun, se, truth in good)
    return Claim(len(said), len(good), int(covered))
