"""Results -> report.md, report.html and a summary."""

from pathlib import Path
from typing import Any

import numpy as np

from phenes_lab.report import (
    Claim,
    Document,
    difference,
    finite,
    mean_se,
    number,
    plus_minus,
    summary_head,
    verdict,
)
from phenes_lab.reproduce.control.results import One
from phenes_lab.reproduce.control.settings import METHODS as ABOUT
from phenes_lab.reproduce.held_out_environments.results import HeldOutResults
from phenes_lab.reproduce.held_out_environments.settings import EXPERIMENT, METHODS


def report(results: HeldOutResults, out: Path) -> tuple[Path, Path]:
    document = Document("Environments that the defaults were not chosen on")
    document.text(
        f"phenes {results.version}. Every run in an environment has the same number of episodes,"
        " whatever its population. The return is that of the mean policy with its best actions: 10"
        " episodes along the way, 100 fresh ones at the end."
    )
    document.heading("Claims")
    document.claims(claims(results))
    document.heading("Learning")
    document.figure(Path("untuned-learning.png"), "Return of the mean policy by episodes.")
    _table(document, results)
    document.sessions(results.sessions, "runs")
    return document.write(out)


def _table(document: Document, results: HeldOutResults) -> None:
    rows = []
    for env, methods in results.runs.items():
        threshold = results.thresholds[env]
        for method, runs in methods.items():
            ends = ", ".join(number(one.value, 4) for one in runs)
            firsts = ", ".join(number(one.episodes, 4) for one in runs)
            solved = "-" if threshold is None else f"{threshold:g}"
            seconds = ", ".join(f"{one.seconds[-1]:.0f}" for one in runs)
            budget = str(results.settings.budget(env))
            rows.append([env, method, ABOUT[method].about, budget, ends, solved, firsts, seconds])
    head = ["environment", "method", "what it is", "episodes", "return at the end, by seed"]
    head += ["solved at", "episodes until then", "seconds"]
    document.table(head, rows)


def claims(results: HeldOutResults) -> list[Claim]:
    return [_beside(env, runs) for env, runs in results.runs.items()]


def _beside(env: str, runs: dict[str, list[One]]) -> Claim:
    es, ours = (np.array([one.value for one in runs[method]]) for method in METHODS)
    d = difference(es, ours)
    return Claim(
        f"{env}: the default learns more than ES from the same number of episodes",
        f"return of the mean policy at the end, {ours.size} seeds: ES {plus_minus(*mean_se(es))},"
        f" default {plus_minus(*mean_se(ours))}, z = {number(d.z, 2)}",
        "holds: by over 2 standard errors; partly: by the mean",
        verdict(bool(d.z > 2), bool(d.value > 0)),
    )


def summary(results: HeldOutResults) -> dict[str, Any]:
    """What is worth keeping in a few kilobytes of JSON."""
    return {
        **summary_head(EXPERIMENT, results, claims(results)),
        "environments": {
            env: {m: _numbers(runs[m]) for m in runs} for env, runs in results.runs.items()
        },
    }


def _numbers(runs: list[One]) -> dict[str, Any]:
    return {
        "values": [finite(one.value) for one in runs],
        "first_episodes": [finite(one.episodes) for one in runs],
        "generations": [one.population.size for one in runs],
        "popsize": runs[0].popsize,
        "seconds": [finite(float(one.seconds[-1])) for one in runs],
    }
