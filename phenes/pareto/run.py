"""`phenes.front`: one run, one archive, the whole front."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from phenes import _validate
from phenes._validate import FloatArray, IntArray
from phenes.execution import Evaluate, Pool
from phenes.gp.search import design_size
from phenes.optimizer.by_name import ByName
from phenes.optimizer.engines import OPINION_COORDINATES
from phenes.optimizer.loops.shared import refuse_failures
from phenes.optimizer.noise.state import NoiseState
from phenes.optimizer.records.evaluations import Row, row
from phenes.optimizer.setup import Setup, make_setup
from phenes.optimizer.workers import make_workers
from phenes.pareto.answer import Axis, Front
from phenes.pareto.evidence import Archive, Claimed
from phenes.pareto.hypervolume import shown_to_be_beaten
from phenes.pareto.objectives import Objective, Wished, as_minimised, wished
from phenes.pareto.search import FrontSearch
from phenes.pareto.values import Values, row_of
from phenes.space import Space

if TYPE_CHECKING:
    from phenes.optimizer.options import Bounds, Noise, WorkersLike
    from phenes.risk import Risk

DEFAULT_BUDGET = 60  # evaluations for each parameter and one more
VERIFIED = 0.4  # share of the budget that is kept for fresh draws at the designs
DESIGNS = 12  # that are verified, if the budget allows
LEAST_DRAWS = 4  # at each design: with less there are fewer designs
MOST_SEARCHED = 400  # evaluations that the model takes in; those beyond verify
SAID = 3  # different errors of f that are reported


class Run:
    """What happens between the arguments and the front."""

    def __init__(
        self,
        setup: Setup,
        wishes: Wished,
        evaluate: Evaluate,
        budget: int,
        seed: int,
    ):
        self.setup, self.wishes, self.evaluate, self.seed = setup, wishes, evaluate, seed
        self.budget = budget
        self.noise = NoiseState(setup.noise, setup.x0)
        self.batches = self.nfev = self.failed = 0
        self.errors: list[str] = []
        self.names: tuple[str, ...] = ()

    def search(self, pool: Pool, most: int) -> None:
        """Evaluate the design, then what the search asks for, up to `most` evaluations."""
        first = FrontSearch(self.setup, self.noise, PLACEHOLDER, 1, self.budget, self.seed)
        theta = first.ask(min(first.batch, most))
        rows = self._evaluated(pool, theta)
        refuse_failures(rows)
        self.names = next(tuple(n for n, _ in r.constraints) for r in rows if r.constraints)
        self.objectives = self.wishes.of(self.names)
        columns = len(self.names)
        args = (self.setup, self.noise, self.objectives, columns, self.budget, self.seed)
        self.model = FrontSearch(*args)
        self.model.asked = len(theta)
        self.archive = Archive(theta.shape[1], columns, 2 * self.model.design)
        self._tell(rows, "design")
        while self.nfev < most:
            theta = self.model.ask(min(self.model.batch, most - self.nfev))
            self._tell(self._evaluated(pool, theta), "search")

    def _evaluated(self, pool: Pool, theta: FloatArray) -> list[Row]:
        """Rows of f at what becomes of theta, in the order asked."""
        realises = self.evaluate.realises
        x = theta if realises else self.noise.model.draw(self.seed, self.batches, theta)
        self.batches += 1
        for i, point in enumerate(x):
            pool.send(i, point)
        rows: list[Row] = []
        while len(pool):
            rows += [row(i, theta[i], x[i], outcome, realises) for i, outcome in pool.take()]
        return sorted(rows, key=lambda each: each.index)

    def _tell(self, rows: list[Row], phase: str) -> None:
        found = [row_of(each.constraints, each.error, self.names) for each in rows]
        values = as_minimised(np.array([f for f, _ in found]), self.wishes.signs)
        for _, error in found:
            if error and error not in self.errors and len(self.errors) < SAID:
                self.errors.append(error)
        theta, x = np.array([each.theta for each in rows]), np.array([each.x for each in rows])
        self.noise.observe(theta, x, self.nfev == 0)
        points, changed = self.noise.refresh(theta, x)
        self.noise.points(theta, x)  # notes which coordinates are measured
        if changed:
            self.model.update_noise()
        self.nfev += len(rows)
        self.failed += int(np.isnan(values[:, 0]).sum())
        if phase != "verify":
            self.model.tell(theta, points, values, ~np.isnan(x))
        self.archive.add(theta, x, points, values, phase)

    def verify(self, pool: Pool, points: int) -> FloatArray:
        """Fresh draws at the designs of the model's front; the designs, (k, d)."""
        left = self.budget - self.nfev
        least = 1 if self.noise.noiseless else LEAST_DRAWS
        few = max(min(points, left // least), 1)
        theta = self.model.front(few)
        each = left // len(theta) + (np.arange(len(theta)) < left % len(theta))
        if each.sum():
            self._tell(self._evaluated(pool, np.repeat(theta, each, axis=0)), "verify")
        return theta


PLACEHOLDER: Any = ()  # objectives of a search that spreads its first points only


def front(
    f: Callable[..., Any],
    space: Space | ArrayLike | None = None,
    sigma0: ArrayLike | None = None,
    noise: Noise = None,
    *,
    objectives: Sequence[Risk] | None = None,
    maximize: bool | Sequence[bool] = False,
    x0: ArrayLike | Mapping[str, Any] | None = None,
    bounds: Bounds = None,
    budget: int | None = None,
    points: int | None = None,
    verify: int | None = None,
    workers: WorkersLike = None,
    realises: bool = False,
    seed: int = 0,
) -> Front:
    """The designs that no other beats in both of two objectives, from one run.

    All evaluations stand in one archive, whatever part of the front they were made for. Gaussian
    processes of f on the realised x give any risk at any theta from it, and each evaluation is
    made where it is expected to add most to the area that the front rules. The last share of the
    budget is fresh draws at designs spread along the front; what they show to be beaten, by more
    than the errors, is left out, and all that is claimed rests on them.

    Parameters
    ----------
    f : callable
        Takes the realised x, as for `minimize`, and returns a number, or two: as a tuple, or as a
        mapping with their names. Exceptions and NaN are failed evaluations: counted, and survived.
    space : Space or array_like, shape (d,), optional
        What is searched, in up to 10 parameters: named parameters with their ranges, or for plain
        vectors where the search starts. Without either, what the annotations of f declare.
    sigma0, noise, x0, bounds
        As for `minimize`.
    objectives : sequence of two Risk, optional
        Where f returns one number, two risks of it; where it returns two, a risk of each. By
        default mean and standard deviation of one, and the means of two.
    maximize : bool or sequence of two bool, optional
        Whether large values of f are good; where it returns two numbers, of each. A standard
        deviation is always made small.
    budget : int, optional
        Evaluations in all, by default 60 (d + 1).
    points : int, optional
        Designs along the front that are verified, by default at most 12.
    verify : int, optional
        Evaluations of the budget for fresh draws at the designs, by default two fifths; those of a
        budget that the model cannot take in (beyond 400) verify too.
    workers : Workers, int, str, Executor or Dask Client, optional
        As for `minimize`; the front does not depend on their number.
    realises : bool, optional
        f takes theta and returns (x, value) or (x, (value, value)), as a lab does.
    seed : int, optional
        The same seed gives the same front.

    Returns
    -------
    Front
        Designs, both objectives at each with their standard errors, and all evaluations.

    Raises
    ------
    ValueError
        If an argument is not what it must be, before anything is evaluated; or if f returns one
        number where the objectives need two.
    RuntimeError
        If f fails on all of the first evaluations.

    Examples
    --------
    >>> import numpy as np, phenes
    >>> def both(x):
    ...     return np.sum((x - 1) ** 2), np.sum((x + 1) ** 2)
    >>> found = phenes.front(both, np.zeros(1), 0.5, 0.1, budget=40)
    >>> bool(np.all(np.diff(found.values[:, 0]) > 0))  # each design gives up some of the first
    True
    """
    wishes = wished(objectives, maximize)
    _validate.flag("realises", realises)
    where = make_workers(workers, {}, "front")
    if where.asynchronous:
        raise ValueError("workers must not be asynchronous: a front is told batch by batch")
    if space is None and x0 is None:
        space = Space.of(_validate.function("f", f, "lambda x: (x[0] ** 2, x[1] ** 2)"))
    setup = make_setup(space, sigma0, noise, x0, bounds)
    if setup.parameters > OPINION_COORDINATES:
        raise ValueError(
            f"a front needs at most {OPINION_COORDINATES} parameters, which its models can be made"
            f" of, got {setup.parameters}"
        )
    exact = not realises and NoiseState(setup.noise, setup.x0).noiseless
    searched, total, designs = _shares(setup, budget, verify, points, exact)
    run_seed = _validate.count("seed", seed, 0)
    _validate.function("f", f, "lambda x: (x[0] ** 2, x[1] ** 2)")
    by_name = f if setup.space is None else ByName(f, setup.space, realises, False)
    evaluate = Evaluate(
        Values(by_name, realises),
        realises=realises,
        workers=where.workers,
        timeout=where.timeout,
        max_attempts=where.max_attempts,
        constrained=True,
    )
    try:
        run = Run(setup, wishes, evaluate, total, run_seed)
        _check_noise(run, wishes, realises)
        with contextlib.closing(evaluate.open()) as pool:
            run.search(pool, searched)
            theta = run.verify(pool, designs)
    finally:
        evaluate.close()
    return _front(run, theta)


def _shares(
    setup: Setup, budget: Any, verify: Any, points: Any, exact: bool
) -> tuple[int, int, int]:
    """Evaluations that are searched with, all of them, and designs that are verified.

    exact: a design has one value, so that one evaluation verifies it.
    """
    dim = setup.x0.size
    total = DEFAULT_BUDGET * (setup.parameters + 1)
    if budget is not None:
        total = _validate.count("budget", budget)
    design = design_size(dim, total)
    least = design + LEAST_DRAWS
    if total < least:
        raise ValueError(f"budget must be at least {least} for {dim} coordinates, got {total}")
    kept = round(VERIFIED * total) if verify is None else _validate.count("verify", verify, 0)
    if kept > total - design:
        raise ValueError(
            f"verify must leave {design} of the {total} evaluations for the search, got {kept}"
        )
    designs = DESIGNS if points is None else _validate.count("points", points)
    if verify is None:
        kept = min(kept, designs) if exact else kept
        kept = min(max(kept, total - MOST_SEARCHED), total - design)
    return total - kept, total, designs


def _check_noise(run: Run, wishes: Wished, realises: bool) -> None:
    if run.noise.learns and not realises:
        raise ValueError(
            "noise='learn' needs an experiment that realises x: give realises=True and an f that"
            " returns (x, value)"
        )
    if wishes.needs_noise and run.noise.noiseless and not realises:
        raise ValueError(
            "noise must be given for objectives that are no means: without it f(x) at a design has"
            " one value"
        )


def _front(run: Run, theta: FloatArray) -> Front:
    claimed = run.archive.claim(theta, run.objectives, run.model, run.noise)
    known = np.all(np.isfinite(claimed.values), axis=1)
    best = ~shown_to_be_beaten(claimed.values, claimed.errors)
    best = best if known.any() else np.ones(len(theta), bool)
    order = np.flatnonzero(best)
    order = order[np.argsort(claimed.values[order, 0], kind="stable")]
    values, errors = _shown(claimed.values, claimed.errors, run.objectives)
    others = np.flatnonzero(~best & known)
    first, second = (
        Axis(each.label, str(each.risk), bool(each.slope < 0), each.ends) for each in run.objectives
    )
    made = Front(
        theta[order],
        values[order],
        errors[order],
        claimed.draws[order],
        claimed.failed[order],
        (first, second),
        {"vectors": theta[others], "values": values[others], "errors": errors[others]},
        run.nfev,
        run.failed,
        errors_of_f=tuple(run.errors),
        space=run.setup.space,
        evaluations=_evaluations(run),
        seed=run.seed,
    )
    return _judged(made, claimed, len(others))


def _shown(
    values: FloatArray, errors: FloatArray, objectives: tuple[Objective, Objective]
) -> tuple[FloatArray, FloatArray]:
    columns = [each.shown(values[:, k]) for k, each in enumerate(objectives)]
    return np.column_stack(columns), errors


def _evaluations(run: Run) -> Any:
    """All rows, of both values if f has two."""
    tables = [
        seen.arrays(sign) for seen, sign in zip(run.archive.seen, run.wishes.signs, strict=False)
    ]
    found = tables[0]
    if len(tables) > 1:
        further = {name: each.f for name, each in zip(run.names, tables, strict=True)}
        found = found._replace(further=further)
    return found if run.setup.space is None else found.named(run.setup.space)


def _judged(made: Front, claimed: Claimed, beaten: int) -> Front:
    """The front with its message."""
    sure = int(made.verified.sum())
    words = [f"{_counted(len(made), 'design')} from {made.nfev} evaluations"]
    words.append(_verified(made.draws[made.verified], sure == len(made)))
    if beaten:
        words.append(f"{beaten} left out, which the draws showed to be beaten")
    if made.failed:
        words.append(f"{made.failed} evaluations failed, and values are of x that have one")
    success = sure == len(made) and len(made) > 0
    return replace(made, success=success, message="; ".join(words))


def _counted(n: int, thing: str) -> str:
    return f"{n} {thing}{'' if n == 1 else 's'}"


def _verified(draws: IntArray, all_of: bool) -> str:
    """How designs with so many draws were verified."""
    if not draws.size:
        return "none verified"
    least, most = int(draws.min()), int(draws.max())
    number = _counted(most, "fresh draw") if least == most else f"{least} to {most} fresh draws"
    return f"{'each' if all_of else draws.size} verified by {number}"
