"""`phenes runs`, `phenes show RUN` and `phenes watch RUN`."""

import contextlib
import os
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from phenes.cli.shared import Json, end, of_argument, show, wrong

Name = Annotated[
    str,
    typer.Argument(
        metavar="RUN", help="a file of runs (its last one), file:number, or a number in out/runs.db"
    ),
]


def runs(
    file: Annotated[
        Path | None, typer.Argument(help="A file of runs.", show_default="out/runs.db")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the runs of a file."""
    from phenes.watch import terminal
    from phenes.watch.snapshot import FILE

    with _opened(file or FILE) as store:
        show(terminal.runs(store))
        listed = [{**about._asdict(), "status": store[about.id].status} for about in store.runs()]
    end(as_json, {"runs": listed})


def _there(path: Path) -> None:
    if not path.exists():
        raise wrong(f"{path} does not exist: there is no run to read")


def _opened(path: Path) -> Any:
    from phenes.store import Store

    _there(path)
    return Store(path, create=False)


def show_run(
    name: Name,
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Evaluations to .csv, .npz or .parquet.", show_default=False
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the picture goes.", show_default="RUN.png"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Table and picture of a run."""
    from phenes import store
    from phenes._validate import printable
    from phenes.plots import save
    from phenes.watch import terminal
    from phenes.watch.snapshot import Reader, find, open_run

    path, number = find(name)
    with _opened(path) as opened:
        with of_argument("RUN"):
            run = open_run(opened, number)
        snapshot = Reader(run).snapshot()
        show(terminal.one(snapshot))
        files: dict[str, Any] = {}
        if any(snapshot["curve"].values()):
            target = out or _beside(path, f"{path.stem}-{run.about.id}.png")
            files["picture"] = str(save(_picture(snapshot), target))
            print(printable(f"The picture is {target}."))
        if export is not None:
            with of_argument("--export"):
                files |= {"export": str(export), "rows": store.export(run, export)}
            print(printable(f"{files['rows']} evaluations are in {export}."))
    end(as_json, snapshot | files)


def _beside(path: Path, name: str) -> Path:
    """Path of the picture: beside the record, or here if that folder cannot be written."""
    return path.with_name(name) if os.access(path.parent, os.W_OK) else Path(name)


def _picture(snapshot: dict[str, Any]) -> Any:
    from phenes.plots import convergence, rl

    if snapshot["kind"] != "training":
        return convergence.figure_of_curve(snapshot)
    title = f"run {snapshot['id']}, {snapshot['experiment']}, {snapshot['status']}"
    return rl.figure(f"{title}: {snapshot['done']:,} episodes", snapshot["curve"], "mean policy")


def watch(
    name: Name,
    web: Annotated[
        bool, typer.Option("--web", help="A page in the browser instead of the terminal.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Of the page; 0: any.")] = 0,
    every: Annotated[float, typer.Option(min=0.05, help="Seconds between looks.")] = 1.0,
    as_json: Json = False,
) -> None:
    """Follow a run until it ends."""
    from phenes.watch.snapshot import find

    path, number = find(name)
    _there(path)
    snapshot = _page(path, number, port) if web else _terminal(path, number, every)
    end(as_json, snapshot)


def _page(path: Path, number: int | None, port: int) -> dict[str, Any]:
    from phenes.watch.server import serve

    with serve(path, number, port) as server:
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        print(f"The page is {address} (Ctrl-C ends it).", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
    return {"address": address}


def _terminal(path: Path, number: int | None, every: float) -> dict[str, Any]:
    from rich.live import Live

    from phenes.watch import terminal
    from phenes.watch.snapshot import Reader, open_run

    with _opened(path) as store, Live(auto_refresh=False) as live:
        with of_argument("RUN"):
            run = open_run(store, number)
        reader = Reader(run)
        with contextlib.suppress(KeyboardInterrupt):
            while True:
                snapshot = reader.snapshot()
                live.update(terminal.one(snapshot), refresh=True)
                if snapshot["status"] != "running":
                    break
                time.sleep(every)
    print()
    return snapshot
