"""Rows as a table for people and as JSON for machines."""

from dataclasses import asdict
from typing import Any

from phenes_lab.bench.generation.rows import REFERENCE, Row


def table(rows: list[Row]) -> Any:
    """For people, as a `rich` table."""
    from rich.table import Table

    out = Table(
        title="One generation: median of the rounds (quartiles)",
        caption=f"ratio: to {REFERENCE}, in the same rounds",
    )
    for name in ("what", "d", "time", "ratio", "memory", "exponent of time in d"):
        out.add_column(name, justify="left" if name == "what" else "right")
    previous = None
    for row in rows:
        if previous not in (None, (row.section, row.dim)) and row.section != "growth":
            out.add_section()
        out.add_row(*_texts(row))
        previous = (row.section, row.dim)
    return out


def _texts(row: Row) -> list[str]:
    name = f"  of which {row.name}" if row.section == "pieces" else row.name
    if row.seconds is None:
        return [name, str(row.dim), row.note, "", "", ""]
    seconds = f"{_duration(row.seconds)} ({_duration(row.low)} to {_duration(row.high)})"
    ratio = (
        ""
        if row.ratio is None
        else f"{row.ratio:.3g} ({row.ratio_low:.3g} to {row.ratio_high:.3g})"
    )
    memory = "" if row.memory is None else f"{row.memory / 2**20:.3g} MiB"
    return [
        name,
        str(row.dim),
        seconds,
        ratio,
        memory,
        "" if row.exponent is None else f"{row.exponent:.2f}",
    ]


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1e6:.3g} µs" if seconds < 1e-3 else f"{seconds * 1e3:.4g} ms"


def as_json(rows: list[Row]) -> dict[str, Any]:
    """Plain numbers and strings."""
    return {
        "benchmark": "generation",
        "reference": REFERENCE,
        "rows": [asdict(row) for row in rows],
    }
