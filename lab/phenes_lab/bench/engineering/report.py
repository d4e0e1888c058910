"""Results -> report.md, report.html and a summary."""

from pathlib import Path
from typing import Any

from phenes.problems.engineering import ENGINEERING
from phenes_lab.bench.engineering.contenders import CONTENDERS
from phenes_lab.bench.engineering.figures import CURVES
from phenes_lab.bench.engineering.results import EngineeringResults, Runs
from phenes_lab.bench.engineering.tables import HEAD, rows, verdicts
from phenes_lab.report import FAILS, HOLDS, Document


def report(results: EngineeringResults, out: Path) -> tuple[Path, Path]:
    """Writes the files; pictures are shown if they are in `out`."""
    document = Document(
        "Engineering problems: phenes beside the designs and libraries that engineers have"
    )
    _setting(document, results)
    document.heading("What has to be shown")
    document.table(
        ["claim", "measured", "verdict"],
        [[v.claim, v.measured, HOLDS if v.holds else FAILS] for v in verdicts(results)],
    )
    if (out / CURVES).exists():
        document.figure(
            Path(CURVES),
            "Median E f against the number of builds; for phenes with quartiles. Worse than the"
            " axis is no design.",
        )
    for problem in results.problems:
        _problem(document, results, problem, out)
    return document.write(out)


def _setting(document: Document, results: EngineeringResults) -> None:
    settings = results.settings
    document.text(
        "Everybody starts at the same place with the same first step and has the same number of"
        " builds; the design that is recommended in the end (a mean, never a sample) is judged by"
        f" {settings.draws} fresh builds, with the same errors for all. E f is maximised; yield is"
        " the share of builds within the specification; p95 is what 95 % of the builds stay below."
        f" Numbers are medians over seeds, with quartiles. phenes {results.version}, state of the"
        f" run: {results.status}."
    )
    document.text(
        "pycma and cmaes start again with twice the population when they stop themselves. ES and"
        " PAES have populations, spreads and rates that were tuned for ES on each problem; the"
        " others have their defaults."
    )
    present = {name for problem in results.problems for name in results.contenders(problem)}
    document.table(
        ["name", "what it is"],
        [[name, contender.about] for name, contender in CONTENDERS.items() if name in present],
    )


def _problem(document: Document, results: EngineeringResults, problem: str, out: Path) -> None:
    about = ENGINEERING[problem]
    document.heading(
        f"{about.name}: {about.dim} coordinates, {results.settings.builds(problem)} builds"
    )
    head = [*HEAD[1:-1], f"p95 ({about.unit})"]
    document.table(head, rows(results, problem))
    picture = Path(f"engineering-{problem}.png")
    if (out / picture).exists():
        document.figure(
            picture,
            f"{about.name}: the nominal design, and that of the run of phenes with the median E f.",
        )


def summary(results: EngineeringResults) -> dict[str, Any]:
    settings = results.settings
    return {
        "benchmark": "engineering",
        "version": results.version,
        "settings": {
            "seeds": settings.seeds,
            "draws": settings.draws,
            "builds": {p: settings.builds(p) for p in results.problems},
        },
        "verdicts": [verdict._asdict() for verdict in verdicts(results)],
        "problems": {
            p: {c: _numbers(results.runs[p][c]) for c in results.contenders(p)}
            for p in results.problems
        },
    }


def _numbers(runs: Runs) -> dict[str, Any]:
    """Quartiles over seeds."""
    figures = {
        name: [float(f"{q:.6g}") for q in runs.quartiles(name)] for name in ("mean", "share", "p95")
    }
    return {
        "seeds": int(runs.mean.size),
        **figures,
        "se": float(f"{runs.se.max():.2g}"),
        "seconds": float(f"{runs.quartiles('seconds')[1]:.3g}"),
    }
