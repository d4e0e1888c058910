"""`phenes bench workers`, `asynchronous`, `memory` and `survive`: evaluation on many processes, and
for long.
"""

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
from phenes_lab.cli.measurements import _bench, _many, app


@app.command("workers")
def workers(
    engines: Annotated[Any, _many(str, "Of loky, dask, ray.")] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Generations of each.", show_default=False)
    ] = None,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """Overhead of a task and speed-up on two workers: one process, loky, Dask, Ray."""
    _bench("workers", quick, as_json, engines=engines, repeats=repeats)


@app.command("asynchronous")
def asynchronous(
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Independent runs of each.", show_default=False)
    ] = None,
    seed: Seed = None,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """Not waiting for the slowest: evaluations and time to the same regret, beside generations."""
    _bench("asynchronous", quick, as_json, seeds=seeds, seed=seed)


@app.command("memory")
def memory(seed: Seed = None, quick: Quick = False, as_json: Json = False) -> None:
    """Resident memory of a run after 1e4, 1e5 and 1e6 evaluations."""
    _bench("memory", quick, as_json, seed=seed)


@app.command("survive")
def survive(
    kills: Annotated[
        int | None, typer.Option(min=1, help="Of workers and programs, in all.", show_default=False)
    ] = None,
    engines: Annotated[Any, _many(str, "Of loky, dask, ray.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the report.", show_default="out/survive")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the rounds in the folder.")
    ] = False,
    seed: Seed = None,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """Kill workers and programs at random moments: nothing lost, nothing counted twice, the same
    end.
    """
    from phenes_lab.bench import survive as module

    double_precision()
    out = out or Path("out") / "survive"
    settings = dataclasses.replace(
        module.Settings.quick() if quick else module.Settings(),
        **given(kills=kills, engines=engines, seed=seed),
    )
    writable(out)
    before = module.read(out, settings) if resume else []
    with progress("survive") as advance:
        rounds = module.run(
            settings, advance, lambda rounds: module.write(out, settings, rounds), before
        )
    show(module.table(rounds))
    print(f"The report is {out / 'report.md'}.")
    end(as_json, module.as_json(rounds))
