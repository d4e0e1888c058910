"""`phenes train ENV_ID`."""

import time
from pathlib import Path
from typing import Annotated

import typer

from phenes.cli.shared import (
    Json,
    Seed,
    count,
    double_precision,
    end,
    flag,
    given,
    of_argument,
    option,
    stoppable,
    writable,
)

ENVIRONMENT = "id of a Gymnasium environment, as CartPole-v1 or FrozenLake-v1"
PRESET = "paper, paper-es: the paper's settings; ars, ars-v1: random search."
OF_ENVIRONMENT = "Of the environment, as is_slippery=false; may be given again."


def train(
    environment: Annotated[str, typer.Argument(metavar="ENV_ID", help=ENVIRONMENT)],
    preset: Annotated[str | None, option(PRESET)] = None,
    generations: Annotated[int | None, count("How long to learn.", show_default=False)] = None,
    popsize: Annotated[
        int | None, count("Episodes in a generation.", 2, show_default=False)
    ] = None,
    sigma: Annotated[float | None, option("Spread of the search.")] = None,
    rate: Annotated[float | None, option("Learning rate.")] = None,
    hidden: Annotated[
        str | None, option("Of the hidden layers, as 64,64.", metavar="WIDTHS")
    ] = None,
    target: Annotated[float | None, option("Return to stop at.", "the environment's own")] = None,
    workers: Annotated[int | None, count("Processes that play.", show_default=False)] = None,
    option: Annotated[list[str] | None, option(OF_ENVIRONMENT, metavar="NAME=VALUE")] = None,
    render: Annotated[Path | None, option("An episode as a .gif or .mp4.", metavar="FILE")] = None,
    tensorboard: Annotated[
        Path | None, option("Event files for TensorBoard.", metavar="DIR")
    ] = None,
    resume: Annotated[bool, flag("--resume", "Go on with the last run in the folder.")] = False,
    out: Annotated[Path, option("Folder for the picture, the policy and runs.db.", True)] = Path(
        "out"
    ),
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Learn to act: writes a policy and its learning curve to files.

    For environments with a map, also the policy as arrows on the map.
    """
    started = time.perf_counter()
    writable(out)
    from phenes.cli.policies import parse_options, report
    from phenes.plots import film
    from phenes.rl.training import learns_table, train
    from phenes.watch import TensorBoard

    with of_argument("--option"):
        options = parse_options(option or [])
    settings = given(
        preset=preset,
        generations=generations,
        popsize=popsize,
        sigma=sigma,
        rate=rate,
        hidden=_widths(hidden),
        target=target,
        workers=workers,
        seed=seed,
    )
    if render is not None:
        with of_argument("--render"):
            film.check(render)
    with of_argument("--tensorboard"):
        board = None if tensorboard is None else TensorBoard(tensorboard)
    with of_argument("ENV_ID"):
        table = learns_table(environment, options, **settings)
    if table:
        double_precision()  # values of tables are exact
    kept = out / "runs.db"
    with stoppable(kept, "--resume"):
        trained = train(
            environment, options=options, checkpoint=kept, resume=resume, callback=board, **settings
        )
    text, result = report(trained, out, render, workers)
    print(text)
    end(as_json, {**result, "seconds": round(time.perf_counter() - started, 1)})


def _widths(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        return tuple(int(width) for width in text.split(",") if width.strip())
    except ValueError:
        raise typer.BadParameter(f"--hidden must be widths such as 64,64, got {text!r}") from None
