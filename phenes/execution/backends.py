"""Where evaluations run: an Executor that also says how many it takes at once, and can give up on
one that does not come back.

A worker that died shows as a BrokenExecutor in its futures, whatever the engine: the pool above
decides whether to send again.
"""

import abc
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any

from phenes import _validate

IDLE = 60  # seconds after which processes without work end


class WorkerLost(BrokenExecutor):
    """The worker of this evaluation died."""


class Engine(Executor):
    """slots: evaluations at once, which may change.

    patience: seconds past a time-out until a worker that cannot be interrupted is given up. lost:
    errors that mean a worker has gone.
    """

    patience = 10.0
    lost: tuple[type[BaseException], ...] = (BrokenExecutor, CancelledError)
    abandoned: tuple[Future, ...] = ()

    @property
    @abc.abstractmethod
    def slots(self) -> int: ...

    @abc.abstractmethod
    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future: ...

    def look(self) -> None:
        """See whether workers died; called now and then while waiting."""

    def give_up(self, futures: Iterable[Future]) -> None:
        """Stop these if possible; others may be lost with them, and show it. A thread cannot be
        stopped, and keeps its place.
        """
        self.abandoned += tuple(future for future in futures if not future.cancel())

    def close(self) -> None:
        """Let go of what was opened for this engine alone."""

    def stuck(self) -> int:
        """Places that are taken by evaluations nobody waits for any more."""
        self.abandoned = tuple(future for future in self.abandoned if not future.done())
        return len(self.abandoned)


class Processes(Engine):
    """Processes of this machine (loky: functions of notebooks and lambdas travel too). A broken
    pool is replaced by a new one.
    """

    def __init__(self, count: int):
        from loky.process_executor import ShutdownExecutorError

        # of those that end with the pool for the sake of another
        self.lost = (*Engine.lost, ShutdownExecutorError)
        self.count = count
        self.pool = processes(count)

    @property
    def slots(self) -> int:
        return self.count

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        for _ in range(100):
            # broken, or shut down by a call that wanted another number of processes
            with contextlib.suppress(RuntimeError):
                return self.pool.submit(fn, *args, **kwargs)
            self.pool = processes(self.count)
        raise RuntimeError(
            "worker processes die as soon as they are started: is there memory for them?"
        )

    def give_up(self, futures: Iterable[Future]) -> None:
        self.pool.shutdown(wait=True, kill_workers=True)  # pyright: ignore[reportCallIssue]


class Given(Engine):
    """An Executor of the caller's own. If it breaks as a whole it is not ours to replace."""

    patience = 1.0

    def __init__(self, executor: Executor):
        self.executor = executor

    @property
    def slots(self) -> int:
        return max(
            (getattr(self.executor, "_max_workers", None) or sys.maxsize // 4) - self.stuck(), 0
        )

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        try:
            return self.executor.submit(fn, *args, **kwargs)
        except RuntimeError as error:
            raise RuntimeError(
                f"the Executor given as workers is broken ({error}); pools of workers=NUMBER are"
                " replaced"
            ) from error


def engine(workers: Any) -> Engine | None:
    """What the caller said of workers: None or 1 is here; a number, "dask://host:port", "ray", a
    Dask Client or an Executor.
    """
    if workers is None:
        return None
    count = _validate.whole(workers)
    if count == 1:
        return None
    if count is not None and count > 1:
        return Processes(count)
    if isinstance(workers, str) and workers.startswith("dask://"):
        from phenes.execution.dask import connect

        return connect(workers.removeprefix("dask://"))
    if isinstance(workers, str) and (workers == "ray" or workers.startswith("ray://")):
        from phenes.execution.ray import Ray

        return Ray(None if workers == "ray" else workers)
    if hasattr(workers, "scheduler_info"):  # a Client, without importing Dask to ask
        from phenes.execution.dask import Dask

        return Dask(workers)
    if isinstance(workers, Engine):
        return workers
    if hasattr(workers, "submit") and hasattr(workers, "map") and not isinstance(workers, type):
        return Given(workers)  # pyright: ignore[reportArgumentType]
    raise ValueError(
        "workers must be a number of processes of at least 1, 'dask://host:port', a Dask Client,"
        f" 'ray' or an Executor, got {_validate.quote(workers)}"
    )


def processes(count: int) -> Executor:
    """The pool of this many processes, shared by the whole program and replaced if it is broken."""
    from loky import get_reusable_executor

    return get_reusable_executor(
        max_workers=count, timeout=IDLE, initializer=_settle, initargs=(os.getpid(),)
    )


def _settle(parent: int) -> None:
    """In a new worker. Ctrl-C reaches all processes of a terminal: the one that waits for the
    results answers it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: int) -> None:
    """A worker whose parent was killed would go on with work that nobody waits for."""
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)
