"""`phenes train ENV_ID`."""

import time
from pathlib import Path
from typing import Annotated

import typer

from phenes.cli.shared import Json, Seed, double_precision, end, given, progress, writable


def train(
    environment: Annotated[str, typer.Argument(metavar="ENV_ID", help="id of a Gymnasium environment with a table, as FrozenLake-v1")],
    generations: Annotated[int | None, typer.Option(min=1, help="How long to learn.", show_default=False)] = None,
    popsize: Annotated[int | None, typer.Option(min=2, help="Episodes in a generation.", show_default=False)] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Of the environment, as is_slippery=false; may be given again.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the picture and the policy.")] = Path("out"),
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Learn to act: the policy as arrows on the map, and the learning curve."""
    started = time.perf_counter()
    writable(out)
    double_precision()
    from phenes.rl.tabular import command

    with progress(environment) as advance:
        text, result = command.run(environment, out, option or [], advance, **given(generations=generations, popsize=popsize, seed=seed))
    print(text)
    end(as_json, {**result, "seconds": round(time.perf_counter() - started, 1)})
