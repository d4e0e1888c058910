"""Results -> a table for the terminal, and the score of each group of problems."""

import math
from typing import Any

from phenes_lab.bench.peers import scoring
from phenes_lab.bench.peers.results import PeersResults
from phenes_lab.bench.peers.scoring import EXPECTED, LOSS, MEDIAN, NONE, TIE, WIN, Group
from phenes_lab.contenders import THETA
from phenes_lab.report import rich_table


def table(results: PeersResults) -> Any:
    """For the terminal."""
    rows = []
    for group in scoring.groups(results):
        lost = ", ".join(f"f{f}" for f in scoring.table(results, group).of(LOSS)) or "-"
        name, *numbers = score(results, group)
        rows.append([name, lost, *numbers])
    return rich_table(
        [SCORE[0], "lost on", *SCORE[1:]],
        rows,
        "phenes against the best rival at each target",
        left=2,
        caption="speed-up: evaluations of the rival / those of phenes",
    )


SCORE = (
    "problems",
    "win",
    "tie",
    "loss",
    "none",
    "speed-up",
    "without f1",
    "targets w / t / l",
    "told θ only: speed-up of x",
    "by expected time w / t / l, speed-up",
)


def score(results: PeersResults, group: Group) -> list[str]:
    """A row under SCORE."""
    table, expected = (
        scoring.table(results, group, measure=measure) for measure in (MEDIAN, EXPECTED)
    )
    counts, others = (
        [str(t.count(what)) for what in (WIN, TIE, LOSS, NONE)] for t in (table, expected)
    )
    return [
        group.name,
        *counts,
        speed(table.speedup),
        speed(table.speedup_without(1)),
        " / ".join(map(str, table.duels)),
        speed(scoring.table(results, group, (THETA,)).speedup),
        f"{' / '.join(others[:3])}, {speed(expected.speedup)}",
    ]


def speed(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:.2f}" if value < 10 else f"{value:.3g}"


def ran(results: PeersResults, name: str) -> bool:
    return any(name in parts for parts in results.parts.values())
