"""Results -> rows of tables, for the terminal and for the report."""

import math
from typing import Any

import numpy as np

from phenes_lab.bench.few import scoring
from phenes_lab.bench.few.contenders import CONTENDERS, DEFAULT, OURS, RIVALS
from phenes_lab.bench.few.results import FewResults
from phenes_lab.bench.few.scoring import LOSS, Duel
from phenes_lab.bench.few.settings import FAMILIES
from phenes_lab.report import number, quartiles, rich_table

BEST = "best rival in hindsight"
ORDER = ("held-out", "tuning")


def families(results: FewResults) -> list[str]:
    return [family for family in ORDER if set(FAMILIES[family]) & set(results.rows)]


def opponents(results: FewResults) -> list[str]:
    """The rivals, and the other engines of phenes."""
    return [name for name in (*RIVALS, DEFAULT, "phenes-gp") if name in results.contenders]


def wins(results: FewResults, family: str) -> list[list[str]]:
    """A row for each opponent and one for the best: wins / ties / losses at each budget, with the
    seeds behind them.
    """
    lines = []
    for name in [None, *opponents(results)]:
        cells = [_tally(scoring.duels(results, family, n, name)) for n in results.budgets]
        lines.append([name or BEST, *cells])
    return lines


def _tally(duels: list[Duel]) -> str:
    if not duels:
        return "-"
    seeds = sorted({duel.seeds for duel in duels})
    span = str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]}-{seeds[-1]}"
    return f"{scoring.tally(duels)} ({span})"


def absent(results: FewResults, family: str, budget: int) -> list[str]:
    """Rivals that ran, but on no problem of the family at this budget."""
    return [
        name
        for name in RIVALS
        if name in results.contenders and not scoring.duels(results, family, budget, name)
    ]


def losses(results: FewResults, family: str, budget: int) -> list[Duel]:
    """Against the best rival, the worst first."""
    found = [d for d in scoring.duels(results, family, budget) if d.outcome == LOSS]
    return sorted(found, key=lambda each: each.ratio)


def regrets(results: FewResults, family: str, budget: int) -> tuple[list[str], list[list[str]]]:
    """Median and quartiles, a row for each problem and a column for each contender."""
    names = [
        name
        for name in CONTENDERS
        if any(results.at(problem, name, budget) for problem in FAMILIES[family])
    ]
    rows = []
    for problem in (name for name in FAMILIES[family] if name in results.rows):
        cells = [_regret(results.regrets(problem, name, budget)) for name in names]
        rows.append([problem, number(scoring.level(problem), 2), *cells])
    return ["problem", "equal below", *names], rows


def _regret(values: np.ndarray) -> str:
    if not values.size:
        return "-"
    low, middle, high = quartiles(values)
    if values.size == 1:
        return number(middle, 2)
    return f"{number(middle, 2)} ({number(low, 2)} to {number(high, 2)})"


def evaluations(results: FewResults, family: str) -> tuple[list[str], list[list[str]]]:
    """For the regret of the evolution strategy at each budget, and the reverse."""
    budgets = [n for n in results.budgets if any(results.at(p, DEFAULT, n) for p in results.rows)]
    head = ["problem", *(f"as {DEFAULT} at {n}" for n in budgets)]
    head += [f"{DEFAULT}: as {OURS} at {n}" for n in budgets]
    rows = []
    for problem in (name for name in FAMILIES[family] if name in results.rows):
        cells = []
        for who, other in ((OURS, DEFAULT), (DEFAULT, OURS)):
            curve = scoring.medians(results, problem, who)
            targets = dict(scoring.medians(results, problem, other))
            cells += [_needed(results, problem, who, curve, targets.get(n)) for n in budgets]
        rows.append([problem, *cells])
    return head, rows


def _needed(
    results: FewResults, problem: str, who: str, curve: list[tuple[int, float]], target: Any
) -> str:
    if target is None or not curve:
        return "-"
    count = scoring.needed(results, problem, who, target)
    if not math.isfinite(count):
        return f"> {curve[-1][0]}"
    return f"<= {curve[0][0]}" if count <= curve[0][0] else f"{count:.0f}"


def times(results: FewResults) -> list[list[str]]:
    """CPU milliseconds of an ask: median over runs of the median, the mean and the worst ask."""
    lines = []
    for name in results.contenders:
        cells = []
        for n in results.budgets:
            rows = [row for p in results.rows for row in results.at(p, name, n).values()]
            each = [
                np.median([getattr(row, what) for row in rows]) if rows else math.nan
                for what in ("milliseconds", "average")
            ]
            worst = max((row.worst for row in rows), default=math.nan)
            cells.append(" / ".join(number(float(v), 2) for v in (*each, worst)) if rows else "-")
        lines.append([name, *cells])
    return lines


COVERAGE = (
    "problems",
    "budget",
    "contender",
    "covered",
    "share",
    "|z|",
    "without fun_se",
    "success",
    "x0 itself",
)


def covered(results: FewResults) -> list[list[str]]:
    """Rows under COVERAGE."""
    lines = []
    for family in families(results):
        for name in (OURS, DEFAULT):
            for n in results.budgets:
                c = scoring.coverage(results, family, n, name)
                if c.finite + c.endless:
                    share = f"{c.covered / c.finite:.0%}" if c.finite else "-"
                    said = [f"{c.covered} of {c.finite}", share, number(c.z, 2), str(c.endless)]
                    total = c.finite + c.endless
                    said += [f"{c.successes} of {total}", f"{c.stayed} of {total}"]
                    lines.append([family, str(n), name, *said])
    return lines


def table(results: FewResults) -> Any:
    """For the terminal."""
    lines: list[list[str] | None] = []
    for family in families(results):
        rows = wins(results, family)
        lines += [None, *([family if k == 0 else "", *row] for k, row in enumerate(rows))]
    return rich_table(
        ["problems", f"{OURS} against", *map(str, results.budgets)],
        lines,
        "Wins / ties / losses (seeds) by the median regret after so many evaluations",
        left=2,
        caption=f"win: a regret {scoring.MARGIN} times smaller; equal below {scoring.SOLVED:g} of a"
        " random theta's",
    )
