"""What asks: the searches behind `Optimizer`, and which of them a run has."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Protocol

import numpy as np

from phenes._validate import BoolArray, FloatArray
from phenes.adaptive import Adaptive
from phenes.adaptive.restarts import default_popsize
from phenes.constraints import Wanted
from phenes.evidence.control import LocalModel, Surrogate
from phenes.optimizer.merit import Merit
from phenes.optimizer.noise.state import NoiseState
from phenes.optimizer.setup import Setup
from phenes.risk import mean

AUTO, GP, RELAY, ADAPTIVE = "auto", "gp", "relay", "adaptive"
ENGINES = (AUTO, GP, RELAY, ADAPTIVE)
# Budget and coordinates up to which the Gaussian process asks: beyond, its cost for each evaluation
# grows and its lead shrinks (`phenes bench few`; 11 to 15 coordinates: docs/few.md).
FEW_EVALUATIONS, FEW_COORDINATES = 500, 15
# Budget up to which it begins, and an evolution strategy goes on.
SOME_EVALUATIONS = 2000
# Coordinates up to which it asks where some are whole numbers or choices, is asked for second
# opinions of other answers, and makes a front of two objectives: beyond, none was measured.
OPINION_COORDINATES = 10


class Search(Protocol):
    """A search: ask for theta, tell what came of them. All arrays are clean, values minimised."""

    @property
    def x0(self) -> FloatArray:
        """Where it started, within the bounds, (d,)."""
        ...

    @property
    def width(self) -> FloatArray:
        """The user's sigma0, (d,)."""
        ...

    @property
    def popsize(self) -> int:
        """How many theta it asks for by itself."""
        ...

    @property
    def first_popsize(self) -> int:
        """How many it asked for at first; restarts may have larger populations."""
        ...

    @property
    def least(self) -> int:
        """Rows that are worth an update."""
        ...

    @property
    def mean(self) -> FloatArray:
        """What it proposes as the answer, (d,)."""
        ...

    @property
    def estimate(self) -> tuple[float, float]:
        """E f there by its own model, and the standard error."""
        ...

    @property
    def surrogate(self) -> Surrogate | None:
        """Its model of f, if it explains values anywhere."""
        ...

    @property
    def local_model(self) -> LocalModel | None:
        """Its last quadratic of f around its mean, as a function of x."""
        ...

    @property
    def noise_cost(self) -> float:
        """What the noise of the inputs adds to F there."""
        ...

    @property
    def spread(self) -> FloatArray:
        """Standard deviation of the search in each coordinate, (d,)."""
        ...

    @property
    def challenging(self) -> bool:
        """Whether it looks elsewhere, beside a best place that it knows."""
        ...

    @property
    def phase(self) -> str:
        """What it is doing, in a word."""
        ...

    @property
    def converged(self) -> str:
        """Why more evaluations would gain nothing; empty while they may."""
        ...

    def ask(self, n: int | None = None, beside: int = 0) -> FloatArray:
        """theta (n, d). beside: rows of the caller's that are evaluated with them."""
        ...

    def retrace(self, theta: FloatArray, beside: int = 0) -> FloatArray:
        """The state after an ask that gave these theta (n, d); those that it gives now."""
        ...

    def withdraw(self, theta: FloatArray) -> None:
        """These theta (n, d) were asked and will not be told."""
        ...

    def predict(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """E f at theta (n, d) by its model, and the standard error; NaN where it has none."""
        ...

    def tell(
        self, theta: FloatArray, x: FloatArray, f: FloatArray, measured: BoolArray | None = None
    ) -> None:
        """What was intended, realised (unmeasured coordinates at their expectation), and f.

        f (n,), or (n, 1 + J) with the constraints after the value.
        f is what users tell, as minimised; a search makes a merit of it by itself, if it has one.
        """
        ...

    def learn(
        self, theta: FloatArray, x: FloatArray, f: FloatArray, measured: BoolArray | None = None
    ) -> None:
        """The same, of rows that were drawn to verify."""
        ...

    def revalue(self) -> None:
        """The merit of what was told has changed: all rows are worth something else now."""
        ...

    def conclude(self) -> None:
        """No more rows of the search will come."""
        ...

    def restart(self, theta: FloatArray, width: float | None = None) -> None:
        """The evidence says that the answer is at theta (d,).

        width: how wide to begin there, in units of sigma0; the search's own choice by default.
        """
        ...

    def better_than(self, theta: FloatArray) -> FloatArray | None:
        """What it proposes instead of theta (d,), if that is better by a standard error."""
        ...

    def inside(self, theta: FloatArray) -> FloatArray:
        """The nearest points within the bounds, (n, d)."""
        ...

    def update_noise(
        self, cov: FloatArray, bias: FloatArray, unmeasured: FloatArray | None = None
    ) -> None:
        """Better knowledge of the law of x - theta."""
        ...

    def expected_gain(self, n: int = 1) -> float:
        """What n more evaluations are expected to improve; NaN if it cannot say."""
        ...

    def take_events(self) -> dict[str, int]:
        """What happened since the last call."""
        ...


def choose_engine(engine: str, setup: Setup, budget: int) -> str:
    """The engine, by parameters and budget if the user leaves it open.

    With whole numbers or choices a Gaussian process begins whatever the budget is: options have
    best places of their own, and a search that narrows around one of them does not see the others.
    """
    if engine != AUTO:
        return engine
    most = FEW_COORDINATES if setup.lattice is None else OPINION_COORDINATES
    if setup.parameters > most or not FEW_EVALUATIONS:
        return ADAPTIVE
    if budget <= FEW_EVALUATIONS:
        return GP
    return RELAY if budget <= SOME_EVALUATIONS or setup.lattice is not None else ADAPTIVE


def offers_opinions(engine: str, setup: Setup) -> bool:
    """Whether a Gaussian process is asked for a second opinion of the answer.

    Of whole numbers and choices it has none: a model of real numbers does not know them.
    """
    return engine != GP and setup.lattice is None and setup.parameters <= OPINION_COORDINATES


def population(batch: int | None, popsize: int | None, dim: int) -> int | None:
    """The population of the evolution strategy, None for its own.

    Of batches that a lab runs at once it has as many as it takes: three evaluations are no
    generation in ten dimensions.
    """
    if batch is None:
        return popsize
    return batch * -(-default_popsize(dim) // batch)


def make_search(
    engine: str,
    setup: Setup,
    noise: NoiseState,
    popsize: int | None,
    seed: int,
    budget: int,
    wanted: Wanted | None = None,
    merit: Merit | None = None,
) -> Search:
    """The search of a run."""
    merit = Merit(mean()) if merit is None else merit
    if engine == ADAPTIVE:
        return _strategy(setup, noise, popsize, seed, budget, merit)
    from phenes.gp import BayesianSearch

    known = noise.known
    process = BayesianSearch(
        setup.x0,
        setup.sigma0,
        known.cov,
        seed=seed,
        bias=known.bias,
        lower=setup.lower,
        upper=setup.upper,
        lattice=setup.lattice,
        draws=noise.draws_at,
        budget=budget,
        wanted=wanted,
        risk=merit.functional,
    )
    if engine == GP:
        return process
    from phenes.optimizer.relay import Relay

    return Relay(process, _strategy(setup, noise, popsize, seed, budget, merit), known.cov)


def _strategy(
    setup: Setup, noise: NoiseState, popsize: int | None, seed: int, budget: int, merit: Merit
) -> Search:
    """The evolution strategy, of numbers or of a lattice."""
    known, rng = noise.known, np.random.default_rng([seed, 0])
    values = None if merit.plain else merit.values
    make: Callable[..., Search] = Adaptive
    if setup.lattice is not None:
        from phenes.adaptive.mixed import Mixed

        make = functools.partial(Mixed, lattice=setup.lattice)
    return make(
        setup.x0,
        setup.sigma0,
        known.cov,
        popsize=popsize,
        rng=rng,
        bias=known.bias,
        lower=setup.lower,
        upper=setup.upper,
        budget=budget,
        merit=values,
    )
