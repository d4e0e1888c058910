"""A user's function and where it runs."""

# cloudpickle ships no stubs
# pyright: reportMissingTypeStubs=false

import functools
import threading
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from phenes import _validate
from phenes._validate import FloatArray
from phenes.execution.backends import Backend, CallerExecutor, ProcessBackend, backend
from phenes.execution.local import LocalPool
from phenes.execution.pool import Pool, WorkerPool
from phenes.execution.task import OnWorker, Outcome, remote


class Evaluate:
    """A user's function and where it runs.

    Parameters
    ----------
    f : callable
        Takes a point of shape (d,) and returns a number.
    realises : bool, optional
        f takes theta and returns (x, value).
    vectorized : bool, optional
        f takes rows of shape (n, d).
    workers : int, str, Executor or Dask Client, optional
        A number of processes, "dask://host:port", "ray", a Client or any Executor. None and 1 stand
        for this process.
    timeout : float, optional
        Seconds for one evaluation.
    max_attempts : int, optional
        How often a point is sent whose worker died; 1 for physical experiments, which must not be
        made twice.
    constrained : bool, optional
        f returns constraints too, after the value: numbers by name, good where they are at most 0.

    Attributes
    ----------
    backend : Backend or None
        Where f runs; None stands for this process.

    Raises
    ------
    ValueError
        If an argument is not what it must be, or two exclude each other.

    Examples
    --------
    >>> import numpy as np
    >>> evaluate = Evaluate(lambda x: np.sum(x**2))
    >>> pool = evaluate.open()
    >>> pool.send(0, np.array([1.0, 2.0]))
    >>> [(tag, outcome.value) for tag, outcome in pool.take()]
    [(0, 5.0)]
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
        constrained: bool = False,
    ):
        self.f = _validate.function("f", f, "lambda x: np.sum(x**2)")
        self.realises = _validate.flag("realises", realises)
        self.vectorized = _validate.flag("vectorized", vectorized)
        self.constrained = constrained
        self.max_attempts = _validate.count("max_attempts", max_attempts)
        self.timeout: float | None = None
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
        self.backend: Backend | None = backend(workers)
        in_main_thread = threading.current_thread() is threading.main_thread()
        if timeout is not None and self.backend is None and not in_main_thread:
            raise ValueError(
                "timeout without workers is for the main thread only: give workers=2 or more"
            )

    def open(self) -> Pool:
        """Begin to evaluate.

        Returns
        -------
        Pool
            Takes points and gives outcomes; to be closed.

        Raises
        ------
        ValueError
            If f cannot be sent to workers.
        """
        if self.backend is None:
            return LocalPool(self.f, self.realises, self.vectorized, self.timeout, self.constrained)
        call = self._call(self.backend)
        return WorkerPool(self.backend, call, self.timeout, self.max_attempts)

    def close(self) -> None:
        """Release the workers, after the last pool."""
        if self.backend is not None:
            self.backend.close()

    def _call(self, where: Backend) -> Callable[[FloatArray], Outcome]:
        # nothing is pickled: f may hold drivers and locks
        if isinstance(where, CallerExecutor) and isinstance(where.executor, ThreadPoolExecutor):
            return functools.partial(
                OnWorker(self.f, self.realises, self.constrained), self.timeout
            )
        return functools.partial(
            remote, _bytes(self.f), self.realises, self.timeout, constrained=self.constrained
        )


def _bytes(f: Callable[..., Any]) -> bytes:
    import cloudpickle

    try:
        return cloudpickle.dumps(f)  # pyright: ignore[reportUnknownMemberType]  # without stubs
    except Exception as error:
        raise ValueError(f"f cannot be sent to workers: {type(error).__name__}: {error}") from error


def executor(workers: Any) -> Executor | None:
    """A plain Executor for an argument `workers`, for work that is not an evaluation.

    Parameters
    ----------
    workers : int, str, Executor or Dask Client, optional
        As for `Evaluate`.

    Returns
    -------
    Executor or None
        None stands for this process.
    """
    where = backend(workers)
    if isinstance(where, ProcessBackend):
        return where.pool
    return where.executor if isinstance(where, CallerExecutor) else where
