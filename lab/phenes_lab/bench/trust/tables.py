"""Rows -> shares of what went right and wrong, who has less regret, and a table of it for the
terminal.
"""

import math
import statistics
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from phenes_lab.bench.trust.contenders import CLAIM
from phenes_lab.bench.trust.truth import TrustRow
from phenes_lab.report import rich_table

FLOOR = 1e-12  # of fun_se / scale: exact claims would have minus infinity for a logarithm
TIE = 1e-6  # of the scale: less regret than that is none
SHARES = ("covered", "no_claim", "worse", "failing", "impossible", "wrong", "over", "success")


def figures(rows: list[TrustRow]) -> dict[str, Any]:
    """Shares in per cent, medians and means, of runs that make claims."""
    claims = [row for row in rows if not row.no_claim]
    return {
        "n": len(rows),
        **{name: 100 * _mean(getattr(row, name) for row in rows) for name in SHARES},
        "raised": sum(bool(row.error) for row in rows),
        "z": _median(abs(row.z) for row in claims),
        "width": _mean(math.log10(max(row.fun_se / row.scale, FLOOR)) for row in claims),
        "seconds": _mean(row.seconds for row in rows),
    }


def groups(rows: list[TrustRow], key: Callable[[TrustRow], Any]) -> dict[Any, list[TrustRow]]:
    """In the order in which they come."""
    out: dict[Any, list[TrustRow]] = {}
    for row in rows:
        out.setdefault(key(row), []).append(row)
    return out


def claimants(rows: list[TrustRow]) -> list[str]:
    return [name for name in CLAIM if any(row.contender == name for row in rows)]


def rivals(rows: list[TrustRow]) -> list[str]:
    return [name for name in groups(rows, lambda row: row.contender) if name not in CLAIM]


def misses(rows: list[TrustRow]) -> list[TrustRow]:
    """Runs of which something was said, or done, that is not so."""
    return [
        r
        for r in rows
        if r.contender in CLAIM
        and (not r.covered or r.worse or r.failing or r.impossible or r.wrong or r.over or r.error)
    ]


def regrets(rows: list[TrustRow]) -> dict[tuple[str, int, str], float]:
    """Median over seeds of regret / scale, by problem, budget and contender.

    Regret is over the best that is known of the instance: by any contender at any budget, or by
    mathematics.
    """
    best = {
        key: _least(of) for key, of in groups(rows, lambda row: (row.problem, row.seed)).items()
    }
    of = groups(rows, lambda row: (row.problem, row.budget, row.contender))
    return {
        key: _median(max(row.value - best[row.problem, row.seed], 0.0) / row.scale for row in each)
        for key, each in of.items()
    }


def at_least_as_good(rows: list[TrustRow], ours: str, rival: str) -> float:
    """Per cent of the pairs of problem and budget with a median regret not above the rival's; NaN
    if they never met.
    """
    regret = regrets(rows)
    met = [
        (value, regret[p, b, rival])
        for (p, b, c), value in regret.items()
        if c == ours and (p, b, rival) in regret
    ]
    return 100 * _mean(a <= b + TIE for a, b in met)


def _least(rows: list[TrustRow]) -> float:
    known = [value for row in rows for value in (row.value, row.reference) if not math.isnan(value)]
    return min(known, default=math.nan)


def _mean(values: Iterable[float]) -> float:
    values = list(values)
    return float(np.mean(values)) if values else math.nan


def _median(values: Iterable[float]) -> float:
    values = list(values)
    return float(statistics.median(values)) if values else math.nan


HEAD = {
    "n": "n",
    "covered": "covered",
    "no_claim": "no claim",
    "worse": "worse",
    "failing": "failing",
    "impossible": "impossible",
    "wrong": "wrong",
    "over": "over",
    "success": "success",
    "z": "abs z",
    "width": "log10 se",
}
CAPTION = (
    "wrong: success was said; over: the budget; abs z: median; ≤: problems and budgets with a"
    " median regret not above that rival's"
)


def cells(rows: list[TrustRow]) -> list[str]:
    """Under HEAD."""
    of = figures(rows)
    return [_shown(name, of[name]) for name in HEAD]


def against(rows: list[TrustRow], ours: str) -> list[str]:
    """One for each rival, under `rivals`."""
    return [_shown("rival", at_least_as_good(rows, ours, rival)) for rival in rivals(rows)]


def _shown(name: str, value: float) -> str:
    if isinstance(value, float) and math.isnan(value):
        return ""
    if value > 999 and name == "z":
        return "> 999"
    if name == "n":
        return str(value)
    return f"{value:.2f}" if name in ("z", "width") else f"{value:.1f}"


def table(rows: list[TrustRow]) -> Any:
    """For the terminal: by family, and all of them, for `minimize` and for ask and tell."""
    others, lines = rivals(rows), []
    for ours in claimants(rows):
        for family, of in groups(rows, lambda row: row.family).items():
            less = against(of, ours)
            padding = [""] * (len(others) - len(less))
            lines.append([family, *cells(by(of, ours)), *less, *padding])
        lines += [None, [ours, *cells(by(rows, ours)), *against(rows, ours)], None]
    title = (
        f"{len(rows)} runs; per cent, but for n, z and the mean of log10 of fun_se by the spread of"
        " f around the start"
    )
    columns = ("family", *HEAD.values(), *(f"≤ {rival}" for rival in others))
    return rich_table(columns, lines, title, caption=CAPTION)


def by(rows: list[TrustRow], contender: str) -> list[TrustRow]:
    return [row for row in rows if row.contender == contender]
