"""`phenes reproduce`."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from phenes.cli.shared import (
    Json,
    Quick,
    count,
    end,
    given,
    progress,
    show,
    writable,
    wrong,
)
from phenes_lab.cli.settings import Change, Resume, changes, made
from phenes_lab.reproduce import PACKAGES, experiment

NAMES = ", ".join(PACKAGES)


def reproduce(
    figure: Annotated[str | None, typer.Argument(help=f"{NAMES} or all")] = None,
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
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Run nothing: say which results of the folder --out (results) are older than the"
            " code that they depend on; exit code 1 if any is.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Run an experiment of the paper again: figures, and a report of what holds."""
    if check:
        _check(out or Path("results"), figure, as_json)
        return
    if figure is None:
        raise typer.BadParameter(f"say which experiment: {NAMES} or all; or --check")
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


def _check(folder: Path, name: str | None, as_json: bool) -> None:
    from phenes_lab import check

    try:
        rows = check.check(folder, (name,) if name not in (None, "all") else ())
    except ValueError as error:
        raise wrong(error) from error
    show(check.table(rows))
    said = check.as_json(rows)
    for what in ("older", "without arrays"):
        print(f"{what}: {', '.join(said[what]) or 'none'}")
    end(as_json, said)
    if said["older"]:
        raise typer.Exit(1)
