"""One call: the library asks, realises, evaluates and tells until there is nothing more to gain."""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from phenes.evaluate import Evaluate
from phenes.optimizer import record
from phenes.optimizer.optimizer import Optimizer
from phenes.optimizer.result import Result

Callback = Callable[[Result], Any]


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
    workers: int | Executor | None = None,
    vectorized: bool = False,
    realises: bool = False,
    callback: Callback | None = None,
    progress: bool = False,
    checkpoint: str | Path | None = None,
    seed: int = 0,
) -> Result:
    """Minimise E f(x), where x is what becomes of the theta that is chosen.

    f: takes the realised x, a vector, and returns a number; with `vectorized` it takes rows [n, d]. Functions written in JAX are compiled.
    Exceptions and NaN are failed evaluations: counted, and survived.
    x0, sigma0: where to start, and the standard deviation of the first steps (one, or one for each coordinate).
    noise: the law of x given theta: a standard deviation, one for each coordinate, a covariance matrix, any law of `phenes.inputs`, or
    "learn" for experiments that realise x themselves. None: x = theta.
    realises: f takes theta and returns (x, value), as a lab does; NaN coordinates of x were not measured.
    bounds: of theta, (low, high) or pairs as in SciPy; x may fall outside. budget: evaluations. target: stop when E f is below it.
    workers: processes, or any Executor. callback: called with the present Result after each update, ends the run by returning True.
    checkpoint: a file in which every evaluation is kept; the same call with the same file goes on where it was.
    """
    return _solve(
        f,
        Optimizer(x0, sigma0, noise, bounds=bounds, popsize=popsize, budget=budget, target=target, seed=seed),
        Evaluate(f, realises=realises, vectorized=vectorized, workers=workers),
        record.settings(x0, sigma0, noise, bounds, popsize, seed, False),
        checkpoint,
        callback,
        progress,
    )


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
    workers: int | Executor | None = None,
    vectorized: bool = False,
    realises: bool = False,
    callback: Callback | None = None,
    progress: bool = False,
    checkpoint: str | Path | None = None,
    seed: int = 0,
) -> Result:
    """Maximise E f(x); everything else as in `minimize`."""
    return _solve(
        f,
        Optimizer(x0, sigma0, noise, bounds=bounds, popsize=popsize, budget=budget, target=target, seed=seed, maximize=True),
        Evaluate(f, realises=realises, vectorized=vectorized, workers=workers),
        record.settings(x0, sigma0, noise, bounds, popsize, seed, True),
        checkpoint,
        callback,
        progress,
    )


def _solve(f, opt: Optimizer, evaluate: Evaluate, settings: dict[str, Any], checkpoint, callback, progress: bool) -> Result:
    if not callable(f):
        raise ValueError(f"f must be a function of x such as lambda x: np.sum(x**2), got {f!r}")
    if opt.learns and not evaluate.realises:
        raise ValueError("noise='learn' needs an experiment that realises x: give realises=True and an f that returns (x, value)")
    errors: dict[str, None] = {}  # in order, each once
    with record.Checkpoint(checkpoint, settings) as kept, _bar(progress, opt) as show:
        _loop(opt, evaluate, kept, errors, callback, show)
    return dataclasses.replace(opt.result, errors=tuple(errors)[:3])


def _loop(opt: Optimizer, evaluate: Evaluate, kept: record.Checkpoint, errors: dict[str, None], callback, show) -> None:
    generation = kept.replay(opt)
    while not opt.stop():
        started = time.perf_counter()
        theta = opt.ask()
        theta = theta[: max(opt.budget - opt.nfev, 1)]
        x = theta if evaluate.realises else opt.channel.draw(opt.seed, generation, theta)
        values = evaluate(x)
        if generation == 0 and len(values.errors) == len(theta):
            raise RuntimeError(f"f failed on all of the first {len(theta)} evaluations, first with {values.errors[0]}")
        errors |= dict.fromkeys(values.errors)
        x = values.x if values.x is not None else x
        kept.add(generation, theta, x, values.f, time.perf_counter() - started)
        opt.tell(theta, values.f, realised=x)
        generation += 1
        show(opt)
        if callback is not None and _wants_to_stop(callback, opt.result):
            return
    kept.finish()


def _wants_to_stop(callback: Callback, result: Result) -> bool:
    try:
        return bool(callback(result) is True)
    except StopIteration:  # as in SciPy
        return True


@contextlib.contextmanager
def _bar(wanted: bool, opt: Optimizer) -> Iterator[Callable[[Optimizer], None]]:
    """A line with the estimate of E f and the time left of the budget."""
    if not wanted:
        yield lambda opt: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.completed:.0f}/{task.total:.0f}"), BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns) as bar:
        task = bar.add_task("", total=opt.budget)

        def show(opt: Optimizer) -> None:
            fun, se = opt.estimate
            bar.update(task, completed=opt.nfev, description=f"E f = {fun:.5g} ± {se:.1g}  {opt.phase}")

        yield show
