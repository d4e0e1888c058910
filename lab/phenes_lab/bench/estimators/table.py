"""The rows, for people and for programs."""

from dataclasses import asdict
from typing import Any

from phenes_lab.bench.estimators.rows import BASELINE, Ratio, Row


def table(rows: list[Row]) -> Any:
    """For people, as a `rich` table."""
    from rich.table import Table

    title = (
        "Variances relative to phenotype (second moment of one score; variance of a weighted"
        " estimate), with standard errors"
    )
    out = Table(title=title, caption="theory in brackets; agrees: within 4 standard errors of it")
    for name in (
        "noise",
        "search",
        "d",
        "C/S",
        "estimator",
        "score, mean",
        "score, spread",
        "estimate, mean",
        "estimate, spread",
    ):
        out.add_column(
            name, justify="left" if name in ("noise", "search", "estimator") else "right"
        )
    out.add_column("bias²/|g|², mean and spread", justify="right")
    out.add_column("agrees")
    previous = None
    for row in rows:
        cell = (row.noise, row.family, str(row.dim), f"{row.ratio:g}")
        if previous not in (None, cell):
            out.add_section()
        out.add_row(
            *(cell if cell != previous else ("",) * 4),
            *_texts(row),
            style="red" if row.agrees is False else None,
        )
        previous = cell
    return out


def _texts(row: Row) -> list[str]:
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


def as_json(rows: list[Row]) -> dict[str, Any]:
    """Plain numbers and strings; `agrees` is computed, null where theory says nothing."""
    checked = [row.agrees for row in rows if row.agrees is not None]
    return {
        "benchmark": "estimators",
        "baseline": BASELINE,
        "checked": len(checked),
        "agreed": sum(checked),
        "rows": [asdict(row) | {"biased": row.biased, "agrees": row.agrees} for row in rows],
    }
