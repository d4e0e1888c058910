"""`phenes bench`: every measurement of `phenes_lab.bench.BENCHES` is a command."""

import functools
import importlib
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from phenes.cli.shared import (
    Command,
    Group,
    Json,
    Quick,
    Seed,
    count,
    double_precision,
    end,
    given,
    progress,
    show,
    writable,
)
from phenes_lab.bench import BENCHES, Bench
from phenes_lab.cli.settings import Change, Resume, changes, made

app = typer.Typer(
    cls=Group,
    help="Measure the library: what the estimators buy, what a generation costs, how it stands"
    " beside others.",
)


def _several(about: str) -> Any:
    """A,B or, of whole numbers, 1,4-6; may be given again."""
    option = typer.Option(metavar="A,B,..", help=about, show_default=False)
    return Annotated[list[str] | None, option]


def _count(about: str) -> Any:
    return Annotated[int | None, count(about, show_default=False)]


OPTIONS = {
    "budget": _count("Evaluations for each dimension."),
    "budgets": _several("Evaluations, such as 30,100,300."),
    "cases": _several("Functions with their noise, such as ellipsoid-noise,stairs-exact."),
    "contenders": _several("Contenders, such as phenes,pycma."),
    "dims": _several("Dimensions, such as 10,40."),
    "each": _several("Evaluations for each dimension, such as 10,40."),
    "engines": _several("Of loky, dask, ray."),
    "environments": _several("Ids such as CartPole-v1,Swimmer-v5."),
    "functions": _several("BBOB functions, such as 1-5,8."),
    "instances": _several("Instances; 1-3 were used for tuning, others are held out."),
    "kills": _count("Of workers and programs, in all."),
    "policies": _several("Policies of the adaptive search, such as screening,early_newton."),
    "peers": _several("Contenders, such as phenes,cmaes-lra-x."),
    "popsize": _count("Individuals in a generation."),
    "problems": _several("Problems or families of them, by name; how many, of random ones."),
    "processes": _count("Processes; by default one for each core."),
    "renew": _several("With --resume: contenders to run again nevertheless."),
    "repeats": _count("Times that each is measured."),
    "samples": _count("Individuals behind each number."),
    "seed": Seed,
    "seeds": _count("Independent runs of each."),
    "sigmas": _several("Standard deviations of the input noise, such as .01,.1; 0: unimodal f."),
}


def _add(name: str, bench: Bench) -> None:
    """The command of a bench, whose signature is what typer reads its options from."""
    hints: dict[str, Any] = {option: OPTIONS[option] for option in (*bench.options, *bench.more)}
    defaults: dict[str, Any] = dict.fromkeys(hints)
    if bench.folder:
        folder = typer.Option(help=bench.folder, show_default=f"out/{name}")
        hints |= {"out": Annotated[Path | None, folder], "resume": Resume}
        defaults |= {"out": None, "resume": False}
    hints |= {"change": Change, "quick": Quick, "as_json": Json}
    defaults |= {"change": None, "quick": False, "as_json": False}

    def command(**options: Any) -> None:
        _run(name, bench, **options)

    parameters = [
        inspect.Parameter(
            option, inspect.Parameter.KEYWORD_ONLY, default=defaults[option], annotation=hint
        )
        for option, hint in hints.items()
    ]
    vars(command)["__signature__"] = inspect.Signature(parameters)
    command.__annotations__ = hints
    app.command(name, help=bench.about, cls=Command)(command)


def _run(
    name: str,
    bench: Bench,
    change: list[str] | None,
    quick: bool,
    as_json: bool,
    out: Path | None = None,
    resume: bool = False,
    **options: Any,
) -> None:
    texts = {
        option: ",".join(value) if isinstance(value, list) else value
        for option, value in given(**options).items()
    }
    wanted = changes(change) | {key: v for key, v in texts.items() if key in bench.options}
    more = {
        key: v.split(",") if key == "renew" else v for key, v in texts.items() if key in bench.more
    }
    of = _modules(bench)
    if bench.folder:
        out = out or Path("out") / (f"{name}-quick" if quick else name)
        writable(out)
    else:
        double_precision()
    settings = made(name, getattr(of("settings"), bench.settings), quick, wanted)
    with progress(name) as advance:
        if out is None:
            results = of("run").run(settings, advance)
        else:
            more |= {"resume": resume, "progress": advance}
            results = _runner(name, bench)(settings, out, **more).results
    show(of("tables").table(results))
    if out is None:
        from phenes_lab.report import rows_as_json

        plain = functools.partial(rows_as_json, name)  # of a bench that has no as_json
        end(as_json, getattr(of("run"), "as_json", plain)(results))
    else:
        print(f"The report is {out / 'report.html'} (and report.md).")
        end(as_json, json.loads((out / "summary.json").read_text()))


def _modules(bench: Bench) -> Callable[[str], Any]:
    """Where `run`, the settings and `table` are: in one module, or in three of a package."""
    path = f"phenes_lab.bench.{bench.module}"
    return lambda name: importlib.import_module(f"{path}.{name}" if bench.folder else path)


def _runner(name: str, bench: Bench) -> Callable[..., Any]:
    """`run(settings, out, resume=, progress=)` of a bench that has a folder."""
    if not bench.experiment:
        return _modules(bench)("run").run
    from phenes_lab import driver

    package = f"phenes_lab.bench.{bench.module}"
    return functools.partial(driver.run, driver.Experiment(name, package, bench.settings))


for _name, _bench in BENCHES.items():
    _add(_name, _bench)
