"""Rows as a table for people and as JSON for machines."""

from typing import Any

from phenes_lab.bench.speed.generation.rows import REFERENCE, GenerationRow
from phenes_lab.report import rich_table, rows_as_json


def table(rows: list[GenerationRow]) -> Any:
    """For people, as a `rich` table."""
    lines: list[list[str] | None] = []
    previous = None
    for row in rows:
        if previous not in (None, (row.section, row.dim)) and row.section != "growth":
            lines.append(None)
        lines.append(_texts(row))
        previous = (row.section, row.dim)
    columns = ("what", "d", "time", "ratio", "memory", "exponent of time in d")
    caption = f"ratio: to {REFERENCE}, in the same rounds"
    return rich_table(
        columns, lines, "One generation: median of the rounds (quartiles)", caption=caption
    )


def _texts(row: GenerationRow) -> list[str]:
    name = f"  of which {row.name}" if row.section == "pieces" else row.name
    if row.seconds is None:
        return [name, str(row.dim), row.note, "", "", ""]
    seconds = f"{_duration(row.seconds)} ({_duration(row.low)} to {_duration(row.high)})"
    ratio, memory, exponent = "", "", ""
    if row.ratio is not None:
        ratio = f"{row.ratio:.3g} ({row.ratio_low:.3g} to {row.ratio_high:.3g})"
    if row.memory is not None:
        memory = f"{row.memory / 2**20:.3g} MiB"
    if row.exponent is not None:
        exponent = f"{row.exponent:.2f}"
    return [name, str(row.dim), seconds, ratio, memory, exponent]


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1e6:.3g} µs" if seconds < 1e-3 else f"{seconds * 1e3:.4g} ms"


def as_json(rows: list[GenerationRow]) -> dict[str, Any]:
    return rows_as_json("generation", rows, reference=REFERENCE)
