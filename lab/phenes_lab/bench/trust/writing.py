"""Rows -> report.md."""

from pathlib import Path

from phenes.plots import save
from phenes_lab.bench.trust.execute import Settings
from phenes_lab.bench.trust.overview import HEAD, against, cells
from phenes_lab.bench.trust.pictures import PICTURE, picture
from phenes_lab.bench.trust.scores import Row
from phenes_lab.bench.trust.summary import claimants, groups, misses, regrets, rivals

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


def report(rows: list[Row], settings: Settings, out: Path) -> Path:
    """Writes it and its picture; tells where."""
    save(picture(rows), out / PICTURE)
    counts = (
        f"{len(settings.problems)} problems, budgets {', '.join(map(str, settings.budgets))},"
        f" {settings.seeds} seeds from {settings.seed}"
    )
    parts = ["# Can the answer be trusted?", counts + ".", ABOUT.format(draws=settings.draws)]
    for ours in claimants(rows):
        parts += _tables(rows, ours)
    parts += [
        f"![Coverage by family, and z beside the normal law]({PICTURE})",
        *_regrets(rows),
        *_misses(rows),
    ]
    path = out / "report.md"
    path.write_text("\n\n".join(parts) + "\n")
    return path


def _tables(rows: list[Row], ours: str) -> list[str]:
    of = [row for row in rows if row.contender == ours]
    others = [f"≤ {rival}" for rival in rivals(rows)]
    parts = [
        f"## {ours}",
        _table(["", *HEAD.values(), *others], [["all", *cells(of), *against(rows, ours)]]),
    ]
    keys = {
        "family": lambda row: row.family,
        "budget": lambda row: row.budget,
        "problem": lambda row: row.problem,
    }
    for name, key in keys.items():
        every, mine = groups(rows, key), groups(of, key)
        order = sorted(mine) if name == "budget" else list(mine)
        lines = [[_label(name, mine[k]), *cells(mine[k]), *against(every[k], ours)] for k in order]
        parts += [f"### By {name}", _table([name, *HEAD.values(), *others], lines)]
    return parts


def _label(name: str, rows: list[Row]) -> str:
    return (
        f"{rows[0].problem} (d = {rows[0].dim})"
        if name == "problem"
        else str(getattr(rows[0], name))
    )


def _regrets(rows: list[Row]) -> list[str]:
    """Medians over seeds, in standard deviations of f around the start."""
    regret, names = regrets(rows), list(groups(rows, lambda row: row.contender))
    lines = [
        [
            problem,
            str(budget),
            *(
                f"{regret[problem, budget, name]:.2g}" if (problem, budget, name) in regret else ""
                for name in names
            ),
        ]
        for problem, budget in groups(rows, lambda row: (row.problem, row.budget))
    ]
    return ["## Regret", _regrets.__doc__ or "", _table(["problem", "budget", *names], lines)]


def _misses(rows: list[Row]) -> list[str]:
    wrong = misses(rows)
    lines = [
        [r.contender, r.problem, str(r.budget), str(r.seed), *_numbers(r), _what(r), str(r.success)]
        for r in wrong
    ]
    head = [
        "",
        "problem",
        "budget",
        "seed",
        "fun",
        "fun_se",
        "truth",
        "its se",
        "failing",
        "with failures",
        "z",
        "what",
        "success",
    ]
    return ["## What went wrong", f"{len(wrong)} runs.", *([_table(head, lines)] if wrong else [])]


def _numbers(r: Row) -> list[str]:
    return [
        f"{r.fun:.6g}",
        f"{r.fun_se:.2g}",
        f"{r.truth:.6g}",
        f"{r.truth_se:.1g}",
        f"{r.share:.1%}",
        f"{r.value:.6g}",
        f"{r.z:.3g}",
    ]


def _what(row: Row) -> str:
    names = {
        "worse": row.worse,
        "failing": row.failing,
        "impossible": row.impossible,
        "wrong": row.wrong,
        "over budget": row.over,
    }
    said = (
        ["not covered"] * (not row.covered)
        + [name for name, is_so in names.items() if is_so]
        + [row.error] * bool(row.error)
    )
    return "; ".join(said).replace("|", "/").replace("\n", " ")


def _table(head: list[str], lines: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *lines))
