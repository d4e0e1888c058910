"""Who wins: phenes against each rival, and against the best of them in hindsight.

Medians of the regret are compared over the seeds that both ran, for each problem and budget. A
regret below 1e-4 of a random theta's (the median of F over the box less its least) counts as that
level, so that two that are below it are equal. A ratio of at least 1.25 is a win, of at most 1/1.25
a loss, a tie between. The best rival is the one with the least median on this problem at this
budget: nobody could have chosen it beforehand.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from phenes_lab.bench.few.contenders import OURS, RIVALS
from phenes_lab.bench.few.problems import PROBLEMS
from phenes_lab.bench.few.results import FewResults
from phenes_lab.bench.few.settings import FAMILIES

SOLVED = 1e-4
MARGIN = 1.25
WIN, TIE, LOSS = "win", "tie", "loss"
COVERS = 2.0  # standard errors


class Duel(NamedTuple):
    """Medians of the regret over `seeds` common seeds. ratio: theirs over ours. stayed: of our
    answers, how many are x0.
    """

    problem: str
    budget: int
    who: str
    ours: float
    theirs: float
    seeds: int
    ratio: float
    stayed: int = 0

    @property
    def outcome(self) -> str:
        if self.ratio >= MARGIN:
            return WIN
        return LOSS if self.ratio <= 1 / MARGIN else TIE


class Tally(NamedTuple):
    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins} / {self.ties} / {self.losses}"


class Coverage(NamedTuple):
    """Of the answers of phenes: how many say E f within two standard errors.

    endless: with a standard error that is not finite, which covers anything; not among `covered`
    and `finite`. z: median of |fun - E f| / fun_se. successes: that say success. stayed: that are
    x0, for want of proof that another theta is better.
    """

    covered: int
    finite: int
    endless: int
    z: float
    successes: int
    stayed: int


def random_regret(problem: str) -> float:
    """Of a theta drawn from the box, the median."""
    optimum = PROBLEMS[problem].optimum
    return optimum["median"] - optimum["value"]


def level(problem: str) -> float:
    """Regrets below it are equal."""
    return SOLVED * random_regret(problem)


def ratio(ours: float, theirs: float, least: float) -> float:
    """Regret of a rival over ours, both at least `least`. An answer that is not finite is lost."""
    ours, theirs = (
        max(each, least) if math.isfinite(each) else math.inf for each in (ours, theirs)
    )
    if ours == theirs:
        return 1.0
    return theirs / ours if math.isfinite(ours) else 0.0


def duel(results: FewResults, problem: str, budget: int, who: str, ours: str = OURS) -> Duel | None:
    """None where they have no seed in common."""
    own, other = (results.at(problem, name, budget) for name in (ours, who))
    common = sorted(own.keys() & other.keys())
    if not common:
        return None
    a, b = (float(np.median([each[seed].regret for seed in common])) for each in (own, other))
    stayed = sum(own[seed].stayed for seed in common)
    return Duel(problem, budget, who, a, b, len(common), ratio(a, b, level(problem)), stayed)


def best_rival(results: FewResults, problem: str, budget: int) -> Duel | None:
    """The duel with the rival of the least median there; the first of those that are equal."""
    duels = [duel(results, problem, budget, name) for name in RIVALS]
    found = [each for each in duels if each is not None]
    least = level(problem)
    # clamped: among solved ones the number of seeds decides, not luck far below the level
    order = lambda each: (max(each.theirs, least), -each.seeds)  # noqa: E731
    return min(found, key=order, default=None)


def duels(results: FewResults, family: str, budget: int, who: str | None = None) -> list[Duel]:
    """On all problems of a family; who None: the best rival of each."""
    problems = [name for name in FAMILIES[family] if name in results.rows]
    found = [
        best_rival(results, name, budget) if who is None else duel(results, name, budget, who)
        for name in problems
    ]
    return [each for each in found if each is not None]


def tally(duels: Sequence[Duel]) -> Tally:
    outcomes = [each.outcome for each in duels]
    return Tally(*(outcomes.count(what) for what in (WIN, TIE, LOSS)))


def needed(results: FewResults, problem: str, contender: str, target: float) -> float:
    """Evaluations after which the median regret is at most `target`, and stays so at the next
    budgets that were run; on straight lines in logarithms between budgets. Infinite if never.
    """
    curve = medians(results, problem, contender)
    least = level(problem)
    regret = np.maximum([value for _, value in curve], least)
    below = regret <= max(target, least)
    if not below.size or not below[-1]:
        return math.inf
    k = int(np.max(np.flatnonzero(~below), initial=-1)) + 1
    if k == 0:
        return float(curve[0][0])
    x0, x1 = np.log([curve[k - 1][0], curve[k][0]])
    y0, y1 = np.log(regret[k - 1 : k + 1])
    return float(np.exp(x0 + (x1 - x0) * (math.log(max(target, least)) - y0) / (y1 - y0)))


def medians(results: FewResults, problem: str, contender: str) -> list[tuple[int, float]]:
    """(budget, median regret), by budget."""
    return [
        (budget, float(np.median(regrets)))
        for budget in results.budgets
        if (regrets := results.regrets(problem, contender, budget)).size
    ]


def coverage(results: FewResults, family: str, budget: int, contender: str = OURS) -> Coverage:
    rows = [
        row
        for problem in FAMILIES[family]
        for row in results.at(problem, contender, budget).values()
    ]
    stated = [row for row in rows if math.isfinite(row.fun_se)]
    # E f is known with an error of its own
    errors = np.array([math.hypot(row.fun_se, row.truth_se) for row in stated])
    away = np.array([abs(row.fun - row.truth) for row in stated])
    z = away / np.maximum(errors, 1e-300)
    return Coverage(
        int(np.sum(z <= COVERS)),
        len(stated),
        len(rows) - len(stated),
        float(np.median(z)) if stated else math.nan,
        sum(row.success == 1 for row in rows),
        sum(row.stayed for row in rows),
    )
