"""Results -> report.md, report.html and a summary."""

from pathlib import Path
from typing import Any

from phenes_lab.bench.risk import results as module
from phenes_lab.bench.risk import tables
from phenes_lab.bench.risk.contenders import CONTENDERS, INSTALL, absent
from phenes_lab.bench.risk.problems import PROBLEMS
from phenes_lab.bench.risk.results import RiskResults
from phenes_lab.report import Document, finite, rules_of, summary_head

PICTURE = "risk.png"


def report(results: RiskResults, out: Path) -> tuple[Path, Path]:
    """Writes both files; the picture is shown if it is in `out`."""
    settings = results.settings
    document = Document("Risks of f(x): evaluations until the same regret")
    document.text(
        f"Regret: the risk at the recommended theta less the least one. Medians of {settings.seeds}"
        f" seeds. {rules_of(module)} For BoTorch {INSTALL}. phenes {results.version}."
    )
    document.items({name: PROBLEMS[name].about for name in results.curves})
    document.items({name: CONTENDERS[name].about for name in settings.contenders})
    left_out = [name for name in CONTENDERS if name not in settings.contenders]
    if left_out:
        document.text(f"Not run: {', '.join(left_out)}. {absent()}".strip())
    if settings.slow_problems:
        slow = [name for name in settings.contenders if CONTENDERS[name].slow]
        where = ", ".join(settings.slow_problems)
        document.text(f"On {where} only, for their time: {', '.join(slow)}.")
    if fewer := tables.incomplete(results):
        document.text(f"Fewer seeds, or none: {fewer}.")
    document.drawn(out, PICTURE, "Median regret and quartiles against evaluations.")
    document.heading("Evaluations until the same regret")
    document.table(*tables.ratios(results))
    document.heading("Median regret after as many evaluations")
    document.table(*tables.regrets(results))
    document.heading("What phenes claims of its answers")
    document.table(*tables.claims(results))
    document.sessions(results.sessions)
    return document.write(out)


def summary(results: RiskResults) -> dict[str, Any]:
    """What is worth keeping as JSON."""
    return {
        **summary_head("risk", results, []),
        "ratios": [
            each._asdict() | {"regret": finite(each.regret, 3), "times": finite(each.times, 3)}
            for each in results.ratios
        ],
        "regrets": [
            {
                "problem": problem,
                "contender": name,
                "evaluations": curve.at.tolist(),
                "median": [finite(each, 3) for each in curve.median],
            }
            for problem, curves in results.curves.items()
            for name, curve in curves.items()
        ],
        "claims": {name: each._asdict() for name, each in results.claims.items()},
    }
