"""Rows -> report.md, report.html and a summary."""

import operator
from pathlib import Path
from typing import Any

from phenes_lab.bench.trust.figures import PICTURE
from phenes_lab.bench.trust.settings import TrustSettings
from phenes_lab.bench.trust.tables import (
    HEAD,
    against,
    at_least_as_good,
    by,
    cells,
    claimants,
    figures,
    groups,
    misses,
    regrets,
    rivals,
)
from phenes_lab.bench.trust.truth import TrustRow
from phenes_lab.report import Document, finite

ABOUT = (
    "Each run: one instance of a problem, drawn by its seed, and a budget. The truth at the answer"
    " is the mean of {draws} draws, the same random numbers for all. Covered: fun is within two of"
    " its standard errors and two of the truth's; where draws fail, of their mean without failures"
    " or with failures at the worst value around the start. No claim: an infinite standard error,"
    " which covers. Worse: E f, with failures priced, above the start by over five standard errors"
    " and one per cent of the spread. Failing: over half of the draws at the answer fail, and not"
    " at the start. Impossible: fun outside of what f can be. Wrong: success was said, and it is"
    " off by over three standard errors and not covered. log10 se: mean of log10 of fun_se by the"
    " standard deviation of f around the start. ≤: share of the pairs of problem and budget with a"
    " median regret over seeds not above the rival's, ties included. Shares are in per cent."
)


def report(rows: list[TrustRow], settings: TrustSettings, out: Path) -> tuple[Path, Path]:
    """Writes it; the picture is in `out` already."""
    document = Document("Can the answer be trusted?")
    document.text(
        f"{len(settings.problems)} problems, budgets {', '.join(map(str, settings.budgets))},"
        f" {settings.seeds} seeds from {settings.seed}."
    )
    document.text(ABOUT.format(draws=settings.draws))
    for ours in claimants(rows):
        _tables(document, rows, ours)
    document.figure(Path(PICTURE), "Coverage by family, and z beside the normal law")
    _regrets(document, rows)
    _misses(document, rows)
    return document.write(out)


def _tables(document: Document, rows: list[TrustRow], ours: str) -> None:
    of = by(rows, ours)
    head = [*HEAD.values(), *(f"≤ {rival}" for rival in rivals(rows))]
    document.heading(ours)
    document.table(["", *head], [["all", *cells(of), *against(rows, ours)]])
    for name in ("family", "budget", "problem"):
        key = operator.attrgetter(name)
        every, mine = groups(rows, key), groups(of, key)
        order = sorted(mine) if name == "budget" else list(mine)
        lines = [[_label(name, mine[k]), *cells(mine[k]), *against(every[k], ours)] for k in order]
        document.heading(f"By {name}", level=3)
        document.table([name, *head], lines)


def _label(name: str, rows: list[TrustRow]) -> str:
    return (
        f"{rows[0].problem} (d = {rows[0].dim})"
        if name == "problem"
        else str(getattr(rows[0], name))
    )


def _regrets(document: Document, rows: list[TrustRow]) -> None:
    regret, names = regrets(rows), list(groups(rows, lambda row: row.contender))
    lines = []
    for problem, budget in groups(rows, lambda row: (row.problem, row.budget)):
        each = [regret.get((problem, budget, name)) for name in names]
        lines.append(
            [problem, str(budget), *("" if value is None else f"{value:.2g}" for value in each)]
        )
    document.heading("Regret")
    document.text("Medians over seeds, in standard deviations of f around the start.")
    document.table(["problem", "budget", *names], lines)


def _misses(document: Document, rows: list[TrustRow]) -> None:
    wrong = misses(rows)
    document.heading("What went wrong")
    document.text(f"{len(wrong)} runs.")
    if wrong:
        head = "problem,budget,seed,fun,fun_se,truth,its se,failing,with failures,z,what,success"
        document.table(["", *head.split(",")], [_miss(row) for row in wrong])


def _miss(r: TrustRow) -> list[str]:
    key = [r.contender, r.problem, str(r.budget), str(r.seed)]
    claim = [f"{r.fun:.6g}", f"{r.fun_se:.2g}", f"{r.truth:.6g}", f"{r.truth_se:.1g}"]
    numbers = [f"{r.share:.1%}", f"{r.value:.6g}", f"{r.z:.3g}"]
    return [*key, *claim, *numbers, _what(r), str(r.success)]


def _what(row: TrustRow) -> str:
    said = {
        "not covered": not row.covered,
        "worse": row.worse,
        "failing": row.failing,
        "impossible": row.impossible,
        "wrong": row.wrong,
        "over budget": row.over,
        row.error: bool(row.error),
    }
    return "; ".join(name for name, so in said.items() if so).replace("|", "/").replace("\n", " ")


def summary(rows: list[TrustRow]) -> dict[str, Any]:
    """Plain numbers and strings; the rows themselves are in the file, here are those that went
    wrong.
    """
    return {
        "benchmark": "trust",
        "runs": len(rows),
        "contenders": {name: _numbers(rows, name) for name in claimants(rows)},
        "misses": [
            {key: value for key, value in vars(row).items() if key != "x"} for row in misses(rows)
        ],
    }


def _numbers(rows: list[TrustRow], ours: str) -> dict[str, Any]:
    of = by(rows, ours)

    def parts(name: str) -> dict[Any, dict[str, Any]]:
        every = groups(of, operator.attrgetter(name))
        return {key: _rounded(figures(each)) for key, each in every.items()}

    less = {rival: at_least_as_good(rows, ours, rival) for rival in rivals(rows)}
    return {
        **_rounded(figures(of)),
        "not_above": _rounded(less),
        "families": parts("family"),
        "budgets": {str(key): each for key, each in sorted(parts("budget").items())},
        "problems": parts("problem"),
    }


def _rounded(of: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, int) else finite(value, 6) for name, value in of.items()
    }
