"""What the commands share: options, the progress bar, the end of stdout."""

import contextlib
import json
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

Json = Annotated[bool, typer.Option("--json", help="End with one line of JSON.")]
Seed = Annotated[
    int | None, typer.Option(min=0, help="Seed of all random numbers.", show_default=False)
]
Quick = Annotated[bool, typer.Option("--quick", help="Small settings, to see that it works.")]
NAMES_WIDTH = 110  # columns for the names of commands in a sentence


class Group(TyperGroup):
    """Says which commands there are when asked for another."""

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        command = super().get_command(ctx, cmd_name)
        if command is None:
            # as many as fit a line; --help, which the sentence ends with, has the others
            names = textwrap.shorten(", ".join(self.commands), NAMES_WIDTH, placeholder=" ...")
            ctx.fail(f"there is no {cmd_name!r}, only {names}")
        return command


def given(**options: Any) -> dict[str, Any]:
    """The options that were given; other settings have defaults where they are defined."""
    return {name: value for name, value in options.items() if value is not None}


def double_precision() -> None:
    import jax

    jax.config.update("jax_enable_x64", True)


def writable(folder: Path) -> None:
    """Find out before the work is done, not after."""
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()


@contextlib.contextmanager
def progress(title: str) -> Iterator[Callable[..., None]]:
    """A bar with the time left, on stderr: stdout is for results.

    Call what it yields with (done, total) and, if you like, a new title.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total, now=title: bar.update(
            task, completed=done, total=total, description=now
        )


def show(table: Any) -> None:
    from rich.console import Console

    # a file has no edge at which to cut names short
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def end(as_json: bool, result: dict[str, Any]) -> None:
    if as_json:
        print(json.dumps(result))
