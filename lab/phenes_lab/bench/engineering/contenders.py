"""The contenders: designs without a search, libraries, the paper's methods, and phenes."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from phenes.problems.engineering import EngineeringProblem
from phenes_lab import contenders
from phenes_lab.bench.engineering import searches

OURS = contenders.OURS


class Entrant(NamedTuple):
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


def _library(name: str) -> Entrant:
    about, module, _, search, *_ = contenders.CONTENDERS[name]
    return Entrant(about, functools.partial(searches.library, search), module, 100, rival=True)


def _design(about: str, name: str) -> Entrant:
    return Entrant(about, lambda problem: getattr(problem, name), fixed=True)


def _paper(about: str, estimator: str) -> Entrant:
    return Entrant(about, functools.partial(searches.paper, estimator), "phenes", 60)


LIBRARIES = ("pycma", "pycma-x", "cmaes", "cmaes-x", "cmaes-lra", "cmaes-lra-x")
CONTENDERS: dict[str, Entrant] = {
    "nominal": _design("the design without a thought of tolerances", "nominal"),
    "screened": _design("the best of 15 nominal designs, by Monte Carlo", "screened"),
    **{name: _library(name) for name in LIBRARIES},
    "ES": _paper("the paper's ES: fixed spread, weights by value, told theta", "genotype"),
    "PAES": _paper("the paper's PAES: the same, told x", "phenotype"),
    "phenes-theta": Entrant(
        "phenes.Optimizer, told theta: what the realised x is worth",
        searches.told_theta,
        microseconds=1000,
    ),
    OURS: Entrant("phenes.maximize with its defaults, told x", searches.ours, microseconds=1000),
    "phenes-screened": Entrant(
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
