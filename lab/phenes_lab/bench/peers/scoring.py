"""Who wins: phenes against the best of its rivals, target by target, then one verdict for each
function.

At every target the rival with the fewest evaluations (median over seeds) stands for all of them:
nobody could have chosen it beforehand. A target that only one side reached counts with twice the
budget for the other; one that neither reached, or that the measurement of F cannot resolve, does
not count. The speed-up on a function is the geometric mean over its targets and instances of
evaluations of the best rival / evaluations of phenes: above 1.1 a win, below 1/1.1 a loss, a tie
between. Where a target is reached by some seeds only, the median turns on a single seed, and the
best of many rivals is the luckiest of them; the same is therefore counted by expected running time
too, which is all evaluations spent on the target over the number of seeds that reached it.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phenes_lab.bench.peers.results import TARGETS, PeersResults
from phenes_lab.bench.peers.settings import Problem, held_out
from phenes_lab.contenders import CONTENDERS, OURS, RIVALS

MARGIN = 1.1
PENALTY = 2.0
WIN, TIE, LOSS, NONE = "win", "tie", "loss", "none"


class Group(NamedTuple):
    """Problems of one table."""

    dim: int
    sigma: float
    held_out: bool

    @property
    def name(self) -> str:
        kind = "held-out" if self.held_out else "tuning"
        return f"d = {self.dim}, sigma = {self.sigma:g}, {kind} instances"


class Duel(NamedTuple):
    """One target of one problem: evaluations of phenes and of the best rival, infinite if not
    reached.
    """

    problem: Problem
    target: int
    ours: float
    best: float
    who: str
    ratio: float


class Measure(NamedTuple):
    """How the runs of one contender become one number: typical(times [targets, seeds], budget);
    never(budget, seeds) for infinity.
    """

    name: str
    typical: Callable[[np.ndarray, int], np.ndarray]
    never: Callable[[int, int], float]


def _expected(times: np.ndarray, budget: int) -> np.ndarray:
    """Of a run that is started again until it succeeds."""
    reached = np.sum(np.isfinite(times), axis=1)
    return np.where(
        reached > 0, np.sum(np.minimum(times, budget), axis=1) / np.maximum(reached, 1), np.inf
    )


MEDIAN = Measure(
    "median", lambda times, budget: np.median(times, axis=1), lambda budget, seeds: PENALTY * budget
)
# as if one seed had succeeded with its last evaluation
EXPECTED = Measure("expected running time", _expected, lambda budget, seeds: float(budget * seeds))


@dataclass(frozen=True)
class Verdict:
    """On one function. unresolved: targets that were dropped because F is not known well enough."""

    function: int
    duels: tuple[Duel, ...]
    unresolved: int

    @property
    def speedup(self) -> float:
        if not self.duels:
            return math.nan
        return math.exp(np.mean([math.log(duel.ratio) for duel in self.duels]))

    @property
    def verdict(self) -> str:
        return outcome(self.speedup)


@dataclass(frozen=True)
class Table:
    """One group against some rivals."""

    group: Group
    rivals: tuple[str, ...]
    verdicts: tuple[Verdict, ...]

    def count(self, what: str) -> int:
        return sum(v.verdict == what for v in self.verdicts)

    def of(self, what: str) -> list[int]:
        return [v.function for v in self.verdicts if v.verdict == what]

    @property
    def speedup(self) -> float:
        """Geometric mean over functions."""
        return self.speedup_without()

    def speedup_without(self, *functions: int) -> float:
        """The same, some functions left out: a model is exact on f1, which can carry the mean."""
        each = [
            math.log(v.speedup) for v in self.verdicts if v.duels and v.function not in functions
        ]
        return math.exp(np.mean(each)) if each else math.nan

    @property
    def duels(self) -> tuple[int, int, int]:
        """Targets won, tied and lost."""
        all_ = [outcome(duel.ratio) for v in self.verdicts for duel in v.duels]
        return all_.count(WIN), all_.count(TIE), all_.count(LOSS)


def outcome(ratio: float) -> str:
    if math.isnan(ratio):
        return NONE
    if ratio > MARGIN:
        return WIN
    return LOSS if ratio < 1 / MARGIN else TIE


def group_of(problem: Problem) -> Group:
    return Group(problem.dim, problem.sigma, held_out(problem.instance))


def groups(results: PeersResults) -> list[Group]:
    return sorted({group_of(p) for p in results.problems if OURS in results.parts[p]})


def problems_of(results: PeersResults, group: Group) -> list[Problem]:
    return [p for p in results.problems if group_of(p) == group]


def table(
    results: PeersResults, group: Group, rivals: Collection[str] = RIVALS, measure: Measure = MEDIAN
) -> Table:
    problems = [
        p
        for p in problems_of(results, group)
        if OURS in results.parts[p] and set(rivals) & set(results.parts[p])
    ]
    present = tuple(
        name
        for name in CONTENDERS
        if name in rivals and any(name in results.parts[p] for p in problems)
    )
    verdicts = [
        _verdict(results, [p for p in problems if p.function == f], present, measure)
        for f in sorted({p.function for p in problems})
    ]
    return Table(group, present, tuple(verdicts))


def _verdict(
    results: PeersResults, problems: Sequence[Problem], rivals: Sequence[str], measure: Measure
) -> Verdict:
    duels = [duel for problem in problems for duel in _duels(results, problem, rivals, measure)]
    unresolved = sum(int(np.sum(~results.resolved(problem))) for problem in problems)
    return Verdict(problems[0].function, tuple(duels), unresolved)


def _duels(
    results: PeersResults, problem: Problem, rivals: Sequence[str], measure: Measure
) -> list[Duel]:
    present = [name for name in rivals if name in results.parts[problem]]
    budget = results.budget(problem)
    mine, *others = (results.times(problem, name) for name in (OURS, *present))
    never = measure.never(budget, mine.shape[1])
    ours = measure.typical(mine, budget)
    theirs = np.array([measure.typical(times, budget) for times in others])
    duels = []
    for k in np.flatnonzero(results.resolved(problem)):
        first = int(np.argmin(theirs[:, k]))
        own, best = float(ours[k]), float(theirs[first, k])
        if math.isfinite(best) or math.isfinite(own):
            who = present[first] if math.isfinite(best) else ""
            duels.append(Duel(problem, int(k), own, best, who, min(best, never) / min(own, never)))
    return duels


def solved(results: PeersResults, group: Group, peer: str, evaluations: np.ndarray) -> np.ndarray:
    """The share of (function, instance, target, seed) reached within so many evaluations for each
    dimension.
    """
    times = [
        results.times(p, peer)[results.resolved(p)].ravel() / p.dim
        for p in problems_of(results, group)
        if peer in results.parts[p]
    ]
    every = np.sort(np.concatenate(times)) if times else np.zeros(0)
    return np.searchsorted(every, evaluations, side="right") / max(every.size, 1)


def overheads(results: PeersResults, dim: int) -> dict[str, float]:
    """Seconds of ask and tell for each evaluation, median over problems and seeds."""
    each: dict[str, list[float]] = {}
    for problem in (p for p in results.problems if p.dim == dim):
        for name in results.peers(problem):
            each.setdefault(name, []).extend(results.parts[problem][name]["overhead"].tolist())
    return {name: float(np.median(values)) for name, values in each.items()}


TARGET_NAMES = tuple(f"1e{round(math.log10(target))}" for target in TARGETS)
