"""The command line. Commands import what they need when they run, so that `phenes --help` waits for none of it.

Every command takes --json, for one line of JSON at the end of stdout. What goes wrong is one line on stderr: exit code 2 for wrong
arguments, 1 for everything else.
"""

import contextlib
import dataclasses
import importlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup


class Group(TyperGroup):
    """Says which commands there are when asked for another."""

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        command = super().get_command(ctx, cmd_name)
        if command is None:
            ctx.fail(f"there is no {cmd_name!r}, only {', '.join(self.commands)}")
        return command


app = typer.Typer(cls=Group, add_completion=False, pretty_exceptions_enable=False, help="Optimise what you can only aim at.")
bench = typer.Typer(cls=Group, help="Measure the library: what the estimators buy, what a generation costs.")
app.add_typer(bench, name="bench")

Json = Annotated[bool, typer.Option("--json", help="End with one line of JSON.")]
Seed = Annotated[int | None, typer.Option(min=0, help="Seed of all random numbers.", show_default=False)]
Quick = Annotated[bool, typer.Option("--quick", help="Small settings, to see that it works.")]


def main(arguments: list[str] | None = None) -> None:
    """The entry point: `app`, with errors as one line."""
    try:
        sys.exit(app(arguments, prog_name="phenes", standalone_mode=False))
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else error, 1)
    except (ValueError, RuntimeError) as error:
        _fail(error, 1)
    except Exception as error:
        # what the command line says of wrong arguments; anything else is a bug, and shows where
        if not hasattr(error, "format_message"):
            raise
        ctx = getattr(error, "ctx", None)
        command = ctx.command_path if ctx else "phenes"
        _fail(f"{error.format_message().rstrip('.')} (see {command} --help)", error.exit_code)  # pyright: ignore[reportAttributeAccessIssue]


def _fail(what: Any, code: int) -> None:
    print(f"phenes: {' '.join(str(what).split())}", file=sys.stderr)
    sys.exit(code)


def _version(wanted: bool) -> None:
    if wanted:
        from phenes import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def options(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False):
    pass


@app.command()
def demo(
    seeds: Annotated[int | None, typer.Option(min=1, help="Independent runs of each method.", show_default=False)] = None,
    generations: Annotated[int | None, typer.Option(min=1, help="Length of a run.", show_default=False)] = None,
    out: Annotated[Path, typer.Option(help="Folder for the picture and the numbers behind it.")] = Path("out"),
    as_json: Json = False,
) -> None:
    """ES against PAES on a problem with noisy inputs: a table and a picture, in half a minute."""
    started = time.perf_counter()
    _writable(out)
    _double_precision()
    from phenes import plots
    from phenes.experiments import demo

    settings = demo.DemoSettings(**_given(seeds=seeds, generations=generations))
    with _progress("ES and PAES") as progress:
        results = demo.run(settings, progress)
    result = demo.summary(results)
    data = demo.save(results, out / "demo.npz")
    picture = plots.save(plots.demo_figure(results, result), out / "demo.png")
    _print(demo.table(result))
    print(f"The picture is {picture}, the numbers behind it {data}.")
    files = {"picture": str(picture), "data": str(data), "seconds": round(time.perf_counter() - started, 1)}
    _end(as_json, {**dataclasses.asdict(result), "settings": dataclasses.asdict(settings), **files})


EXPERIMENTS = ("bbob",)


@app.command()
def reproduce(
    figure: Annotated[str, typer.Argument(help=f"{', '.join(EXPERIMENTS)} or all")],
    quick: Quick = False,
    seeds: Annotated[int | None, typer.Option(min=1, help="Independent runs of each method.", show_default=False)] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the store, the figures and the report.", show_default="out/FIGURE")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run that is in the folder.")] = False,
    as_json: Json = False,
) -> None:
    """Run an experiment of the paper again: figures, and a report of what holds."""
    if figure not in (*EXPERIMENTS, "all"):
        raise typer.BadParameter(f"there is no {figure!r}, only {', '.join(EXPERIMENTS)} and all")
    names = EXPERIMENTS if figure == "all" else (figure,)
    folders = {name: (out or Path("out")) / name if out is None or figure == "all" else out for name in names}
    results = {name: _reproduce(name, folders[name], quick, resume, seeds=seeds) for name in names}
    _end(as_json, results if figure == "all" else results[figure])


def _reproduce(name: str, out: Path, quick: bool, resume: bool, **options: Any) -> dict[str, Any]:
    _writable(out)
    from phenes.store import Store

    module = importlib.import_module(f"phenes.experiments.{name}")
    settings = dataclasses.replace(module.Settings.quick() if quick else module.Settings(), **_given(**options))
    with _progress(name) as progress:
        path = module.run(settings, out, resume, progress)
    with Store(path, create=False) as store:
        summary = module.summary(store)
    print(f"The report is {out / 'report.html'} (and report.md), the data behind it {path}.")
    return summary


@bench.command("estimators")
def bench_estimators(
    samples: Annotated[int | None, typer.Option(min=1, help="Individuals behind each number.", show_default=False)] = None,
    seed: Seed = None,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """Variances of the estimators on the same populations, beside the theory."""
    _bench("estimators", quick, as_json, samples=samples, seed=seed)


@bench.command("generation")
def bench_generation(
    dims: Annotated[list[int] | None, typer.Option(min=1, help="Dimension; give it again for more.", show_default=False)] = None,
    popsize: Annotated[int | None, typer.Option(min=1, help="Individuals in a generation.", show_default=False)] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="Times that each is measured.", show_default=False)] = None,
    seed: Seed = None,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """What a generation costs, beside other libraries."""
    _bench("generation", quick, as_json, dims=tuple(dims) if dims else None, popsize=popsize, repeats=repeats, seed=seed)


def _bench(name: str, quick: bool, as_json: bool, **options: Any) -> None:
    _double_precision()
    module = importlib.import_module(f"phenes.bench.{name}")
    settings = dataclasses.replace(module.Settings.quick() if quick else module.Settings(), **_given(**options))
    with _progress(name) as progress:
        rows = module.run(settings, progress)
    _print(module.table(rows))
    _end(as_json, module.as_json(rows))


def _given(**options: Any) -> dict[str, Any]:
    """Those that were given: all other settings have their defaults where they are defined."""
    return {name: value for name, value in options.items() if value is not None}


def _double_precision() -> None:
    import jax

    jax.config.update("jax_enable_x64", True)


def _writable(folder: Path) -> None:
    """Find out before the work is done, not after."""
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()


@contextlib.contextmanager
def _progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """A bar with the time left, on stderr: stdout is for results."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

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
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _print(table: Any) -> None:
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else 160).print(table)  # a file has no edge at which to cut names short


def _end(as_json: bool, result: dict[str, Any]) -> None:
    if as_json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
