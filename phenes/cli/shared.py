"""Shared by all commands: options, the progress bar, the last line of stdout."""

import contextlib
import json
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup


def count(about: str, least: int = 1, **options: Any) -> Any:
    """An option that is a whole number, which may be written as 1e3."""

    def parse(text: str) -> int:
        with contextlib.suppress(ValueError, OverflowError):
            number = int(text) if text.lstrip("+-").isdigit() else float(text)
            if number == int(number) and number >= least:
                return int(number)
        raise typer.BadParameter(f"must be a whole number of at least {least}, got {text!r}")

    return typer.Option(parser=parse, metavar="INTEGER", help=about, **options)


def option(about: str, default: str | bool = False, **more: Any) -> Any:
    """An option that is None unless it is given. default: what --help says of that case."""
    return typer.Option(help=about, show_default=default, **more)


def flag(name: str, about: str) -> Any:
    return typer.Option(name, help=about)


Json = Annotated[bool, flag("--json", "End with one line of JSON.")]
Seed = Annotated[int | None, count("Seed of all random numbers.", 0, show_default=False)]
Quick = Annotated[bool, flag("--quick", "Small settings, to see that it works.")]
NAMES_WIDTH = 110  # columns for the names of commands in a sentence


class Group(TyperGroup):
    """A group whose error for an unknown command lists the known ones."""

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        command = super().get_command(ctx, cmd_name)
        if command is None:
            # as many as fit a line; --help, which the sentence ends with, has the others
            names = textwrap.shorten(", ".join(self.commands), NAMES_WIDTH, placeholder=" ...")
            ctx.fail(f"there is no {cmd_name!r}, only {names}")
        return command


class Command(TyperCommand):
    """A command whose errors name the option (--x0) where the library names the argument (x0)."""

    def invoke(self, ctx: typer.Context) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        try:
            return super().invoke(ctx)
        except ValueError as error:
            # the library begins with the argument's name: "sigma0 must be positive, got -1.0"
            name, _, rest = str(error).partition(" ")
            for parameter in self.params:
                if parameter.name == name and rest.startswith(("must ", "can ")):
                    raise wrong(f"{_shown(parameter)} {rest}", ctx) from error
            raise


def _shown(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return parameter.human_readable_name
    return max(parameter.opts, key=len)


def wrong(what: object, ctx: typer.Context | None = None) -> Exception:
    """The error for a wrong argument: exit code 2."""
    error = typer.BadParameter(str(what))
    error.ctx = ctx  # pyright: ignore[reportAttributeAccessIssue]
    return error


@contextlib.contextmanager
def of_argument(name: str) -> Iterator[None]:
    """A ValueError or a missing file in here becomes the error for a wrong argument `name`."""
    try:
        yield
    except (ValueError, FileNotFoundError) as error:
        raise wrong(f"{name}: {error}") from error


class Stopped(Exception):
    """Ctrl-C in a run that the same command resumes if `also` is added."""

    def __init__(self, kept: Path, also: str):
        super().__init__(f"stopped; what was done is in {kept}")
        self.also = also


@contextlib.contextmanager
def stoppable(kept: Path, also: str = "") -> Iterator[None]:
    """Ctrl-C in here ends with the command that goes on. kept: the file of runs."""
    try:
        yield
    except KeyboardInterrupt:
        raise Stopped(kept, also) from None


def given(**options: Any) -> dict[str, Any]:
    """The options that were given; other settings have defaults where they are defined."""
    return {name: value for name, value in options.items() if value is not None}


def double_precision() -> None:
    import jax

    jax.config.update("jax_enable_x64", True)


def writable(folder: Path) -> None:
    """Create the folder, or fail before any work is done."""
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()


@contextlib.contextmanager
def progress(title: str, at_once: bool = True) -> Iterator[Callable[..., None]]:
    """A bar with the time left, on stderr: stdout is for results.

    Call what it yields with (done, total) and, if you like, a new title. at_once: show it before
    the first call too.
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
    bar = Progress(*columns, console=Console(stderr=True))
    task = bar.add_task(title, total=None)

    def advance(done: int, total: int, now: str = title) -> None:
        bar.start()
        bar.update(task, completed=done, total=total, description=now)

    try:
        if at_once:
            bar.start()
        yield advance
    finally:
        if bar.live.is_started:
            bar.stop()


def show(table: Any) -> None:
    from rich.console import Console

    # a file has no edge at which to cut names short
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def end(as_json: bool, result: dict[str, Any]) -> None:
    if as_json:
        print(json.dumps(result))
