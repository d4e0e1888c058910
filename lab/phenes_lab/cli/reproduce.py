"""`phenes reproduce`."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from phenes.cli.shared import Json, Quick, count, end, given, progress, writable
from phenes_lab.cli.settings import Change, Resume, changes, made
from phenes_lab.reproduce import PACKAGES, experiment

NAMES = ", ".join(PACKAGES)


def reproduce(
    figure: Annotated[str, typer.Argument(help=f"{NAMES} or all")],
    quick: Quick = False,
    seeds: Annotated[
        int | None, count("Independent runs of each method.", show_default=False)
    ] = None,
    change: Change = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the store, the figures and the report.", show_default="out/FIGURE"
        ),
    ] = None,
    resume: Resume = False,
    as_json: Json = False,
) -> None:
    """Run an experiment of the paper again: figures, and a report of what holds."""
    if figure not in (*PACKAGES, "all"):
        raise typer.BadParameter(f"there is no {figure!r}, only {NAMES} and all")
    names = PACKAGES if figure == "all" else (figure,)
    wanted = given(seeds=seeds) | changes(change)
    results = {}
    for name in names:
        folder = out if out is not None and figure != "all" else (out or Path("out")) / name
        results[name] = _reproduce(name, folder, quick, resume, wanted)
    end(as_json, results if figure == "all" else results[figure])


def _reproduce(
    name: str, out: Path, quick: bool, resume: bool, wanted: dict[str, Any]
) -> dict[str, Any]:
    writable(out)
    from phenes_lab import driver

    this = experiment(name)
    settings = made(name, this.settings_class, quick, wanted)
    with progress(name) as advance:
        path, _ = driver.run(this, settings, out, resume, advance)
    print(f"The report is {out / 'report.html'} (and report.md), the data behind it {path}.")
    return json.loads((out / "summary.json").read_text())
