"""`phenes front module:function`."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from phenes.cli.parsing import (
    load_function,
    read_bounds,
    read_named,
    read_numbers,
    read_scale,
    read_workers,
)
from phenes.cli.shared import Json, Seed, count, end, given, show, writable

WHICH = {"first": [True, False], "second": [False, True], "both": True}


def front(
    function: Annotated[
        str,
        typer.Argument(
            help=(
                "module:function, in the current folder or installed, or file.py:function; it"
                " takes x and returns a number, or two"
            )
        ),
    ],
    space: Annotated[
        Path | None,
        typer.Option(
            help="TOML file with the parameters and, if you like, all other options",
            show_default="the annotations of the function",
        ),
    ] = None,
    objectives: Annotated[
        str | None,
        typer.Option(
            help="Two risks with a comma between, as mean,std or cvar(0.9),mean",
            show_default="mean,std of one number, mean,mean of two",
        ),
    ] = None,
    maximize: Annotated[
        str | None,
        typer.Option(
            help="Which of the numbers should be large: first, second or both", show_default="none"
        ),
    ] = None,
    x0: Annotated[
        str | None,
        typer.Option(
            help="Where to start, as for optimize", show_default="the middle of the space"
        ),
    ] = None,
    sigma0: Annotated[
        str | None,
        typer.Option(
            help="Standard deviation of the first steps", show_default="a quarter of each range"
        ),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            help="Standard deviation of the input noise, or learn",
            show_default="none, or what the space says",
        ),
    ] = None,
    bounds: Annotated[
        str | None,
        typer.Option(help="Of theta: low:high, or one for each coordinate with commas between"),
    ] = None,
    budget: Annotated[int | None, count("Evaluations.", show_default="60 (d + 1)")] = None,
    points: Annotated[
        int | None, count("Designs along the front that are verified.", show_default="12")
    ] = None,
    verify: Annotated[
        int | None,
        count("Evaluations of the budget that verify them.", 0, show_default="two fifths"),
    ] = None,
    workers: Annotated[
        str | None,
        typer.Option(help="Processes that evaluate, dask://host:port or ray.", show_default="1"),
    ] = None,
    realises: Annotated[
        bool, typer.Option("--realises", help="The function takes theta and returns (x, values).")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for picture, table and data.")] = Path("out"),
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Your own function: the designs that no other beats in both of two objectives."""
    writable(out)
    f = load_function(function)
    options = given(
        budget=budget, points=points, verify=verify, seed=seed, realises=realises or None
    )
    if objectives is not None:
        options["objectives"] = objectives.split(",")
    if maximize is not None:
        if maximize not in WHICH:
            raise typer.BadParameter(f"--maximize must be first, second or both, got {maximize!r}")
        options["maximize"] = WHICH[maximize]
    if workers is not None:
        options["workers"] = read_workers(workers)
    if noise is not None:
        options["noise"] = "learn" if noise == "learn" else read_scale("--noise", noise)
    if x0 is not None:
        options["x0"] = read_named(x0) if "=" in x0 else read_numbers("--x0", x0)
    if sigma0 is not None:
        options["sigma0"] = read_scale("--sigma0", sigma0)
    if bounds is not None:
        options["bounds"] = read_bounds(bounds, len(options.get("x0", [0])))
    _run(f, space, options, out, as_json)


def _run(f: Any, file: Path | None, options: dict[str, Any], out: Path, as_json: bool) -> None:
    from phenes.cli.run_file import FRONT_WORDS, read_settings
    from phenes.pareto import front as solve
    from phenes.plots import save
    from phenes.watch.snapshot import plain

    found = solve(f, **read_settings(file, options, FRONT_WORDS))
    files = {
        "picture": save(found.plot(), out / "front.png"),
        "table": out / "front.csv",
        "data": out / "front.json",
    }
    found.to_csv(files["table"])
    found.save(files["data"])
    show(_table(found))
    print(f"The picture is {files['picture']}, the table {files['table']}, all {files['data']}.")
    for error in found.errors_of_f:
        print(error, file=sys.stderr)
    said = {name: getattr(found, name) for name in ("nfev", "failed", "success", "message")}
    columns = {name: list(column) for name, column in found.columns().items()}
    end(as_json, plain(said | {"front": columns}) | {k: str(path) for k, path in files.items()})


def _table(found: Any) -> Any:
    from rich.table import Table

    head, *rows = found.table()
    title = f"± two standard errors, 95 %. {found.message}"
    out = Table(*head, title=title, title_justify="left")
    for row in rows:
        out.add_row(*row)
    return out
