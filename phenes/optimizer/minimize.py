"""One call: the library asks, realises, evaluates and tells until there is nothing more to gain."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from numpy.typing import ArrayLike

from phenes import _validate
from phenes.execution import Evaluate
from phenes.optimizer.callbacks import Listener
from phenes.optimizer.checkpoint import ANYWAY, Checkpoint
from phenes.optimizer.checkpoint import settings as run_settings
from phenes.optimizer.engines import AUTO
from phenes.optimizer.loops import generational, steady_state
from phenes.optimizer.optimizer import Optimizer
from phenes.optimizer.result import Result

if TYPE_CHECKING:
    from phenes.optimizer.options import Bounds, Callback, Noise, Workers

P = ParamSpec("P")
R = TypeVar("R")


def _solve(
    maximize: bool,
    f: Callable[..., Any],
    x0: ArrayLike,
    sigma0: ArrayLike,
    noise: Noise = None,
    *,
    bounds: Bounds = None,
    budget: int | None = None,
    target: float | None = None,
    popsize: int | None = None,
    verify: int | None = None,
    engine: str = "auto",
    workers: Workers = None,
    timeout: float | None = None,
    max_attempts: int = 3,
    asynchronous: bool = False,
    vectorized: bool = False,
    realises: bool = False,
    callback: Callback | None = None,
    progress: bool = False,
    checkpoint: str | Path | None = None,
    resume: bool | str = True,
    seed: int = 0,
) -> Result:
    """`minimize` and `maximize`: their signature is this one without its first parameter."""
    if callback is not None:
        _validate.function("callback", callback, "lambda result: result.fun < 1")
    _validate.flag("progress", progress)
    _validate.flag("resume", resume, ANYWAY)
    _validate.path("checkpoint", checkpoint)
    _validate.flag("asynchronous", asynchronous)
    opt = Optimizer(
        x0,
        sigma0,
        noise,
        bounds=bounds,
        popsize=popsize,
        budget=budget,
        target=target,
        maximize=maximize,
        verify=verify,
        engine=engine,
        seed=seed,
    )
    evaluate = Evaluate(
        f,
        realises=realises,
        vectorized=vectorized,
        workers=workers,
        timeout=timeout,
        max_attempts=max_attempts,
    )
    settings = run_settings(
        f,
        x0,
        sigma0,
        noise,
        bounds,
        popsize=popsize,
        verify=verify,
        seed=seed,
        maximize=maximize,
        realises=realises,
        vectorized=vectorized,
    )
    if engine != AUTO:
        settings["engine"] = engine
    try:
        _check_combination(opt, evaluate, asynchronous)
        if asynchronous:
            settings["asynchronous"] = True
        prompt = evaluate.backend is not None or evaluate.realises
        once = evaluate.max_attempts == 1
        with (
            Checkpoint(checkpoint, settings, opt.budget, resume, prompt, once) as kept,
            Listener(opt, callback, progress) as listener,
        ):
            run = steady_state.run if asynchronous else generational.run
            kept.finish("done" if run(opt, evaluate, kept, listener) else "stopped")
    finally:
        evaluate.close()
    return dataclasses.replace(opt.result, errors=tuple(listener.errors))


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

    The search is CMA-ES on the realised x with Newton steps on fitted models and restarts; it runs
    in NumPy and waits for no compiler. The last share of the budget verifies the answer.

    Parameters
    ----------
    f : callable
        Takes the realised x, shape (d,), and returns a number; see `vectorized` and `realises` for
        other forms. Functions written in JAX are compiled. Exceptions and NaN are failed
        evaluations: counted, and survived.
    x0 : array_like, shape (d,)
        Where the search starts.
    sigma0 : float or array_like, shape (d,)
        Standard deviation of the first steps, one or one for each coordinate.
    noise : float, array_like, input law, "learn" or None, optional
        The law of x given theta: a standard deviation, one for each coordinate, a covariance matrix
        of shape (d, d), any law of `phenes.inputs`, or "learn" for experiments that realise x
        themselves. None: x = theta.
    bounds : pair, sequence of pairs or scipy.optimize.Bounds, optional
        Bounds of theta: (low, high) as numbers or vectors, or d pairs as in SciPy, None in them for
        no bound. x may fall outside.
    budget : int, optional
        Evaluations, by default 1000 (d + 10).
    target : float, optional
        Stop when E f is below it by two standard errors.
    popsize : int, optional
        Evaluations of a generation, at least 2; by default 4 + 3 ln d, and more in some restarts.
    verify : int, optional
        Evaluations of the budget that are kept for the end, to verify the answer by fresh draws: by
        default a tenth, 0 for none.
    engine : {"auto", "gp", "relay", "adaptive"}, optional
        What asks: a Gaussian process of f on the realised x, which needs few evaluations; the
        evolution strategy, which is quick and scales; or one after the other. In up to 10
        coordinates "auto" is "gp" for a budget of at most 500 and "relay" up to 2000; otherwise
        it is "adaptive".
    workers : int, str, Executor or Dask Client, optional
        A number of processes; "dask://host:port" or a Client; "ray"; or any Executor. The run does
        not depend on their number.
    timeout : float, optional
        Seconds for one evaluation, which has failed after that.
    max_attempts : int, optional
        How often a point is evaluated if workers die with it; 1 for experiments that must not be
        made twice: what is lost has then failed.
    asynchronous : bool, optional
        Tell each value as it comes, without waiting for the slowest of a generation; the run then
        depends on the order in which values come.
    vectorized : bool, optional
        f takes rows of shape (n, d) and returns n values.
    realises : bool, optional
        f takes theta and returns (x, value), as a lab does; NaN coordinates of x were not measured.
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

    The search is CMA-ES on the realised x with Newton steps on fitted models and restarts; it runs
    in NumPy and waits for no compiler. The last share of the budget verifies the answer.

    Parameters
    ----------
    f : callable
        Takes the realised x, shape (d,), and returns a number; see `vectorized` and `realises` for
        other forms. Functions written in JAX are compiled. Exceptions and NaN are failed
        evaluations: counted, and survived.
    x0 : array_like, shape (d,)
        Where the search starts.
    sigma0 : float or array_like, shape (d,)
        Standard deviation of the first steps, one or one for each coordinate.
    noise : float, array_like, input law, "learn" or None, optional
        The law of x given theta: a standard deviation, one for each coordinate, a covariance matrix
        of shape (d, d), any law of `phenes.inputs`, or "learn" for experiments that realise x
        themselves. None: x = theta.
    bounds : pair, sequence of pairs or scipy.optimize.Bounds, optional
        Bounds of theta: (low, high) as numbers or vectors, or d pairs as in SciPy, None in them for
        no bound. x may fall outside.
    budget : int, optional
        Evaluations, by default 1000 (d + 10).
    target : float, optional
        Stop when E f is above it by two standard errors.
    popsize : int, optional
        Evaluations of a generation, at least 2; by default 4 + 3 ln d, and more in some restarts.
    verify : int, optional
        Evaluations of the budget that are kept for the end, to verify the answer by fresh draws: by
        default a tenth, 0 for none.
    engine : {"auto", "gp", "relay", "adaptive"}, optional
        What asks: a Gaussian process of f on the realised x, which needs few evaluations; the
        evolution strategy, which is quick and scales; or one after the other. In up to 10
        coordinates "auto" is "gp" for a budget of at most 500 and "relay" up to 2000; otherwise
        it is "adaptive".
    workers : int, str, Executor or Dask Client, optional
        A number of processes; "dask://host:port" or a Client; "ray"; or any Executor. The run does
        not depend on their number.
    timeout : float, optional
        Seconds for one evaluation, which has failed after that.
    max_attempts : int, optional
        How often a point is evaluated if workers die with it; 1 for experiments that must not be
        made twice: what is lost has then failed.
    asynchronous : bool, optional
        Tell each value as it comes, without waiting for the slowest of a generation; the run then
        depends on the order in which values come.
    vectorized : bool, optional
        f takes rows of shape (n, d) and returns n values.
    realises : bool, optional
        f takes theta and returns (x, value), as a lab does; NaN coordinates of x were not measured.
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

    Examples
    --------
    >>> import numpy as np, phenes
    >>> result = phenes.maximize(lambda x: -np.sum(x**2), np.full(3, 2.0), 0.5, 0.1, budget=1000)
    >>> bool(np.abs(result.x).max() < 0.1)
    True
    """
    return _solve(True, *args, **options)
