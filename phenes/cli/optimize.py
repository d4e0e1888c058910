"""`phenes optimize module:function`."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from phenes.cli.parsing import load_function, read_named, read_problem, read_value
from phenes.cli.shared import (
    Json,
    Seed,
    count,
    end,
    flag,
    given,
    option,
    show,
    stoppable,
    writable,
)

# of the result, for machines
SAID = [
    *("x", "fun", "fun_se", "interval", "verified", "nfev", "nit", "success", "message", "failed"),
    "noise",
]
ROWS = 20  # rows of a table: of more coordinates the first ten and the last five are shown
FUNCTION = (
    "module:function, in the current folder or installed, or file.py:function; it takes x and"
    " returns a number"
)
SPACE = (
    "TOML file with the parameters and, if you like, all other options, which then need not be"
    " given here"
)
X0 = (
    "Where to start: numbers with commas between, as 0,0,1.5; or number*dimension, as 2*10; in a"
    " space by name, as width=100,alloy=B"
)
SIGMA0 = "Standard deviation of the first steps: one number, or one for each coordinate"
NOISE = "Standard deviation of the input noise: one number, one for each coordinate, or learn"
BOUNDS = "Of theta: low:high, or one for each coordinate with commas between"
OBJECTIVE = (
    "What is minimised: mean, std, quantile(0.95), cvar(0.9), probability_below(3) or"
    " mean_plus_std(2)"
)
VERIFY = "Evaluations of the budget that verify the answer; 0: none."
CONSTRAINTS = (
    "How surely the constraints must hold that the function returns beside its value: 0.99 for all"
    " together, stress=0.99,gap=0.9 for each, or average"
)
WORKERS = "Processes that evaluate, dask://host:port or ray."
MAX_ATTEMPTS = "Evaluations of a point whose workers die; 1: never twice."
CHECKPOINT = "File to keep every evaluation in, and to go on from."


def optimize(
    function: Annotated[str, typer.Argument(help=FUNCTION)],
    space: Annotated[Path | None, option(SPACE, "the annotations of the function")] = None,
    x0: Annotated[str | None, option(X0, "the middle of the space")] = None,
    sigma0: Annotated[str | None, option(SIGMA0, "a quarter of each range")] = None,
    noise: Annotated[str | None, option(NOISE, "none, or what the space says")] = None,
    bounds: Annotated[str | None, option(BOUNDS)] = None,
    budget: Annotated[int | None, count("Evaluations, as 1e4.", show_default=False)] = None,
    target: Annotated[float | None, option("Stop when E f is better than this.")] = None,
    popsize: Annotated[
        int | None, count("Evaluations in a generation.", 2, show_default=False)
    ] = None,
    objective: Annotated[str | None, option(OBJECTIVE, "mean")] = None,
    verify: Annotated[int | None, count(VERIFY, 0, show_default="a tenth")] = None,
    engine: Annotated[str | None, option("What asks: auto, gp or adaptive.", "auto")] = None,
    constraints: Annotated[str | None, option(CONSTRAINTS)] = None,
    workers: Annotated[str | None, option(WORKERS, "1")] = None,
    timeout: Annotated[float | None, option("Seconds for one evaluation.")] = None,
    max_attempts: Annotated[int | None, count(MAX_ATTEMPTS, show_default="3")] = None,
    asynchronous: Annotated[
        bool, flag("--asynchronous", "Do not wait for the slowest of a generation.")
    ] = False,
    maximize: Annotated[bool, flag("--maximize", "Look for the largest E f.")] = False,
    realises: Annotated[
        bool, flag("--realises", "The function takes theta and returns (x, value).")
    ] = False,
    vectorized: Annotated[bool, flag("--vectorized", "The function takes rows.")] = False,
    checkpoint: Annotated[Path | None, option(CHECKPOINT, "a new run in OUT/runs.db")] = None,
    resume: Annotated[bool, flag("--resume", "Go on with the last run in OUT/runs.db.")] = False,
    out: Annotated[Path, option("Folder for the picture and the numbers.", True)] = Path("out"),
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
    options |= read_problem(x0, sigma0, noise, bounds, workers)
    result = _solve(f, space, options, checkpoint, resume, out)
    _present(result, out, as_json)


def _solve(
    f: Any,
    space: Path | None,
    options: dict[str, Any],
    checkpoint: Path | None,
    resume: bool,
    out: Path,
) -> Any:
    from phenes import optimizer
    from phenes.cli.run_file import read_settings

    options = read_settings(space, options)
    solve = optimizer.maximize if options.pop("maximize", False) else optimizer.minimize
    kept = checkpoint or out / "runs.db"
    with stoppable(kept, "" if checkpoint else "--resume"):
        return solve(
            f,
            checkpoint=kept,
            resume=resume or checkpoint is not None,
            progress=sys.stderr.isatty(),
            **options,
        )


def _present(result: Any, out: Path, as_json: bool) -> None:
    """The picture, the table, and the numbers for machines."""
    from phenes.plots import convergence, save
    from phenes.watch.snapshot import plain

    picture = save(convergence.figure(result), out / "optimize.png")
    show(table(result))
    if result.constraints is not None:
        show(held(result.constraints))
    print(f"The picture is {picture}.")
    said = {name: result[name] for name in SAID} | {"failing": result.failing._asdict()}
    said["objective"] = str(result.objective)
    if result.space is not None:
        said["x"] = dict(result.x)
    if result.constraints is not None:
        every = (*result.constraints.rows, result.constraints.all)
        said["constraints"] = {each.name: each._asdict() for each in every}
    end(as_json, plain(said) | {"picture": str(picture)})


def table(result: Any) -> Any:
    """The table for the terminal: the answer by coordinate (the first and last of many)."""
    from rich.table import Table

    claim = f"{result.what} = {result.fun:.6g} ± {result.fun_se:.2g}{result._basis()}"
    failing = f"; failing: {result._failures()}" if result._failures() else ""
    doubt = "" if result.success else "not a success: "
    title = f"{claim}{failing}; {result.nfev} evaluations in all: {doubt}{result.message}"
    if result.noise:
        title += f"; noise: {result.noise}"
    if result.space is not None:
        from phenes.optimizer.answer import named_result

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


def held(constraints: Any) -> Any:
    """The table of the constraints at the answer, for the terminal."""
    from rich.table import Table

    head, *rows = constraints.cells()
    out = Table(*head)
    for row in rows:
        out.add_row(*row)
    return out
