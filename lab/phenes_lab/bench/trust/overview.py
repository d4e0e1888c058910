"""Rows -> a table for the terminal and a summary for machines."""

import math
from typing import Any

from phenes_lab.bench.trust.execute import plain
from phenes_lab.bench.trust.scores import Row
from phenes_lab.bench.trust.summary import (
    at_least_as_good,
    claimants,
    figures,
    groups,
    misses,
    rivals,
)

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


def cells(rows: list[Row]) -> list[str]:
    """Under HEAD."""
    of = figures(rows)
    return [_shown(name, of[name]) for name in HEAD]


def against(rows: list[Row], ours: str) -> list[str]:
    """One for each rival, under `rivals`."""
    return [_shown("rival", at_least_as_good(rows, ours, rival)) for rival in rivals(rows)]


def _shown(name: str, value: float) -> str:
    if isinstance(value, float) and math.isnan(value):
        return ""
    if value > 999 and name == "z":
        return "> 999"
    return (
        str(value) if name == "n" else f"{value:.2f}" if name in ("z", "width") else f"{value:.1f}"
    )


def table(rows: list[Row]) -> Any:
    """For people, as a `rich` table: for each door of phenes by family, and all of them."""
    from rich.table import Table

    others = rivals(rows)
    title = (
        f"{len(rows)} runs; per cent, but for n, z and the mean of log10 of fun_se by the spread of"
        " f around the start"
    )
    out = Table(title=title, caption=CAPTION)
    out.add_column("family", no_wrap=True)
    for name in (*HEAD.values(), *(f"≤ {rival}" for rival in others)):
        out.add_column(name, justify="right")
    for ours in claimants(rows):
        for family, of in groups(rows, lambda row: row.family).items():
            out.add_row(family, *cells(_of(of, ours)), *_padded(against(of, ours), others))
        out.add_section()
        out.add_row(ours, *cells(_of(rows, ours)), *against(rows, ours), style="bold")
        out.add_section()
    return out


def _of(rows: list[Row], contender: str) -> list[Row]:
    return [row for row in rows if row.contender == contender]


def _padded(texts: list[str], others: list[str]) -> list[str]:
    return texts + [""] * (len(others) - len(texts))


def as_json(rows: list[Row]) -> dict[str, Any]:
    """Plain numbers and strings; the rows themselves are in the file, here are those that went
    wrong.
    """
    return {
        "benchmark": "trust",
        "runs": len(rows),
        "contenders": {name: _numbers(rows, name) for name in claimants(rows)},
        "misses": [
            {key: value for key, value in plain(row).items() if key != "x"} for row in misses(rows)
        ],
    }


def _numbers(rows: list[Row], ours: str) -> dict[str, Any]:
    of = _of(rows, ours)
    return {
        **_rounded(figures(of)),
        "not_above": _rounded(
            {rival: at_least_as_good(rows, ours, rival) for rival in rivals(rows)}
        ),
        "families": {
            key: _rounded(figures(each)) for key, each in groups(of, lambda row: row.family).items()
        },
        "budgets": {
            str(key): _rounded(figures(each))
            for key, each in sorted(groups(of, lambda row: row.budget).items())
        },
        "problems": {
            key: _rounded(figures(each))
            for key, each in groups(of, lambda row: row.problem).items()
        },
    }


def _rounded(of: dict[str, Any]) -> dict[str, Any]:
    return {name: _number(value) for name, value in of.items()}


def _number(value: float) -> float | None:
    if isinstance(value, int):
        return value
    return None if math.isnan(value) else float(f"{value:.6g}")
