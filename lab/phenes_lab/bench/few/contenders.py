"""Who takes part: phenes, evolution strategies, model-based libraries, a trust-region method."""

import functools
import importlib.util
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from phenes_lab.bench.few import searches, surrogates
from phenes_lab.rivals import Cmaes, Pycma

OURS, DEFAULT = "phenes", "phenes-adaptive"


class Entrant(NamedTuple):
    """run(problem, looks, seed) -> searches.Answers. modules: what has to be installed.

    once: one run to the largest budget, looked at on the way; otherwise one for each budget.
    milliseconds: of an ask, roughly, for the progress bar.
    """

    about: str
    run: Callable[..., searches.Answers]
    modules: tuple[str, ...] = ()
    once: bool = True
    rival: bool = True
    milliseconds: float = 1.0


def _ours(about: str, engine: str, milliseconds: float) -> Entrant:
    run = functools.partial(searches.ours, engine=engine)
    return Entrant(about, run, once=False, rival=False, milliseconds=milliseconds)


def _library(about: str, module: str, make: Any, **options: Any) -> Entrant:
    run = functools.partial(searches.library, functools.partial(make, **options))
    return Entrant(about, run, (module,))


_pycma = functools.partial(_library, module="cma", make=Pycma, bounded=True)
_cmaes = functools.partial(_library, module="cmaes", make=Cmaes, lr_adapt=True)
CONTENDERS: dict[str, Entrant] = {
    OURS: _ours("phenes.Optimizer with its defaults, told x", "auto", 25),
    DEFAULT: _ours("the same with the evolution strategy, engine='adaptive'", "adaptive", 2),
    "phenes-gp": _ours(
        "the same with the Gaussian process at any budget, engine='gp'",
        "gp",
        45,
    ),
    "botorch-robust": Entrant(
        "BoTorch SingleTaskGP of the realised x with InputPerturbation (16 draws), qLogEI of the"
        " expectation; recommends the argmin of its posterior mean",
        surrogates.robust,
        ("botorch",),
        milliseconds=400,
    ),
    "botorch": Entrant(
        "BoTorch SingleTaskGP, LogEI, told theta; recommends the argmin of its posterior mean",
        surrogates.plain,
        ("botorch",),
        milliseconds=230,
    ),
    "optuna-gp": Entrant(
        "Optuna GPSampler, told theta; recommends its best trial",
        functools.partial(searches.optuna, sampler="GPSampler"),
        ("optuna", "torch"),
        milliseconds=100,
    ),
    "optuna-tpe": Entrant(
        "Optuna TPESampler, told theta; recommends its best trial",
        functools.partial(searches.optuna, sampler="TPESampler"),
        ("optuna",),
        milliseconds=4,
    ),
    "pycma": _pycma("pycma, default population, told theta"),
    "pycma-x": _pycma("pycma, default population, told x clipped to the box", told_x=True),
    "cmaes-lra": _cmaes("cmaes CMA with lr_adapt, default population, told theta"),
    "cmaes-lra-x": _cmaes("cmaes CMA with lr_adapt, default population, told x", told_x=True),
    "pybobyqa": Entrant(
        "Py-BOBYQA with objfun_has_noise, told theta",
        searches.bobyqa,
        ("pybobyqa",),
        once=False,
        milliseconds=5,
    ),
}
RIVALS = tuple(name for name, entrant in CONTENDERS.items() if entrant.rival)
EVOLUTION = ("pycma", "pycma-x", "cmaes-lra", "cmaes-lra-x")


def missing(name: str) -> list[str]:
    """Modules that a contender needs and that are not installed."""
    return [each for each in CONTENDERS[name].modules if importlib.util.find_spec(each) is None]


def installed() -> tuple[str, ...]:
    """Those that run without being asked for; `phenes-gp` is the default up to 500 evaluations."""
    return tuple(name for name in CONTENDERS if name != "phenes-gp" and not missing(name))


def check_installed(names: Iterable[str]) -> None:
    """Say what has to be installed for these contenders before anything is run."""
    lacking = {name: modules for name in names if (modules := missing(name))}
    if lacking:
        modules = sorted({module for each in lacking.values() for module in each})
        raise ValueError(
            f"{', '.join(lacking)} need {', '.join(modules)}, which are not installed: choose"
            " others, or install torch's CPU build and then pip install -e './lab[few]'"
        )
