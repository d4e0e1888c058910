"""`phenes front module:function`."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from phenes.cli.optimize import BOUNDS, FUNCTION, WORKERS
from phenes.cli.parsing import load_function, read_problem
from phenes.cli.shared import Json, Seed, count, end, flag, given, option, show, writable

WHICH = {"first": [True, False], "second": [False, True], "both": True}
SPACE = "TOML file with the parameters and, if you like, all other options"
RISKS = "Two risks with a comma between, as mean,std or cvar(0.9),mean"
NUMBERS = "Which of the numbers should be large: first, second or both"
NOISE = "Standard deviation of the input noise, or learn"


def front(
    function: Annotated[str, typer.Argument(help=f"{FUNCTION}, or two")],
    space: Annotated[Path | None, option(SPACE, "the annotations of the function")] = None,
    objectives: Annotated[
        str | None, option(RISKS, "mean,std of one number, mean,mean of two")
    ] = None,
    maximize: Annotated[str | None, option(NUMBERS, "none")] = None,
    x0: Annotated[
        str | None, option("Where to start, as for optimize", "the middle of the space")
    ] = None,
    sigma0: Annotated[
        str | None, option("Standard deviation of the first steps", "a quarter of each range")
    ] = None,
    noise: Annotated[str | None, option(NOISE, "none, or what the space says")] = None,
    bounds: Annotated[str | None, option(BOUNDS)] = None,
    budget: Annotated[int | None, count("Evaluations.", show_default="60 (d + 1)")] = None,
    points: Annotated[
        int | None, count("Designs along the front that are verified.", show_default="12")
    ] = None,
    verify: Annotated[
        int | None,
        count("Evaluations of the budget that verify them.", 0, show_default="two fifths"),
    ] = None,
    workers: Annotated[str | None, option(WORKERS, "1")] = None,
    realises: Annotated[
        bool, flag("--realises", "The function takes theta and returns (x, values).")
    ] = False,
    out: Annotated[Path, option("Folder for picture, table and data.", True)] = Path("out"),
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
    options |= read_problem(x0, sigma0, noise, bounds, workers)
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
