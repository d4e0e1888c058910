"""store -> a summary for machines and a table for the terminal, with what was asked for and whether
it was reached.
"""

from typing import Any, NamedTuple

from phenes.problems.engineering import ENGINEERING
from phenes.store import Store
from phenes_lab.bench.engineering.contenders import OURS, RIVALS
from phenes_lab.bench.engineering.results import Results, Runs, load

ASKED_YIELD = 0.90  # of the filter


class Verdict(NamedTuple):
    claim: str
    measured: str
    holds: bool


def verdicts(results: Results) -> list[Verdict]:
    """What has to be shown, where the run has what it takes; of shorter runs nothing is asked."""
    found = []
    if results.settings.scale < 1:
        return found
    if OURS in results.runs.get("filter", {}):
        share = results.runs["filter"][OURS].quartiles("share")[1]
        runs, builds = results.runs["filter"][OURS].share.size, results.settings.builds("filter")
        claim = (
            f"filter: a yield of at least {ASKED_YIELD:.0%} with {builds} builds, median of {runs}"
            " seeds"
        )
        found.append(Verdict(claim, f"{share:.1%}", share >= ASKED_YIELD))
    for problem in results.problems:
        best = best_rival(results, problem)
        if OURS in results.runs[problem] and best is not None:
            ours, theirs = (
                results.runs[problem][name].quartiles("mean")[1] for name in (OURS, best)
            )
            claim = (
                f"{problem}: E f above the best of the libraries with"
                f" {results.settings.builds(problem)} builds"
            )
            found.append(Verdict(claim, f"{ours:.4g} against {theirs:.4g} ({best})", ours > theirs))
    return found


def best_rival(results: Results, problem: str) -> str | None:
    """By its median E f at the end, chosen afterwards."""
    present = [name for name in RIVALS if name in results.runs[problem]]
    return max(
        present, key=lambda name: results.runs[problem][name].quartiles("mean")[1], default=None
    )


def summary(store: Store) -> dict[str, Any]:
    results = load(store)
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


HEAD = ("problem", "contender", "seeds", "E f", "quartiles", "yield", "quartiles", "p95")


def rows(results: Results, problem: str) -> list[list[str]]:
    """One for each contender, under HEAD without the problem."""
    return [[name, *_cells(results.runs[problem][name])] for name in results.contenders(problem)]


def _cells(runs: Runs) -> list[str]:
    mean, share, p95 = (runs.quartiles(name) for name in ("mean", "share", "p95"))
    alone = runs.mean.size == 1
    return [
        str(runs.mean.size),
        f"{mean[1]:.4f}" if abs(mean[1]) < 10 else f"{mean[1]:.1f}",
        "" if alone else f"{mean[0]:.4g} to {mean[2]:.4g}",
        f"{share[1]:.1%}",
        "" if alone else f"{share[0]:.1%} to {share[2]:.1%}",
        f"{p95[1]:.3g}",
    ]


def table(store: Store) -> Any:
    """For people, as a `rich` table."""
    from rich.table import Table

    results = load(store)
    title = f"Median over seeds, on {results.settings.draws} fresh builds of the recommended design"
    out = Table(
        title=title,
        caption="; ".join(
            ["p95: 95 % of the builds stay below", *(_said(v) for v in verdicts(results))]
        ),
    )
    for k, name in enumerate(HEAD):
        out.add_column(name, justify="left" if k < 2 else "right")
    for problem in results.problems:
        out.add_section()
        builds = f"{ENGINEERING[problem].name}, {results.settings.builds(problem)} builds"
        for k, row in enumerate(rows(results, problem)):
            out.add_row("" if k else builds, *row)
    return out


def _said(verdict: Verdict) -> str:
    return f"{verdict.claim}: {verdict.measured}, {'holds' if verdict.holds else 'does not hold'}"
