"""Results -> a table for the terminal; what was asked for, and whether it was reached."""

from typing import Any, NamedTuple

from phenes.problems.engineering import ENGINEERING
from phenes_lab.bench.engineering.contenders import OURS, RIVALS
from phenes_lab.bench.engineering.results import EngineeringResults, Runs
from phenes_lab.report import FAILS, HOLDS, rich_table

ASKED_YIELD = 0.90  # of the filter


class Verdict(NamedTuple):
    claim: str
    measured: str
    holds: bool


def verdicts(results: EngineeringResults) -> list[Verdict]:
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


def best_rival(results: EngineeringResults, problem: str) -> str | None:
    """By its median E f at the end, chosen afterwards."""
    present = [name for name in RIVALS if name in results.runs[problem]]
    return max(
        present, key=lambda name: results.runs[problem][name].quartiles("mean")[1], default=None
    )


HEAD = ("problem", "contender", "seeds", "E f", "quartiles", "yield", "quartiles", "p95")


def rows(results: EngineeringResults, problem: str) -> list[list[str]]:
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


def table(results: EngineeringResults) -> Any:
    """For the terminal."""
    lines: list[list[str] | None] = []
    for problem in results.problems:
        builds = f"{ENGINEERING[problem].name}, {results.settings.builds(problem)} builds"
        lines += [
            None,
            *(["" if k else builds, *row] for k, row in enumerate(rows(results, problem))),
        ]
    said = ["p95: 95 % of the builds stay below", *(_said(v) for v in verdicts(results))]
    title = f"Median over seeds, on {results.settings.draws} fresh builds of the recommended design"
    return rich_table(HEAD, lines, title, left=2, caption="; ".join(said))


def _said(verdict: Verdict) -> str:
    return f"{verdict.claim}: {verdict.measured}, {HOLDS if verdict.holds else FAILS}"
