"""One call: the library asks, realises, evaluates and tells until there is nothing more to gain."""

import dataclasses
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from phenes.execution import Evaluate
from phenes.optimizer.callbacks import Callback, Followed
from phenes.optimizer.checkpoint import Checkpoint
from phenes.optimizer.checkpoint import settings as run_settings
from phenes.optimizer.loops import generational, steady_state
from phenes.optimizer.optimizer import Optimizer
from phenes.optimizer.result import Result


def minimize(
    f: Callable[..., Any],
    x0: Any,
    sigma0: Any,
    noise: Any = None,
    *,
    bounds: Any = None,
    budget: int | None = None,
    target: float | None = None,
    popsize: int | None = None,
    verify: int | None = None,
    workers: int | str | Executor | None = None,
    timeout: float | None = None,
    max_attempts: int = 3,
    asynchronous: bool = False,
    vectorized: bool = False,
    realises: bool = False,
    callback: Callback | None = None,
    progress: bool = False,
    checkpoint: str | Path | None = None,
    resume: bool = True,
    seed: int = 0,
) -> Result:
    """Minimise E f(x), where x is what becomes of the theta that is chosen.

    f: takes the realised x, a vector, and returns a number; with `vectorized` it takes rows [n, d].
    Functions written in JAX are compiled. Exceptions and NaN are failed evaluations: counted, and
    survived.
    x0, sigma0: where to start, and the standard deviation of the first steps (one, or one for each
    coordinate).
    noise: the law of x given theta: a standard deviation, one for each coordinate, a covariance
    matrix, any law of `phenes.inputs`, or "learn" for experiments that realise x themselves. None:
    x = theta.
    realises: f takes theta and returns (x, value), as a lab does; NaN coordinates of x were not
    measured.
    bounds: of theta, (low, high) or pairs as in SciPy; x may fall outside. budget: evaluations.
    target: stop when E f is below it.
    verify: evaluations of the budget that are kept for the end, to verify the answer by fresh
    draws: by default a tenth, 0 for none.
    workers: processes; "dask://host:port" or a Dask Client; "ray"; or any Executor. The run does
    not depend on their number.
    timeout: seconds for one evaluation, which has failed after that. max_attempts: how often a
    point is evaluated if workers die with it; 1 for experiments that must not be made twice: what
    is lost has then failed. asynchronous: tell each value as it comes, without waiting for the
    slowest of a generation; the run then depends on the order in which values come.
    callback: called with the present Result after each update, ends the run by returning True.
    checkpoint: a file in which every evaluation is kept; the same call with the same file goes on
    where it was, or with resume=False starts a new run in the file. `phenes watch FILE` follows it.
    """
    evaluate = Evaluate(
        f,
        realises=realises,
        vectorized=vectorized,
        workers=workers,
        timeout=timeout,
        max_attempts=max_attempts,
    )
    opt = Optimizer(
        x0,
        sigma0,
        noise,
        bounds=bounds,
        popsize=popsize,
        budget=budget,
        target=target,
        verify=verify,
        seed=seed,
    )
    settings = run_settings(x0, sigma0, noise, bounds, popsize, verify, seed, False)
    return _solve(opt, evaluate, settings, checkpoint, resume, asynchronous, callback, progress)


def maximize(
    f: Callable[..., Any],
    x0: Any,
    sigma0: Any,
    noise: Any = None,
    *,
    bounds: Any = None,
    budget: int | None = None,
    target: float | None = None,
    popsize: int | None = None,
    verify: int | None = None,
    workers: int | str | Executor | None = None,
    timeout: float | None = None,
    max_attempts: int = 3,
    asynchronous: bool = False,
    vectorized: bool = False,
    realises: bool = False,
    callback: Callback | None = None,
    progress: bool = False,
    checkpoint: str | Path | None = None,
    resume: bool = True,
    seed: int = 0,
) -> Result:
    """Maximise E f(x); everything else as in `minimize`."""
    evaluate = Evaluate(
        f,
        realises=realises,
        vectorized=vectorized,
        workers=workers,
        timeout=timeout,
        max_attempts=max_attempts,
    )
    options = {
        "bounds": bounds,
        "popsize": popsize,
        "budget": budget,
        "target": target,
        "verify": verify,
        "seed": seed,
    }
    opt = Optimizer(x0, sigma0, noise, maximize=True, **options)
    settings = run_settings(x0, sigma0, noise, bounds, popsize, verify, seed, True)
    return _solve(opt, evaluate, settings, checkpoint, resume, asynchronous, callback, progress)


def _solve(
    opt: Optimizer,
    evaluate: Evaluate,
    settings: dict[str, Any],
    checkpoint,
    resume,
    asynchronous: bool,
    callback,
    progress: bool,
) -> Result:
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
    loop = steady_state if asynchronous else generational
    settings |= {"asynchronous": True} if asynchronous else {}
    prompt, once = evaluate.engine is not None or evaluate.realises, evaluate.max_attempts == 1
    try:
        with (
            Checkpoint(checkpoint, settings, resume, prompt, once) as kept,
            Followed(opt, callback, progress) as follow,
        ):
            kept.finish("done" if loop.run(opt, evaluate, kept, follow) else "stopped")
    finally:
        evaluate.close()
    return dataclasses.replace(opt.result, errors=tuple(follow.errors))
