"""Where f runs: here, compiled here if it is written in JAX, or on workers: processes, Dask, Ray,
any `concurrent.futures.Executor`.

    evaluate = Evaluate(f, workers=8, timeout=60)
    pool = evaluate.open()
    pool.send(tag, point)                 # as many as there are
    for tag, outcome in pool.take(): ...  # as they come back

An exception in f is a failed evaluation and comes back as data: one part that broke must not cost
the others. A worker that dies costs nothing but time: what it had in hand is sent again, what came
back is not.
"""

import functools
import threading
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

import numpy as np

from phenes import _validate
from phenes.execution.backends import Engine, Given, engine
from phenes.execution.local import Here
from phenes.execution.pool import Pool
from phenes.execution.task import OnWorker, Outcome, remote

__all__ = ["Evaluate", "Outcome", "executor"]


class Evaluate:
    """A function of the user's and where it runs.

    realises: f takes theta and returns (x, value) itself. vectorized: f takes [n, d]. workers: a
    number of processes, an Executor, a Dask Client, "dask://host:port" or "ray". timeout: seconds
    for one evaluation. max_attempts: how often a point is sent whose worker died; 1 for physical
    experiments, which must not be made twice.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        *,
        realises: bool = False,
        vectorized: bool = False,
        workers: Any = None,
        timeout: float | None = None,
        max_attempts: int = 3,
    ):
        self.f = _validate.function("f", f, "lambda x: np.sum(x**2)")
        self.realises = _validate.flag("realises", realises)
        self.vectorized = _validate.flag("vectorized", vectorized)
        self.max_attempts = _validate.count("max_attempts", max_attempts)
        self.timeout = None
        if timeout is not None:
            self.timeout = _validate.positive_number("timeout", timeout, " of seconds")
        if vectorized and workers is not None and _validate.whole(workers) != 1:
            raise ValueError(
                "vectorized and workers exclude each other: a function of whole populations runs in"
                " one place"
            )
        if vectorized and timeout is not None:
            raise ValueError(
                "vectorized and timeout exclude each other: the time-out is for one evaluation"
            )
        self.engine: Engine | None = engine(workers)
        if (
            timeout is not None
            and self.engine is None
            and threading.current_thread() is not threading.main_thread()
        ):
            raise ValueError(
                "timeout without workers is for the main thread only: give workers=2 or more"
            )

    def open(self, sending: Callable[[int], None] = lambda tag: None) -> Here | Pool:
        """`sending` is called with the tag of each point just before it is evaluated."""
        if self.engine is None:
            return Here(self.f, self.realises, self.vectorized, self.timeout, sending)
        return Pool(self.engine, self._call(self.engine), self.timeout, self.max_attempts, sending)

    def close(self) -> None:
        """After the last pool."""
        if self.engine is not None:
            self.engine.close()

    def _call(self, where: Engine) -> Callable[[np.ndarray], Outcome]:
        # nothing travels: drivers and locks may stay
        if isinstance(where, Given) and isinstance(where.executor, ThreadPoolExecutor):
            return functools.partial(OnWorker(self.f, self.realises), self.timeout)
        return functools.partial(remote, _bytes(self.f), self.realises, self.timeout)


def _bytes(f: Callable[..., Any]) -> bytes:
    import cloudpickle

    try:
        return cloudpickle.dumps(f)
    except Exception as error:
        raise ValueError(f"f cannot be sent to workers: {type(error).__name__}: {error}") from error


def executor(workers: int | Executor | None) -> Executor | None:
    """As a plain Executor, for work that is not an evaluation."""
    where = engine(workers)
    return getattr(where, "pool", None) or getattr(where, "executor", where)
