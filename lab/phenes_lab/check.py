"""`phenes reproduce --check`: which of the committed results are older than the code behind them.

A result that was stored with digests of its code is compared by them. An older one is compared by
the commit that its report names: "Made with commit ...".
"""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from phenes.store import Store
from phenes_lab import driver, provenance
from phenes_lab.report import rich_table

NAMED = re.compile(r"[Mm]ade with commit ([0-9a-f]{7,40})\b")
SHOWN = 4  # rooms that a line of the table names
NOW, OLDER, UNKNOWN = "up to date", "older", "unknown"


class Row(NamedTuple):
    """arrays: size of the stored numbers in kilobytes, 0 if there are none. changed: rooms that are
    not what they were. recorded: by digests, not by the commit that the report names.
    """

    name: str
    state: str
    commit: str
    command: str
    arrays: int
    changed: tuple[str, ...]
    recorded: bool


def check(folder: Path, names: tuple[str, ...] = ()) -> list[Row]:
    """A row for each result in a folder of results."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder of results: give --out")
    found = sorted(each.name for each in folder.iterdir() if (each / "report.md").exists())
    if unknown := [name for name in (*names, *found) if name not in provenance.CODE]:
        raise ValueError(
            f"nothing is known of the code behind {', '.join(unknown)}: CODE of"
            " phenes_lab.provenance has it for each result"
        )
    if absent := [name for name in names if name not in found]:
        raise ValueError(f"{folder} has no report of {', '.join(absent)}")
    return [_row(folder / name) for name in found if name in names or not names]


def _row(home: Path) -> Row:
    stores, rows = sorted(home.glob("*.db")), sorted(home.glob("*.jsonl"))
    kilobytes = sum(-(-each.stat().st_size // 1024) for each in (*stores, *rows))
    said = [made for store in stores for made in _sessions(store)]
    said += [made for each in rows for made in _signed(each.with_suffix(driver.MADE))]
    sessions = [made for made in said if made.get("code")]
    if not sessions:
        return _by_commit(home, kilobytes)
    now = provenance.digests(provenance.CODE[home.name])
    changed = [
        path for path, digest in now.items() if any(_other(made, path, digest) for made in sessions)
    ]
    commits = dict.fromkeys(made["commit"] for made in sessions)
    commands = dict.fromkeys(made["command"] for made in sessions)
    with_what = ", ".join(commits), "; ".join(commands)
    return Row(home.name, OLDER if changed else NOW, *with_what, kilobytes, tuple(changed), True)


def _other(made: dict[str, str], path: str, digest: str) -> bool:
    """Whether a session was made with other code of a room, of which results use something."""
    return json.loads(made["code"]).get(path) != digest and not provenance.only_unused(
        path, made["commit"]
    )


def _sessions(path: Path) -> list[dict[str, str]]:
    with Store(path, create=False) as store:
        return [session.made for session in driver.all_sessions(store)]


def _signed(path: Path) -> list[dict[str, str]]:
    """Of a file of rows, whose sessions are in a file beside it."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def _by_commit(home: Path, kilobytes: int) -> Row:
    """What git says has changed since the report was made; nothing else tells when that was."""
    root = home.resolve().parents[1]
    named = NAMED.search((home / "report.md").read_text(encoding="utf-8"))
    commit = named[1] if named else ""
    there = commit and provenance.git(root, "rev-parse", "--verify", f"{commit}^{{commit}}")
    if not there:
        return Row(home.name, UNKNOWN, commit, "", kilobytes, (), False)
    paths = provenance.CODE[home.name]
    files = provenance.git(root, "diff", "--name-only", commit, "--", *paths).splitlines()
    changed = tuple(
        path for path in paths if any(f == path or f.startswith(f"{path}/") for f in files)
    )
    state = OLDER if changed else NOW
    return Row(home.name, state, commit, "", kilobytes, changed, False)


def table(rows: list[Row]) -> Any:
    """For the terminal."""
    lines = [
        [
            row.name,
            row.state,
            row.commit + ("" if row.recorded else " (says the report)"),
            f"{row.arrays} kB" if row.arrays else "none",
            _some(row.changed),
        ]
        for row in rows
    ]
    head = ["result", "state", "commit", "arrays", "changed since"]
    return rich_table(head, lines, "Results and the code that they depend on", left=5)


def _some(changed: tuple[str, ...]) -> str:
    named = ", ".join(path.removeprefix("phenes/") for path in changed[:SHOWN]) or "-"
    return named if len(changed) <= SHOWN else f"{named} and {len(changed) - SHOWN} more"


def as_json(rows: list[Row]) -> dict[str, Any]:
    """What the command says to machines."""
    return {
        "older": [row.name for row in rows if row.state != NOW],
        "without arrays": [row.name for row in rows if not row.arrays],
        "results": [row._asdict() for row in rows],
    }
