"""`phenes optimize module:function`."""

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
    read_value,
    read_workers,
)
from phenes.cli.shared import Json, Seed, count, end, given, show, stoppable, writable

# of the result, for machines
SAID = [
    *("x", "fun", "fun_se", "interval", "verified", "nfev", "nit", "success", "message", "failed"),
    "noise",
]
ROWS = 20  # rows of a table: of more coordinates the first ten and the last five are shown


def optimize(
    function: Annotated[
        str,
        typer.Argument(
            help=(
                "module:function, in the current folder or installed, or file.py:function; it"
                " takes x and returns a number"
            )
        ),
    ],
    space: Annotated[
        Path | None,
        typer.Option(
            help=(
                "TOML file with the parameters and, if you like, all other options, which then need"
                " not be given here"
            ),
            show_default="the annotations of the function",
        ),
    ] = None,
    x0: Annotated[
        str | None,
        typer.Option(
            help=(
                "Where to start: numbers with commas between, as 0,0,1.5; or number*dimension, as"
                " 2*10; in a space by name, as width=100,alloy=B"
            ),
            show_default="the middle of the space",
        ),
    ] = None,
    sigma0: Annotated[
        str | None,
        typer.Option(
            help="Standard deviation of the first steps: one number, or one for each coordinate",
            show_default="a quarter of each range",
        ),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            help=(
                "Standard deviation of the input noise: one number, one for each coordinate, or"
                " learn"
            ),
            show_default="none, or what the space says",
        ),
    ] = None,
    bounds: Annotated[
        str | None,
        typer.Option(help="Of theta: low:high, or one for each coordinate with commas between"),
    ] = None,
    budget: Annotated[int | None, count("Evaluations, as 1e4.", show_default=False)] = None,
    target: Annotated[
        float | None, typer.Option(help="Stop when E f is better than this.", show_default=False)
    ] = None,
    popsize: Annotated[
        int | None, count("Evaluations in a generation.", 2, show_default=False)
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(
            help=(
                "What is minimised: mean, std, quantile(0.95), cvar(0.9), probability_below(3) or"
                " mean_plus_std(2)"
            ),
            show_default="mean",
        ),
    ] = None,
    verify: Annotated[
        int | None,
        count(
            "Evaluations of the budget that verify the answer; 0: none.", 0, show_default="a tenth"
        ),
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="What asks: auto, gp or adaptive.", show_default="auto")
    ] = None,
    constraints: Annotated[
        str | None,
        typer.Option(
            help=(
                "How surely the constraints must hold that the function returns beside its value:"
                " 0.99 for all together, stress=0.99,gap=0.9 for each, or average"
            ),
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        str | None,
        typer.Option(help="Processes that evaluate, dask://host:port or ray.", show_default="1"),
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(help="Seconds for one evaluation.", show_default=False)
    ] = None,
    max_attempts: Annotated[
        int | None,
        count("Evaluations of a point whose workers die; 1: never twice.", show_default="3"),
    ] = None,
    asynchronous: Annotated[
        bool, typer.Option("--asynchronous", help="Do not wait for the slowest of a generation.")
    ] = False,
    maximize: Annotated[bool, typer.Option("--maximize", help="Look for the largest E f.")] = False,
    realises: Annotated[
        bool, typer.Option("--realises", help="The function takes theta and returns (x, value).")
    ] = False,
    vectorized: Annotated[
        bool, typer.Option("--vectorized", help="The function takes rows.")
    ] = False,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="File to keep every evaluation in, and to go on from.",
            show_default="a new run in OUT/runs.db",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the last run in OUT/runs.db.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for the picture and the numbers.")] = Path(
        "out"
    ),
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Your own function: find the theta whose realised x is best on average."""
    writable(out)
    f = load_function(function)
    options = given(
        budget=budget,
        target=target,
        popsize=popsize,
        objective=objective,
        verify=verify,
        engine=engine,
        seed=seed,
        maximize=maximize or None,
        realises=realises or None,
        vectorized=vectorized or None,
        timeout=timeout,
        max_attempts=max_attempts,
        asynchronous=asynchronous or None,
    )
    if constraints is not None:
        options["constraints"] = (
            read_value(constraints) if "=" not in constraints else read_named(constraints)
        )
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
    from phenes import optimizer
    from phenes.cli.run_file import read_settings

    options = read_settings(space, options)
    solve = optimizer.maximize if options.pop("maximize", False) else optimizer.minimize
    kept = checkpoint or out / "runs.db"
    with stoppable(kept, "" if checkpoint else "--resume"):
        result = solve(
            f,
            checkpoint=kept,
            resume=resume or checkpoint is not None,
            progress=sys.stderr.isatty(),
            **options,
        )
    from phenes.plots import convergence, save
    from phenes.watch.snapshot import plain

    picture = save(convergence.figure(result), out / "optimize.png")
    show(table(result))
    print(f"The picture is {picture}.")
    said = {name: result[name] for name in SAID} | {"failing": result.failing._asdict()}
    said["objective"] = str(result.objective)
    if result.space is not None:
        said["x"] = dict(result.x)
    if result.constraints is not None:
        held = (*result.constraints.rows, result.constraints.all)
        said["constraints"] = {each.name: each._asdict() for each in held}
    end(as_json, plain(said) | {"picture": str(picture)})


def table(result: Any) -> Any:
    """The table for the terminal: the answer by coordinate (the first and last of many)."""
    from rich.table import Table

    claim = f"{result.what} = {result.fun:.6g} ± {result.fun_se:.2g}{result._basis()}"
    failing = f"; failing: {result._failures()}" if result._failures() else ""
    doubt = "" if result.success else "not a success: "
    title = f"{claim}{failing}; {result.nfev} evaluations in all: {doubt}{result.message}"
    if result.constraints is not None:
        title += f"\n{result.constraints}"
    if result.noise:
        title += f"; noise: {result.noise}"
    if result.space is not None:
        from phenes.optimizer import named_result

        out = Table(*named_result.header(result.space), title=title, title_justify="left")
        for row in named_result.table(result.space, result.x):
            out.add_row(*row)
        return out
    out = Table("coordinate", "theta", "spread of the search", title=title, title_justify="left")
    rows = list(range(result.x.size))
    if result.x.size > ROWS:
        rows = rows[:10] + rows[-5:]
    for k in rows:
        out.add_row(str(k), f"{result.x[k]:.6g}", f"{result.spread[k]:.3g}")
    return out
