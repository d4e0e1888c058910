"""Rows -> a table for the terminal."""

import math
from typing import Any

from phenes_lab.bench.trust.scores import TrustRow
from phenes_lab.bench.trust.summary import at_least_as_good, claimants, figures, groups, rivals
from phenes_lab.report import rich_table

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
