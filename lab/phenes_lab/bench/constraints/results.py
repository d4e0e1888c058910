"""store -> answers by problem, probability, budget and contender.

An answer is feasible if its exact probability is at least p. Regret: E f at the answer less the
least E f that p allows, as a share of what the limit costs; the median of the feasible answers
only, since one that violates the limit pays nothing for it. The lower bound holds if the exact
probability is not below it; a success is false if the answer is not feasible.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phenes.store import Store
from phenes_lab.bench.constraints.settings import ConstraintsSettings
from phenes_lab.driver import Loaded, last, parts_of

NAME = "constraints"


class Where(NamedTuple):
    problem: str
    p: float
    budget: int
    contender: str


@dataclass(frozen=True)
class Cell:
    """Of each seed: exact probability, regret, claimed lower bound and success (NaN: no claim)."""

    p: float
    probability: np.ndarray
    regret: np.ndarray
    lower: np.ndarray
    success: np.ndarray

    @property
    def feasible(self) -> np.ndarray:
        return self.probability >= self.p

    @property
    def median(self) -> float:
        """Regret of the feasible answers; NaN without one."""
        return float(np.median(self.regret[self.feasible])) if self.feasible.any() else np.nan

    @property
    def claims(self) -> bool:
        return bool(np.isfinite(self.success).any())

    @property
    def bound_holds(self) -> int:
        return int(np.sum(self.lower <= self.probability))

    @property
    def successes(self) -> int:
        return int(np.sum(self.success == 1))

    @property
    def false_successes(self) -> int:
        return int(np.sum((self.success == 1) & ~self.feasible))


@dataclass(frozen=True)
class ConstraintsResults(Loaded):
    cells: dict[Where, Cell]


def load(store: Store) -> ConstraintsResults:
    """Of the last run, also if it is not complete."""
    run, loaded = last(store, NAME, ConstraintsSettings)
    parts = {part.key: part for part in loaded.settings.parts}
    found: dict[Where, list[dict[str, np.ndarray]]] = {}
    for key, arrays in parts_of(run, parts).items():
        part = parts[key]
        where = Where(part.problem, part.p, part.budget, part.contender)
        found.setdefault(where, []).append(arrays)
    cells = {
        where: _cell(where.p, found[where]) for where in _all(loaded.settings) if where in found
    }
    return ConstraintsResults(**vars(loaded), cells=cells)


def _all(settings: ConstraintsSettings) -> Iterator[Where]:
    """In the order of the settings."""
    of = (settings.problems, settings.probabilities, settings.budgets, settings.contenders)
    return itertools.starmap(Where, itertools.product(*of))


def _cell(p: float, runs: list[dict[str, np.ndarray]]) -> Cell:
    names = ("probability", "regret", "lower", "success")
    return Cell(p, *(np.array([float(each[name]) for each in runs]) for name in names))
