"""`phenes reproduce`."""

import dataclasses
import importlib
import json
from pathlib import Path
from typing import Annotated, Any, get_origin, get_type_hints

import typer

from phenes.cli.shared import Json, Quick, end, given, progress, writable

EXPERIMENTS = ("bbob", "frozenlake", "contexts", "cartpole", "pendulum", "swimmer", "untuned")


def reproduce(
    figure: Annotated[str, typer.Argument(help=f"{', '.join(EXPERIMENTS)} or all")],
    quick: Quick = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Independent runs of each method.", show_default=False)
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A setting of the experiment; may be given again."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the store, the figures and the report.", show_default="out/FIGURE"
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run that is in the folder.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run an experiment of the paper again: figures, and a report of what holds."""
    if figure not in (*EXPERIMENTS, "all"):
        raise typer.BadParameter(f"there is no {figure!r}, only {', '.join(EXPERIMENTS)} and all")
    names = EXPERIMENTS if figure == "all" else (figure,)
    folders = {
        name: (out or Path("out")) / name if out is None or figure == "all" else out
        for name in names
    }
    changes = given(seeds=seeds) | _changes(change or [])
    results = {name: _reproduce(name, folders[name], quick, resume, changes) for name in names}
    end(as_json, results if figure == "all" else results[figure])


def _changes(texts: list[str]) -> dict[str, str]:
    changes = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise typer.BadParameter(
                f"--set must be NAME=VALUE, as generations=100 or methods=ES,default, got {text!r}"
            )
        changes[name] = value
    return changes


def read_setting(value: Any, kind: Any) -> Any:
    """40; ES,default where there are several: values are JSON, or else text."""
    if not isinstance(value, str):
        return value
    try:
        read = json.loads(value)
    except json.JSONDecodeError:
        read = (
            [read_setting(each.strip(), None) for each in value.split(",")]
            if get_origin(kind) is tuple
            else value
        )
    return [read] if get_origin(kind) is tuple and not isinstance(read, list) else read


def _reproduce(
    name: str, out: Path, quick: bool, resume: bool, changes: dict[str, Any]
) -> dict[str, Any]:
    writable(out)
    from phenes.store import Store

    module = importlib.import_module(f"phenes_lab.reproduce.{name}")
    settings = module.Settings.quick() if quick else module.Settings()
    there = get_type_hints(module.Settings)
    if unknown := [setting for setting in changes if setting not in there]:
        raise typer.BadParameter(f"{name} has no setting {unknown[0]!r}, only {', '.join(there)}")
    settings = dataclasses.replace(
        settings,
        **{setting: read_setting(value, there[setting]) for setting, value in changes.items()},
    )
    with progress(name) as advance:
        path = module.run(settings, out, resume, advance)
    with Store(path, create=False) as store:
        summary = module.summary(store)
    print(f"The report is {out / 'report.html'} (and report.md), the data behind it {path}.")
    return summary
