"""Rounds -> one row for each engine."""

from typing import Any

from phenes_lab.bench.endurance.kill_test.settings import Round
from phenes_lab.report import rich_table

COLUMNS = (
    *("engine", "runs", "workers killed", "programs killed", "interrupted", "lost"),
    *("counted twice", "evaluated again", "same end"),
)
COUNTED = ("of_workers", "of_program", "interrupted", "lost", "doubled", "repeated")


def rows(rounds: list[Round]) -> list[list[str]]:
    """One for each engine, and one for all."""
    names = list(dict.fromkeys(r.engine for r in rounds))
    groups = {name: [r for r in rounds if r.engine == name] for name in names}
    if len(names) > 1:
        groups["all"] = rounds
    return [[name, *_counts(of)] for name, of in groups.items()]


def _counts(rounds: list[Round]) -> list[str]:
    sums = [str(sum(getattr(r, count) for r in rounds)) for count in COUNTED]
    return [str(len(rounds)), *sums, f"{sum(r.same for r in rounds)} of {len(rounds)}"]


def table(rounds: list[Round]) -> Any:
    """For people, as a `rich` table."""
    return rich_table(COLUMNS, rows(rounds))
