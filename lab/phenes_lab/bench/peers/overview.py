"""store -> a summary for machines and a table for the terminal."""

import math
from typing import Any

from phenes.store import Store
from phenes_lab.bench.peers import verdicts
from phenes_lab.bench.peers.contenders import BASELINE
from phenes_lab.bench.peers.results import Results, load
from phenes_lab.bench.peers.verdicts import (
    EXPECTED,
    LOSS,
    MEDIAN,
    NONE,
    RIVALS,
    TIE,
    WIN,
    Group,
    Table,
)


def summary(store: Store) -> dict[str, Any]:
    """What is worth keeping in a few kilobytes of JSON."""
    results = load(store)
    tables = [verdicts.table(results, group) for group in verdicts.groups(results)]
    times = {
        dim: verdicts.overheads(results, dim) for dim in sorted({p.dim for p in results.problems})
    }
    return {
        "benchmark": "peers",
        "version": results.version,
        "conditions": results.conditions,
        "rivals": [name for name in RIVALS if ran(results, name)],
        "groups": [_summary(results, table) for table in tables],
        "microseconds": {
            f"d{dim}": {name: round(1e6 * t, 2) for name, t in each.items()}
            for dim, each in times.items()
        },
    }


def _summary(results: Results, table: Table) -> dict[str, Any]:
    functions = {
        f"f{v.function}": {
            "verdict": v.verdict,
            "speedup": _json(v.speedup),
            "unresolved": v.unresolved,
        }
        for v in table.verdicts
    }
    against = {
        name: _json(verdicts.table(results, table.group, (name,)).speedup) for name in table.rivals
    }
    out = {**table.group._asdict(), **_counts(table), "against": against, "functions": functions}
    out[EXPECTED.name] = _counts(verdicts.table(results, table.group, measure=EXPECTED))
    if table.group.sigma == 0 and BASELINE in table.rivals:
        base = verdicts.table(results, table.group, (BASELINE,))
        out["evaluations over cmaes"] = {
            f"f{v.function}": _json(1 / v.speedup) for v in base.verdicts if v.duels
        }
    return out


def _counts(table: Table) -> dict[str, Any]:
    return {
        **{what: table.count(what) for what in (WIN, TIE, LOSS, NONE)},
        "speedup": _json(table.speedup),
    }


def _json(value: float) -> float | None:
    return None if math.isnan(value) else float(f"{value:.4g}")


def table(store: Store) -> Any:
    """For people, as a `rich` table."""
    from rich.table import Table as Rich

    results = load(store)
    out = Rich(
        title="phenes against the best rival at each target",
        caption="speed-up: evaluations of the rival / those of phenes",
    )
    for name in (*SCORE, "lost on"):
        out.add_column(name, justify="left" if name in ("problems", "lost on") else "right")
    for group in verdicts.groups(results):
        out.add_row(
            *score(results, group),
            ", ".join(f"f{f}" for f in verdicts.table(results, group).of(LOSS)) or "-",
        )
    return out


SCORE = (
    "problems",
    "win",
    "tie",
    "loss",
    "none",
    "speed-up",
    "targets w / t / l",
    "by expected time w / t / l, speed-up",
)


def score(results: Results, group: Group) -> list[str]:
    """A row under SCORE."""
    table, expected = (
        verdicts.table(results, group, measure=measure) for measure in (MEDIAN, EXPECTED)
    )
    counts, others = (
        [str(t.count(what)) for what in (WIN, TIE, LOSS, NONE)] for t in (table, expected)
    )
    return [
        group.name,
        *counts,
        speed(table.speedup),
        " / ".join(map(str, table.duels)),
        f"{' / '.join(others[:3])}, {speed(expected.speedup)}",
    ]


def speed(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}" if value < 10 else f"{value:.3g}"


def ran(results: Results, name: str) -> bool:
    return any(name in parts for parts in results.parts.values())
