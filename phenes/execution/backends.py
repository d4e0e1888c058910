"""Backends: Executors with a number of slots, which can abandon an evaluation.

A worker that died shows as a BrokenExecutor in its futures, whatever the backend: the pool above
decides whether to send again.
"""

# loky ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false

import abc
import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any, TypeAlias

from phenes import _validate

AnyFuture: TypeAlias = Future[Any]

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
# more is a slip, and would take the machine down: a process is some 50 MB
MOST_PROCESSES = 1024
IDLE = 60  # seconds after which processes without work end


class WorkerLost(BrokenExecutor):
    """The worker of this evaluation died."""


class Backend(Executor):
    """Where evaluations run: an Executor with a number of slots.

    Attributes
    ----------
    slots : int
        Evaluations at once, which may change.
    patience : float
        Seconds past a time-out until a worker that cannot be interrupted is given up.
    lost : tuple of exception types
        Errors that mean a worker has gone.
    """

    patience = 10.0
    lost: tuple[type[BaseException], ...] = (BrokenExecutor, CancelledError)
    abandoned: tuple[AnyFuture, ...] = ()

    @property
    @abc.abstractmethod
    def slots(self) -> int:
        """Evaluations at once, now."""

    @abc.abstractmethod
    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> AnyFuture:
        """Call `fn(*args, **kwargs)` on a worker; see `concurrent.futures.Executor`.

        Parameters
        ----------
        fn : callable
            The function to call.
        *args, **kwargs : object
            Its arguments.

        Returns
        -------
        future
            A future of the value or the exception.
        """

    def look(self) -> None:
        """Detect dead workers; called periodically while waiting."""

    @property
    def gone(self) -> bool:
        """Whether all workers have gone and no others will come by themselves."""
        return False

    def give_up(self, futures: Iterable[AnyFuture]) -> None:
        """Stop these if possible; other evaluations may be lost with them: their futures fail.

        A thread cannot be stopped, and keeps its slot.

        Parameters
        ----------
        futures : iterable of Future
            Of evaluations that were abandoned.
        """
        self.abandoned += tuple(future for future in futures if not future.cancel())

    def close(self) -> None:
        """Release the resources that this backend alone holds."""

    def stuck(self) -> int:
        """Number of slots that are taken by abandoned evaluations.

        Returns
        -------
        int
        """
        self.abandoned = tuple(future for future in self.abandoned if not future.done())
        return len(self.abandoned)


class ProcessBackend(Backend):
    """Processes of this machine; a broken pool is replaced by a new one.

    loky pickles lambdas and functions that are defined in notebooks too.
    """

    def __init__(self, count: int):
        from loky.process_executor import ShutdownExecutorError

        # raised for tasks that are lost when the pool is shut down because another task timed out
        self.lost = (*Backend.lost, ShutdownExecutorError)
        self.count = count
        self.pool: Any = processes(count)

    @property
    def slots(self) -> int:
        return self.count

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> AnyFuture:
        for _ in range(100):
            # broken, or shut down by a call that wanted another number of processes
            with contextlib.suppress(RuntimeError):
                return self.pool.submit(fn, *args, **kwargs)
            self.pool = processes(self.count)
        raise RuntimeError(
            "worker processes die as soon as they are started: is there memory for them?"
        )

    def give_up(self, futures: Iterable[AnyFuture]) -> None:
        self.pool.shutdown(wait=True, kill_workers=True)


class CallerExecutor(Backend):
    """An Executor that the caller supplied; it is not replaced if it breaks."""

    patience = 1.0

    def __init__(self, executor: Executor):
        self.executor = executor

    @property
    def workers(self) -> int | None:
        """Number of its workers; None if unknown."""
        return getattr(self.executor, "_max_workers", None)

    @property
    def slots(self) -> int:
        return max((self.workers or sys.maxsize // 4) - self.stuck(), 0)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> AnyFuture:
        try:
            return self.executor.submit(fn, *args, **kwargs)
        except RuntimeError as error:
            raise RuntimeError(
                f"the Executor given as workers is broken ({error}); pools of workers=NUMBER are"
                " replaced"
            ) from error


def backend(workers: Any) -> Backend | None:
    """The backend for a user's `workers`; None stands for this process (`workers` None or 1)."""
    if workers is None:
        return None
    count = _validate.whole(workers)
    if count == 1:
        return None
    if count is not None and 1 < count <= MOST_PROCESSES:
        return ProcessBackend(count)
    if isinstance(workers, str) and workers.startswith("dask://"):
        from phenes.execution.dask import connect

        return connect(workers.removeprefix("dask://"))
    if isinstance(workers, str) and (workers == "ray" or workers.startswith("ray://")):
        from phenes.execution.ray import RayBackend

        return RayBackend(None if workers == "ray" else workers)
    if hasattr(workers, "scheduler_info"):  # a Client, without importing Dask to ask
        from phenes.execution.dask import DaskBackend

        return DaskBackend(workers)
    if isinstance(workers, Backend):
        return workers
    works = hasattr(workers, "submit") and hasattr(workers, "map")
    if works and not isinstance(workers, type | str):
        return CallerExecutor(workers)
    raise ValueError(
        f"workers must be a number of processes from 1 to {MOST_PROCESSES}, 'dask://host:port', a"
        f" Dask Client, 'ray' or an Executor, got {_validate.quote(workers)}"
    )


def processes(count: int) -> Executor:
    """The pool of this many processes, shared by the whole program and replaced if it is broken."""
    from loky import get_reusable_executor

    return get_reusable_executor(
        max_workers=count,
        timeout=IDLE,
        initializer=quiet_worker,
        initargs=started_by(),
    )


def started_by() -> tuple[int, bool]:
    """Arguments of `quiet_worker` for processes that are started here."""
    return os.getpid(), threading.current_thread() is threading.main_thread()


def quiet_worker(parent: int, by_main_thread: bool) -> None:
    """Initialise a worker process: it leaves Ctrl-C to its parent, and ends with it.

    Ctrl-C reaches all processes of a terminal: the one that waits for the results answers it.
    by_main_thread: see `_killed_with`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if by_main_thread:
        _killed_with(parent)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _killed_with(parent: int) -> None:
    """Have the system kill this process when its parent ends (Linux).

    An f that holds Python's lock, in compiled code that never releases it, stops all threads of
    its process, the one of `_end_with` too. For Linux the parent is the thread that started this
    process, so this is for the main thread, which lives as long as the program.
    """
    if not sys.platform.startswith("linux"):
        return
    with contextlib.suppress(OSError, AttributeError):  # a C library without it
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended in the meantime
        os._exit(1)


def _end_with(parent: int) -> None:
    """Ends a worker whose parent process was killed."""
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)
