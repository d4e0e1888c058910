"""`phenes bench workers`, `asynchronous` and `survive`: evaluation on many processes."""

from typing import Annotated, Any

import typer

from phenes.cli.bench import _bench, _many, app
from phenes.cli.shared import Json, Quick, Seed


@app.command("workers")
def workers(
    engines: Annotated[Any, _many(str, "Of loky, dask, ray.")] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="Generations of each.", show_default=False)] = None,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """Overhead of a task and speed-up on two workers: one process, loky, Dask, Ray."""
    _bench("workers", quick, as_json, engines=engines, repeats=repeats)


@app.command("asynchronous")
def asynchronous(
    seeds: Annotated[int | None, typer.Option(min=1, help="Independent runs of each.", show_default=False)] = None,
    seed: Seed = None,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """Not waiting for the slowest: evaluations and time to the same regret, beside generations."""
    _bench("asynchronous", quick, as_json, seeds=seeds, seed=seed)


@app.command("survive")
def survive(
    kills: Annotated[int | None, typer.Option(min=1, help="Of workers and programs, in all.", show_default=False)] = None,
    engines: Annotated[Any, _many(str, "Of loky, dask, ray.")] = None,
    seed: Seed = None,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """Kill workers and programs at random moments: nothing lost, nothing counted twice, the same end."""
    _bench("survive", quick, as_json, kills=kills, engines=engines, seed=seed)
