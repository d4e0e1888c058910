"""One call: the library asks, realises, evaluates and tells until there is nothing more to gain."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from numpy.typing import ArrayLike

from phenes import _validate
from phenes.execution import Evaluate
from phenes.optimizer.answer.result import Result
from phenes.optimizer.by_name import ByName
from phenes.optimizer.callbacks import Listener
from phenes.optimizer.engines import AUTO
from phenes.optimizer.loops import generational, steady_state
from phenes.optimizer.optimizer import Optimizer
from phenes.optimizer.records.checkpoint import ANYWAY, Checkpoint
from phenes.optimizer.records.checkpoint import settings as run_settings
from phenes.optimizer.workers import make_workers
from phenes.risk import mean
from phenes.space import Space

if TYPE_CHECKING:
    from phenes.constraints import Wanted
    from phenes.optimizer.options import Bounds, Callback, Noise, WorkersLike

P = ParamSpec("P")
R = TypeVar("R")


def _solve(
    maximize: bool,
    f: Callable[..., Any],
    space: Space | ArrayLike | None = None,
    sigma0: ArrayLike | None = None,
    noise: Noise = None,
    *,
    x0: ArrayLike | Mapping[str, Any] | None = None,
    bounds: Bounds = None,
    budget: int | None = None,
    target: float | None = None,
    popsize: int | None = None,
    objective: Any = None,
    verify: int | None = None,
    engine: str = "auto",
    constraints: Wanted | None = None,
    workers: WorkersLike = None,
    vectorized: bool = False,
    realises: bool = False,
    callback: Callback | None = None,
    progress: bool = False,
    checkpoint: str | Path | None = None,
    resume: bool | str = True,
    seed: int = 0,
    **old: Any,
) -> Result:
    """`minimize` and `maximize`: their signature is this one without its first parameter."""
    where = make_workers(workers, old, "maximize" if maximize else "minimize")
    _check_observers(callback, progress, checkpoint, resume)
    if space is None and x0 is None:
        space = Space.of(_validate.function("f", f, "lambda x: np.sum(x**2)"))
    opt = Optimizer(
        space,
        sigma0,
        noise,
        x0=x0,
        bounds=bounds,
        popsize=popsize,
        budget=budget,
        target=target,
        maximize=maximize,
        objective=objective,
        verify=verify,
        engine=engine,
        constraints=constraints,
        seed=seed,
    )
    evaluate = Evaluate(
        f if opt.space is None else ByName(f, opt.space, realises, vectorized),
        realises=realises,
        vectorized=vectorized,
        workers=where.workers,
        timeout=where.timeout,
        max_attempts=where.max_attempts,
        constrained=opt.wanted is not None,
    )
    start = x0 if opt.space is not None or x0 is not None else space
    settings = run_settings(
        f,
        start,
        sigma0,
        noise,
        bounds,
        popsize=popsize,
        verify=verify,
        seed=seed,
        maximize=maximize,
        realises=realises,
        vectorized=vectorized,
        space=opt.space,
        constraints=opt.wanted,
    )
    settings |= _unusual(engine, opt, where.asynchronous)
    with contextlib.closing(evaluate):
        _check_combination(opt, evaluate, where.asynchronous)
        prompt = evaluate.backend is not None or evaluate.realises
        once = evaluate.max_attempts == 1
        with (
            Checkpoint(checkpoint, settings, opt.budget, resume, prompt, once) as kept,
            Listener(opt, callback, progress) as listener,
        ):
            run = steady_state.run if where.asynchronous else generational.run
            kept.finish("done" if run(opt, evaluate, kept, listener) else "stopped")
    result = opt.result
    message = listener.message(result.message)
    return dataclasses.replace(result, errors=tuple(listener.errors), message=message)


def _check_observers(callback: Any, progress: Any, checkpoint: Any, resume: Any) -> None:
    """Refuse what cannot be an observer of a run, before anything is set up."""
    if callback is not None:
        _validate.function("callback", callback, "lambda result: result.fun < 1")
    _validate.flag("progress", progress)
    _validate.flag("resume", resume, ANYWAY)
    _validate.path("checkpoint", checkpoint)


def _unusual(engine: str, opt: Optimizer, asynchronous: bool) -> dict[str, Any]:
    """Settings that a checkpoint has only where they are not the default."""
    unusual: dict[str, Any] = {}
    if engine != AUTO:
        unusual["engine"] = engine
    if opt.objective != mean():
        unusual["objective"] = opt.objective.described()
    if asynchronous:
        unusual["asynchronous"] = True
    return unusual


def _check_combination(opt: Optimizer, evaluate: Evaluate, asynchronous: bool) -> None:
    if opt.learns and not evaluate.realises:
        raise ValueError(
            "noise='learn' needs an experiment that realises x: give realises=True and an f that"
            " returns (x, value)"
        )
    if asynchronous and evaluate.vectorized:
        raise ValueError(
            "asynchronous and vectorized exclude each other: values of a whole population come"
            " together"
        )


def _with_signature_of(
    solve: Callable[Concatenate[bool, P], R],
) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """Gives a function the signature of `solve` without its first parameter."""
    first, *rest = inspect.signature(solve).parameters.values()
    signature = inspect.signature(solve).replace(parameters=rest)

    def decorate(function: Callable[..., R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            given = signature.bind(*args, **kwargs)
            return function(*given.args, **given.kwargs)

        setattr(call, "__signature__", signature)  # noqa: B010  # functions declare no such attribute
        call.__annotations__ = {
            name: kind for name, kind in solve.__annotations__.items() if name != first.name
        }
        return call

    return decorate


@_with_signature_of(_solve)
def minimize(*args: Any, **options: Any) -> Result:
    """Minimise E f(x), where x is what becomes of the theta that is chosen.

    Where evaluations are few a Gaussian process of f on the realised x asks; where they are many,
    CMA-ES on the realised x with Newton steps on fitted models and restarts. Both run in NumPy and
    wait for no compiler. The last share of the budget verifies the answer.

    Parameters
    ----------
    f : callable
        Takes the realised x, shape (d,), and returns a number; see `vectorized` and `realises` for
        other forms. In a space it takes keyword arguments if its parameters are called as those
        of the space, otherwise one mapping by name. Functions written in JAX are compiled.
        Exceptions and NaN are failed evaluations: counted, and survived.
    space : Space or array_like, shape (d,), optional
        What is searched: named parameters with their ranges, or for plain vectors where the search
        starts. Without either, what the annotations of f declare (`Space.of`).
    sigma0 : float or array_like, shape (d,), optional
        Standard deviation of the first steps, one or one for each coordinate; not with a space,
        where it is a quarter of each range.
    noise : float, array_like, input law, "learn" or None, optional
        The law of x given theta: a standard deviation, one for each coordinate, a covariance matrix
        of shape (d, d), any law of `phenes.inputs`, or "learn" for experiments that realise x
        themselves. None: x = theta, or what the space says.
    x0 : mapping or array_like, optional
        Where the search starts; in a space some or all parameters by name, the others in the
        middle of their range.
    bounds : pair, sequence of pairs or scipy.optimize.Bounds, optional
        Bounds of theta: (low, high) as numbers or vectors, or d pairs as in SciPy, None in them for
        no bound. x may fall outside.
    budget : int, optional
        Evaluations, by default 1000 (d + 10).
    target : float, optional
        Stop when E f is below it by two standard errors.
    popsize : int, optional
        Evaluations of a generation, at least 2; by default 4 + 3 ln d, and more in some restarts.
    objective : Risk, optional
        What counts in place of E f: a quantile, a tail, a probability or a spread of f(x), such as
        `phenes.risk.cvar(0.9)`; of the tail that is bad.
    verify : int, optional
        Evaluations of the budget that are kept for the end, to verify the answer by fresh draws: by
        default a tenth, 0 for none.
    engine : {"auto", "gp", "relay", "adaptive"}, optional
        What asks: a Gaussian process of f on the realised x, which needs few evaluations; the
        evolution strategy, which is quick and scales; or one after the other. In up to 15
        coordinates "auto" is "gp" for a budget of at most 500 and "relay" up to 2000; otherwise
        it is "adaptive".
    constraints : Wanted, optional
        How surely the constraints must hold that f returns beside its value,
        `return cost, {"stress": s - limit}`, good where they are at most 0: `phenes.chance(0.99)`,
        `phenes.chance(stress=0.99, gap=0.9)` or `phenes.on_average()`.
    workers : Workers, int, str, Executor or Dask Client, optional
        A number of processes; "dask://host:port" or a Client; "ray"; or any Executor. The run does
        not depend on their number. `Workers` says more: a time-out, whether a point may be
        evaluated twice, whether the slowest is waited for.
    vectorized : bool, optional
        f takes rows of shape (n, d), or in a space columns by name, and returns n values.
    realises : bool, optional
        f takes theta and returns (x, value), as a lab does, or (x, value, constraints); NaN
        coordinates of x, and in a space noisy parameters that x leaves out, were not measured.
    callback : callable, optional
        Called with the present `Result` after each update; ends the run by returning True or
        raising StopIteration.
    progress : bool, optional
        Show a bar with the estimate of E f and the time left.
    checkpoint : str or Path, optional
        A file in which every evaluation is kept; the same call with the same file goes on where it
        was. `phenes watch FILE` follows it.
    resume : bool or "anyway", optional
        False starts a new run in the file of `checkpoint`; "anyway" goes on with its run even if
        that was made with another f.
    seed : int, optional
        The same seed gives the same run.
    **old
        `timeout`, `max_attempts` and `asynchronous`, which `Workers` has now.

    Returns
    -------
    Result
        The recommended theta `x`, `fun` = E f there with `fun_se` and `interval`, whether that is
        verified (`success`, `message`), and what happened on the way.

    Raises
    ------
    ValueError
        If an argument is not what it must be, before anything is evaluated; or if `checkpoint`
        holds a run of another f or with other settings.
    RuntimeError
        If f fails on all evaluations of the first generation, or no worker is left.

    Warns
    -----
    KeywordWarning
        If a keyword is given that `Workers` has now.

    Examples
    --------
    >>> import numpy as np, phenes
    >>> result = phenes.minimize(lambda x: np.sum(x**2), np.full(3, 2.0), 0.5, 0.1, budget=1000)
    >>> bool(np.abs(result.x).max() < 0.1)
    True
    """
    return _solve(False, *args, **options)


@_with_signature_of(_solve)
def maximize(*args: Any, **options: Any) -> Result:
    """Maximise E f(x), where x is what becomes of the theta that is chosen.

    Where evaluations are few a Gaussian process of f on the realised x asks; where they are many,
    CMA-ES on the realised x with Newton steps on fitted models and restarts. Both run in NumPy and
    wait for no compiler. The last share of the budget verifies the answer.

    Parameters
    ----------
    f : callable
        Takes the realised x, shape (d,), and returns a number; see `vectorized` and `realises` for
        other forms. In a space it takes keyword arguments if its parameters are called as those
        of the space, otherwise one mapping by name. Functions written in JAX are compiled.
        Exceptions and NaN are failed evaluations: counted, and survived.
    space : Space or array_like, shape (d,), optional
        What is searched: named parameters with their ranges, or for plain vectors where the search
        starts. Without either, what the annotations of f declare (`Space.of`).
    sigma0 : float or array_like, shape (d,), optional
        Standard deviation of the first steps, one or one for each coordinate; not with a space,
        where it is a quarter of each range.
    noise : float, array_like, input law, "learn" or None, optional
        The law of x given theta: a standard deviation, one for each coordinate, a covariance matrix
        of shape (d, d), any law of `phenes.inputs`, or "learn" for experiments that realise x
        themselves. None: x = theta, or what the space says.
    x0 : mapping or array_like, optional
        Where the search starts; in a space some or all parameters by name, the others in the
        middle of their range.
    bounds : pair, sequence of pairs or scipy.optimize.Bounds, optional
        Bounds of theta: (low, high) as numbers or vectors, or d pairs as in SciPy, None in them for
        no bound. x may fall outside.
    budget : int, optional
        Evaluations, by default 1000 (d + 10).
    target : float, optional
        Stop when E f is above it by two standard errors.
    popsize : int, optional
        Evaluations of a generation, at least 2; by default 4 + 3 ln d, and more in some restarts.
    objective : Risk, optional
        What counts in place of E f: a quantile, a tail, a probability or a spread of f(x), such as
        `phenes.risk.cvar(0.9)`; of the tail that is bad.
    verify : int, optional
        Evaluations of the budget that are kept for the end, to verify the answer by fresh draws: by
        default a tenth, 0 for none.
    engine : {"auto", "gp", "relay", "adaptive"}, optional
        What asks: a Gaussian process of f on the realised x, which needs few evaluations; the
        evolution strategy, which is quick and scales; or one after the other. In up to 15
        coordinates "auto" is "gp" for a budget of at most 500 and "relay" up to 2000; otherwise
        it is "adaptive".
    constraints : Wanted, optional
        How surely the constraints must hold that f returns beside its value,
        `return cost, {"stress": s - limit}`, good where they are at most 0: `phenes.chance(0.99)`,
        `phenes.chance(stress=0.99, gap=0.9)` or `phenes.on_average()`.
    workers : Workers, int, str, Executor or Dask Client, optional
        A number of processes; "dask://host:port" or a Client; "ray"; or any Executor. The run does
        not depend on their number. `Workers` says more: a time-out, whether a point may be
        evaluated twice, whether the slowest is waited for.
    vectorized : bool, optional
        f takes rows of shape (n, d), or in a space columns by name, and returns n values.
    realises : bool, optional
        f takes theta and returns (x, value), as a lab does, or (x, value, constraints); NaN
        coordinates of x, and in a space noisy parameters that x leaves out, were not measured.
    callback : callable, optional
        Called with the present `Result` after each update; ends the run by returning True or
        raising StopIteration.
    progress : bool, optional
        Show a bar with the estimate of E f and the time left.
    checkpoint : str or Path, optional
        A file in which every evaluation is kept; the same call with the same file goes on where it
        was. `phenes watch FILE` follows it.
    resume : bool or "anyway", optional
        False starts a new run in the file of `checkpoint`; "anyway" goes on with its run even if
        that was made with another f.
    seed : int, optional
        The same seed gives the same run.
    **old
        `timeout`, `max_attempts` and `asynchronous`, which `Workers` has now.

    Returns
    -------
    Result
        The recommended theta `x`, `fun` = E f there with `fun_se` and `interval`, whether that is
        verified (`success`, `message`), and what happened on the way.

    Raises
    ------
    ValueError
        If an argument is not what it must be, before anything is evaluated; or if `checkpoint`
        holds a run of another f or with other settings.
    RuntimeError
        If f fails on all evaluations of the first generation, or no worker is left.

    Warns
    -----
    KeywordWarning
        If a keyword is given that `Workers` has now.

    Examples
    --------
    >>> import numpy as np, phenes
    >>> result = phenes.maximize(lambda x: -np.sum(x**2), np.full(3, 2.0), 0.5, 0.1, budget=1000)
    >>> bool(np.abs(result.x).max() < 0.1)
    True
    """
    return _solve(True, *args, **options)
