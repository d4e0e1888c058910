"""Results -> report.md, report.html and a summary."""

from pathlib import Path
from typing import Any

from phenes_lab.bench.constraints import results as module
from phenes_lab.bench.constraints import tables
from phenes_lab.bench.constraints.contenders import CONTENDERS, PENALTY
from phenes_lab.bench.constraints.problems import PROBLEMS
from phenes_lab.bench.constraints.results import ConstraintsResults
from phenes_lab.report import Document, finite, rules_of, summary_head

PICTURE = "constraints.png"


def report(results: ConstraintsResults, out: Path) -> tuple[Path, Path]:
    """Writes both files; the picture is shown if it is in `out`."""
    settings = results.settings
    document = Document("Chance constraints: is the answer feasible, and what does it cost?")
    document.text(
        f"f is the squared distance from a point beyond the limits, and P(all limits hold at x ="
        f" theta + noise) must be at least p. {rules_of(module)} Seeds {settings.seed} to"
        f" {settings.seed + settings.seeds - 1}. phenes {results.version}."
    )
    if fewer := tables.incomplete(results):
        document.text(f"Fewer seeds, or none: {fewer}.")
    document.items({name: PROBLEMS[name].about for name in settings.problems})
    document.items({name: CONTENDERS[name].about for name in settings.contenders})
    document.text(
        f"pycma minimises the mean of f over its draws and {PENALTY:g} times what is beyond the"
        " limit. On seeds 20 to 22, without the corner, a weight of 1 left 8 of 72 answers feasible"
        " (regret 0.16), 10 left 32 (0.15), 100 left 38 (0.19), and pycma's augmented Lagrangian"
        " (ConstrainedFitnessAL) on the quantile p of the draws 4 (1.4); no weight was sought for"
        " pycma-8-normal. pycma recommends the mean of its search and claims nothing."
        " Where two of its generations do not fit into the evaluations it takes no part."
    )
    document.drawn(
        out,
        PICTURE,
        "Every answer: exact probability of a violation, and regret. Grey: more violations than"
        " p allows.",
    )
    document.heading("All problems together")
    document.table(*tables.totals(results))
    document.heading("Each problem")
    document.table(*tables.answers(results))
    document.sessions(results.sessions)
    return document.write(out)


def summary(results: ConstraintsResults) -> dict[str, Any]:
    """Every answer, by seed in the order of the seeds."""
    return {
        **summary_head("constraints", results, []),
        "answers": [
            where._asdict()
            | {
                name: [finite(value, 6) for value in getattr(cell, name)]
                for name in ("probability", "regret", "lower", "success")
            }
            for where, cell in results.cells.items()
        ],
    }
