"""The rows, for people and for programs."""

from typing import Any

from phenes_lab.bench.estimators.rows import BASELINE, EstimatorsRow, Ratio
from phenes_lab.report import rich_table, rows_as_json


def table(rows: list[EstimatorsRow]) -> Any:
    """For people, as a `rich` table."""
    lines: list[list[str] | None] = []
    previous = None
    for row in rows:
        cell = (row.noise, row.family, str(row.dim), f"{row.ratio:g}")
        if previous not in (None, cell):
            lines.append(None)
        lines.append(
            [*_texts(row)[:1], *(cell if cell != previous else ("",) * 4), *_texts(row)[1:]]
        )
        previous = cell
    columns = ("estimator", "noise", "search", "d", "C/S", "score, mean", "score, spread")
    more = ("estimate, mean", "estimate, spread", "bias²/|g|², mean and spread", "agrees")
    title = (
        "Variances relative to phenotype (second moment of one score; variance of a weighted"
        " estimate), with standard errors"
    )
    caption = "theory in brackets; agrees: within 4 standard errors of it"
    return rich_table((*columns, *more), lines, title, left=3, caption=caption)


def _texts(row: EstimatorsRow) -> list[str]:
    ratios = (row.score_mean, row.score_spread, row.estimate_mean, row.estimate_spread)
    biases = (row.bias_mean, row.bias_spread)
    # silent where there is nothing to see; the numbers of all estimators are in the JSON
    visible = row.biased or any(b.value > 4 * b.se + 1e-9 for b in biases)
    bias = ", ".join(f"{b.value:.3f} ±{b.se:.1g}" for b in biases) if visible else ""
    verdict = {None: "", True: "yes", False: "NO"}[row.agrees]
    return [row.estimator + (" (biased)" if row.biased else ""), *map(_text, ratios), bias, verdict]


def _text(ratio: Ratio | None) -> str:
    if ratio is None:
        return "-"
    expected = "" if ratio.theory is None else f" [{ratio.theory:.4g}]"
    # rich reads [..] as markup unless the bracket is escaped
    return f"{ratio.value:.4g} ±{ratio.se:.1g}" + expected.replace("[", "\\[")


def as_json(rows: list[EstimatorsRow]) -> dict[str, Any]:
    """`agrees` is computed, null where theory says nothing."""
    checked = [row.agrees for row in rows if row.agrees is not None]
    out = rows_as_json(
        "estimators", rows, baseline=BASELINE, checked=len(checked), agreed=sum(checked)
    )
    for row, plain in zip(rows, out["rows"], strict=True):
        plain |= {"biased": row.biased, "agrees": row.agrees}
    return out
