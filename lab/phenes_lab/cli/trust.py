"""`phenes bench trust`: is what the answer says of itself true?"""

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import typer

from phenes.cli.shared import (
    Json,
    Quick,
    Seed,
    double_precision,
    end,
    given,
    progress,
    show,
    writable,
)
from phenes_lab.cli.measurements import _many, app


@app.command("trust")
def trust(
    problems: Annotated[Any, _many(str, "Problems or families, such as beam,yield.")] = None,
    budgets: Annotated[Any, _many(int, "Evaluations, such as 30,100,300.")] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Instances of each problem.", show_default=False)
    ] = None,
    contenders: Annotated[Any, _many(str, "Of phenes,phenes-asktell,pycma,cmaes.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for rows, picture and report.", show_default="out/trust"),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep what is in the folder and run what it lacks.")
    ] = False,
    processes: Annotated[
        int | None,
        typer.Option(min=1, help="Processes; by default one for each core.", show_default=False),
    ] = None,
    seed: Seed = None,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """Functions that jump, fail or are flat: is E f where the answer says, and the answer no worse
    than the start?
    """
    out = out or Path("out") / ("trust-quick" if quick else "trust")
    writable(out)
    double_precision()
    from phenes_lab.bench import trust as module
    from phenes_lab.bench.trust.problem import chosen
    from phenes_lab.bench.trust.writing import report

    options = given(
        problems=problems and chosen(problems),
        budgets=budgets,
        seeds=seeds,
        contenders=contenders,
        seed=seed,
    )
    settings = dataclasses.replace(
        module.Settings.quick() if quick else module.Settings(), **options
    )
    with progress("trust") as advance:
        rows = module.run(settings, advance, processes, out, resume)
    show(module.table(rows))
    print(f"The report is {report(rows, settings, out)}.")
    end(as_json, module.as_json(rows))
