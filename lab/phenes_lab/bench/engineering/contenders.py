"""Who takes part: designs that are there already, the libraries that people use today, the paper's
methods, and phenes.
"""

import functools
import importlib.util
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from phenes.problems.engineering import EngineeringProblem
from phenes_lab.bench.engineering import searches

OURS = "phenes"


class Contender(NamedTuple):
    """run(problem, budget, grid, seed) -> Path. fixed: a design, not a search: run(problem) ->
    theta or None. module: what it needs.

    rival: counts among those that phenes is measured against. microseconds: rough cost of a build,
    for the bar. start: which design of the problem a search begins at; where there is none, it does
    not take part.
    """

    about: str
    run: Callable[..., Any]
    module: str = "phenes"
    microseconds: float = 50
    rival: bool = False
    fixed: bool = False
    start: str = "x0"

    def takes_part(self, problem: EngineeringProblem) -> bool:
        return (self.run(problem) if self.fixed else getattr(problem, self.start)) is not None


def _library(about: str, module: str, search: Callable[..., Any], **options: Any) -> Contender:
    made = functools.partial(searches.library, functools.partial(search, **options))
    return Contender(about, made, module, 100, rival=True)


def _design(about: str, name: str) -> Contender:
    return Contender(about, lambda problem: getattr(problem, name), fixed=True)


def _paper(about: str, estimator: str) -> Contender:
    return Contender(about, functools.partial(searches.paper, estimator), "phenes", 60)


CONTENDERS: dict[str, Contender] = {
    "nominal": _design("the design without a thought of tolerances", "nominal"),
    "screened": _design("the best of 15 nominal designs, by Monte Carlo", "screened"),
    "pycma": _library("pycma, default population, told theta", "cma", searches.Pycma),
    "pycma-x": _library("pycma, default population, told x", "cma", searches.Pycma, told_x=True),
    "cmaes": _library("cmaes, default population, told theta", "cmaes", searches.Cmaes),
    "cmaes-x": _library("cmaes, default population, told x", "cmaes", searches.Cmaes, told_x=True),
    "cmaes-lra": _library(
        "cmaes with lr_adapt, told theta", "cmaes", searches.Cmaes, lr_adapt=True
    ),
    "cmaes-lra-x": _library(
        "cmaes with lr_adapt, told x", "cmaes", searches.Cmaes, lr_adapt=True, told_x=True
    ),
    "ES": _paper("the paper's ES: fixed spread, weights by value, told theta", "genotype"),
    "PAES": _paper("the paper's PAES: the same, told x", "phenotype"),
    "phenes-theta": Contender(
        "phenes.Optimizer, told theta: what the realised x is worth",
        searches.told_theta,
        microseconds=1000,
    ),
    OURS: Contender("phenes.maximize with its defaults, told x", searches.ours, microseconds=1000),
    "phenes-screened": Contender(
        "the same, from the best of 15 nominal designs",
        functools.partial(searches.ours, start="screened"),
        microseconds=1000,
        start="screened",
    ),
    "best known": _design("the optimum, or the best that is known of it", "optimum"),
}
# they take as long as all others together
DEFAULT = tuple(name for name in CONTENDERS if not name.startswith("phenes-"))
RIVALS = tuple(name for name, contender in CONTENDERS.items() if contender.rival)


def check_installed(names: Iterable[str]) -> None:
    missing = sorted(
        {
            CONTENDERS[name].module
            for name in names
            if importlib.util.find_spec(CONTENDERS[name].module) is None
        }
    )
    if missing:
        raise ValueError(
            f"the libraries need {', '.join(missing)}, not installed: choose --contenders, or"
            f" pip install -e ./lab"
        )
