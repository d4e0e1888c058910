"""`phenes demo`."""

import dataclasses
import time
from pathlib import Path
from typing import Annotated

import typer

from phenes.cli.shared import Json, count, double_precision, end, given, progress, show, writable


def demo(
    seeds: Annotated[
        int | None, count("Independent runs of each method.", show_default=False)
    ] = None,
    generations: Annotated[int | None, count("Length of a run.", show_default=False)] = None,
    out: Annotated[
        Path, typer.Option(help="Folder for the picture and the numbers behind it.")
    ] = Path("out"),
    as_json: Json = False,
) -> None:
    """ES, PAES and `phenes.maximize` on noisy inputs: a table and a picture, in half a minute."""
    started = time.perf_counter()
    writable(out)
    double_precision()
    from phenes import demo, plots
    from phenes.demo.picture import figure

    settings = demo.DemoSettings(**given(seeds=seeds, generations=generations))
    with progress("ES, PAES, maximize") as advance:
        results = demo.run(settings, advance)
    result = demo.summary(results)
    data = demo.save(results, out / "demo.npz")
    picture = plots.save(figure(results, result), out / "demo.png")
    show(demo.table(result))
    print(f"The picture is {picture}, the numbers behind it {data}.")
    files = {
        "picture": str(picture),
        "data": str(data),
        "seconds": round(time.perf_counter() - started, 1),
    }
    end(as_json, {**dataclasses.asdict(result), "settings": dataclasses.asdict(settings), **files})
