"""`phenes bench`: measurements, side by side in one run."""

import dataclasses
import importlib
from pathlib import Path
from typing import Annotated, Any

import typer

from phenes.cli.shared import (
    Group,
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

app = typer.Typer(
    cls=Group,
    help=(
        "Measure the library: what the estimators buy, what a generation costs, how it stands"
        " beside others."
    ),
)


def _several(kind: type) -> Any:
    """ "1,4-6" as (1, 4, 5, 6), for options that take many."""

    def parse(text: str) -> tuple[Any, ...]:
        try:
            ends = [part.split("-") if kind is int else [part] for part in text.split(",")]
            return tuple(
                number
                for low, *high in ends
                for number in (range(int(low), int(high[0]) + 1) if high else [kind(low)])
            )
        except ValueError:
            raise typer.BadParameter(
                f"must be {'numbers such as 1,4-6' if kind is int else 'such as a,b'}, got {text!r}"
            ) from None

    return parse


def _many(kind: type, about: str) -> Any:
    return typer.Option(parser=_several(kind), metavar="A,B,..", help=about, show_default=False)


@app.command("estimators")
def estimators(
    samples: Annotated[
        int | None, typer.Option(min=1, help="Individuals behind each number.", show_default=False)
    ] = None,
    seed: Seed = None,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """Variances of the estimators on the same populations, beside the theory."""
    _bench("estimators", quick, as_json, samples=samples, seed=seed)


@app.command("generation")
def generation(
    dims: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Dimension; give it again for more.", show_default=False),
    ] = None,
    popsize: Annotated[
        int | None, typer.Option(min=1, help="Individuals in a generation.", show_default=False)
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Times that each is measured.", show_default=False)
    ] = None,
    seed: Seed = None,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """What a generation costs, beside other libraries."""
    _bench(
        "generation",
        quick,
        as_json,
        dims=tuple(dims) if dims else None,
        popsize=popsize,
        repeats=repeats,
        seed=seed,
    )


@app.command("peers")
def peers(
    dims: Annotated[Any, _many(int, "Dimensions, such as 10,40.")] = None,
    sigmas: Annotated[
        Any,
        _many(
            float,
            "Standard deviations of the input noise, such as .01,.1,.5; 0: unimodal functions.",
        ),
    ] = None,
    functions: Annotated[Any, _many(int, "BBOB functions, such as 1-5,8.")] = None,
    instances: Annotated[
        Any, _many(int, "Instances; 1-3 were used for tuning, others are held out.")
    ] = None,
    peers: Annotated[Any, _many(str, "Contenders, such as phenes,cmaes-lra-x.")] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Independent runs of each.", show_default=False)
    ] = None,
    budget: Annotated[
        int | None, typer.Option(min=1, help="Evaluations for each dimension.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the store, the picture and the report.", show_default="out/peers"
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep what is in the folder and run what it lacks.")
    ] = False,
    renew: Annotated[
        Any, _many(str, "With --resume: contenders to run again nevertheless.")
    ] = None,
    seed: Seed = None,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """BBOB under input noise beside pycma, cmaes and evosax: who reaches which target first."""
    out = out or Path("out") / ("peers-quick" if quick else "peers")
    writable(out)
    from phenes.store import Store
    from phenes_lab.bench import peers as module

    options = given(
        dims=dims,
        sigmas=sigmas,
        functions=functions,
        instances=instances,
        peers=peers,
        seeds=seeds,
        budget=budget,
        seed=seed,
    )
    settings = dataclasses.replace(
        module.Settings.quick() if quick else module.Settings(), **options
    )
    with progress("peers") as advance:
        path = module.run(settings, out, resume, renew or (), advance)
    with Store(path, create=False) as store:
        show(module.table(store))
        summary = module.summary(store)
    print(f"The report is {out / 'report.html'} (and report.md), the data behind it {path}.")
    end(as_json, summary)


@app.command("start")
def start(seed: Seed = None, quick: Quick = False, as_json: Json = False) -> None:
    """The first call of minimize from a cold start; ask and tell beside pycma and cmaes."""
    _bench("start", quick, as_json, seed=seed)


@app.command("steps")
def steps(seed: Seed = None, quick: Quick = False, as_json: Json = False) -> None:
    """Steps of episodes a second, compiled from the table, beside a Gymnasium loop."""
    _bench("steps", quick, as_json, seed=seed)


@app.command("rollouts")
def rollouts(
    environments: Annotated[Any, _many(str, "Ids such as CartPole-v1,Swimmer-v5.")] = None,
    popsize: Annotated[
        int | None, typer.Option(min=1, help="Policies that play together.", show_default=False)
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Times that each is measured.", show_default=False)
    ] = None,
    seed: Seed = None,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """Steps of neural policies a second, beside Gymnasium's synchronous vector environment."""
    _bench(
        "rollouts",
        quick,
        as_json,
        environments=environments,
        popsize=popsize,
        repeats=repeats,
        seed=seed,
    )


@app.command("robust")
def robust(
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Independent runs of each.", show_default=False)
    ] = None,
    seed: Seed = None,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """Published problems with noisy inputs: regret against evaluations, beside cmaes."""
    _bench("robust", quick, as_json, seeds=seeds, seed=seed)


@app.command("wild")
def wild(
    problems: Annotated[
        int | None, typer.Option(min=1, help="Random problems.", show_default=False)
    ] = None,
    seed: Seed = None,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """Random problems: does minimize ever diverge, fail, or end worse than it began?"""
    _bench("wild", quick, as_json, problems=problems, seed=seed)


@app.command("engineering")
def engineering(
    problems: Annotated[Any, _many(str, "Problems, such as filter,coating.")] = None,
    contenders: Annotated[Any, _many(str, "Contenders, such as phenes,pycma-x.")] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Independent runs of each.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for store, pictures and report.", show_default="out/engineering"),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep what is in the folder and run what it lacks.")
    ] = False,
    seed: Seed = None,
    quick: Quick = False,
    as_json: Json = False,
) -> None:
    """Filter, coating, launch, regulator: E f, yield and p95 beside nominal designs, pycma and
    cmaes.
    """
    out = out or Path("out") / ("engineering-quick" if quick else "engineering")
    writable(out)
    from phenes.store import Store
    from phenes_lab.bench import engineering as module

    options = given(problems=problems, contenders=contenders, seeds=seeds, seed=seed)
    settings = dataclasses.replace(
        module.Settings.quick() if quick else module.Settings(), **options
    )
    with progress("engineering") as advance:
        path = module.run(settings, out, resume, advance)
    with Store(path, create=False) as store:
        show(module.table(store))
        summary = module.summary(store)
    print(f"The report is {out / 'report.html'} (and report.md), the data behind it {path}.")
    end(as_json, summary)


def _bench(name: str, quick: bool, as_json: bool, **options: Any) -> None:
    double_precision()
    module = importlib.import_module(f"phenes_lab.bench.{name}")
    settings = dataclasses.replace(
        module.Settings.quick() if quick else module.Settings(), **given(**options)
    )
    with progress(name) as advance:
        rows = module.run(settings, advance)
    show(module.table(rows))
    end(as_json, module.as_json(rows))
