"""Affinity: numbered workers, so that later tasks go to the worker that holds their cached data.

An Executor gives a task to any free worker. A numbered worker is a process of its own, a Dask
worker or a Ray actor. If it dies, its tasks are sent again, to a new worker or to another one: its
cache is lost, and tasks must be able to recompute what was in it.
"""

# loky ships no stubs
# pyright: reportMissingTypeStubs=false

import abc
import contextlib
import functools
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, wait
from typing import Any

from phenes import _validate
from phenes.execution.backends import (
    AnyFuture,
    Backend,
    CallerExecutor,
    ProcessBackend,
    WorkerLost,
    backend,
    quiet_worker,
    started_by,
)
from phenes.execution.dask import DaskBackend
from phenes.execution.ray import RayBackend
from phenes.execution.task import say

ATTEMPTS = 4  # attempts at a task whose workers die
POLL = 0.5  # seconds between health checks of the workers
PATIENCE = 60  # seconds without any worker
UNKNOWN = 4  # workers of an Executor that does not say how many workers it has
# bytes by which a worker may grow: loky restarts larger ones, and their cache would be lost
WHOLE = "1e18"


class NumberedWorkers(Executor, abc.ABC):
    """Task i of a call goes to worker i modulo their number. Lost workers are replaced."""

    lost: tuple[type[BaseException], ...] = Backend.lost

    @abc.abstractmethod
    def __len__(self) -> int: ...

    @abc.abstractmethod
    def submit_to(self, worker: int, fn: Callable[..., Any], *args: Any) -> AnyFuture:
        """fn(*args) on this worker."""

    def look(self) -> None:
        """See whether workers died; called now and then while waiting."""

    def gather(self, fn: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> list[Any]:
        """fn of each, in order. An exception of fn is raised here."""
        results: dict[int, Any] = {}
        for _ in range(ATTEMPTS):
            missing = [i for i in range(len(tasks)) if i not in results]
            futures = {self._submit_to(i % len(self), _as_data, fn, *tasks[i]): i for i in missing}
            self._wait(list(futures))
            for future, i in futures.items():
                with contextlib.suppress(*self.lost):
                    results[i] = future.result()
            if len(results) == len(tasks):
                return [_opened(results[i]) for i in range(len(tasks))]
        raise RuntimeError(
            f"workers died {ATTEMPTS} times in a row during one piece of work: is there memory"
            " for it?"
        )

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> AnyFuture:
        return self.submit_to(0, functools.partial(fn, **kwargs), *args)

    def map(
        self,
        fn: Callable[..., Any],
        *iterables: Any,
        timeout: float | None = None,
        chunksize: int = 1,
    ) -> Iterator[Any]:
        return iter(self.gather(fn, list(zip(*iterables, strict=True))))

    def close(self) -> None:
        """Release the resources that were opened for these workers alone."""

    def _submit_to(self, worker: int, fn: Callable[..., Any], *args: Any) -> AnyFuture:
        try:
            return self.submit_to(worker, fn, *args)
        except self.lost as error:  # it has died since the last task
            failed: AnyFuture = Future()
            failed.set_exception(error)
            return failed

    def _wait(self, futures: list[AnyFuture]) -> None:
        waiting = set(futures)
        while waiting:
            waiting = wait(waiting, timeout=POLL).not_done
            self.look()


class OwnProcesses(NumberedWorkers):
    """Pools of one process each: when one dies, the others live on."""

    def __init__(self, count: int):
        from loky.process_executor import ShutdownExecutorError

        self.lost = (*Backend.lost, ShutdownExecutorError)
        self.pools: list[Any] = [self._pool() for _ in range(count)]

    def __len__(self) -> int:
        return len(self.pools)

    def submit_to(self, worker: int, fn: Callable[..., Any], *args: Any) -> AnyFuture:
        try:
            return self.pools[worker].submit(fn, *args)
        except self.lost:
            self.pools[worker].shutdown(wait=False)
            self.pools[worker] = self._pool()
            return self.pools[worker].submit(fn, *args)

    def close(self) -> None:
        for pool in self.pools:
            pool.shutdown(wait=True, kill_workers=True)

    def _pool(self) -> Any:
        from loky import ProcessPoolExecutor

        return ProcessPoolExecutor(
            1,
            env={"LOKY_MAX_MEMORY_LEAK_SIZE": WHOLE},
            initializer=quiet_worker,
            initargs=started_by(),
        )


class OnDask(NumberedWorkers):
    """Each task tied to one worker of the cluster. dask: a `DaskBackend`."""

    def __init__(self, dask: DaskBackend):
        self.dask = dask
        self.places = sorted(dask.workers) or [self._somebody(())]

    def __len__(self) -> int:
        return len(self.places)

    def submit_to(self, worker: int, fn: Callable[..., Any], *args: Any) -> AnyFuture:
        if self.places[worker] not in self.dask.workers:
            self.places[worker] = self._somebody(self.places)
        return self.dask.submit_to(self.places[worker], fn, *args)

    def look(self) -> None:
        self.dask.look()

    def _somebody(self, taken: Sequence[str]) -> str:
        """A new worker if there is one: a cluster takes a moment to replace those it has lost."""
        deadline = time.monotonic() + PATIENCE
        while not self.dask.workers and time.monotonic() < deadline:
            time.sleep(POLL)
            self.dask.look()
        if not self.dask.workers:
            raise RuntimeError(f"the Dask cluster has had no workers for {PATIENCE} seconds")
        return min(self.dask.workers, key=lambda worker: taken.count(worker))

    def close(self) -> None:
        self.dask.close()


class OnRay(NumberedWorkers):
    """One actor for each core that Ray has."""

    def __init__(self, ray: RayBackend):
        self.ray = ray
        self.actors: list[Any] = [ray.actor() for _ in range(max(ray.slots, 1))]

    def __len__(self) -> int:
        return len(self.actors)

    def submit_to(self, worker: int, fn: Callable[..., Any], *args: Any) -> AnyFuture:
        return self.ray.submit_to(self.actors[worker], fn, *args)

    def close(self) -> None:
        for actor in self.actors:
            self.ray.end(actor)


class CallerWorkers(NumberedWorkers):
    """An Executor that the caller supplied, without affinity.

    Threads share their memory. With processes, the worker that gets the second task may not hold
    the cached result, and computes it again.
    """

    def __init__(self, executor: Executor, count: int):
        self.executor, self.count = executor, count

    def __len__(self) -> int:
        return self.count

    def submit_to(self, worker: int, fn: Callable[..., Any], *args: Any) -> AnyFuture:
        try:
            return self.executor.submit(fn, *args)
        except RuntimeError as error:
            raise WorkerLost(str(error)) from error


def _as_data(fn: Callable[..., Any], *args: Any) -> tuple[Any, tuple[str, str, str] | None]:
    """Calls fn on the worker; exceptions return as data, since some cannot be unpickled."""
    try:
        return fn(*args), None
    except Exception as error:
        return None, (type(error).__name__, say(error), traceback.format_exc())


def _opened(answer: tuple[Any, tuple[str, str, str] | None]) -> Any:
    value, trouble = answer
    if trouble is None:
        return value
    kind, said, where = trouble
    known = {"ValueError": ValueError, "RuntimeError": RuntimeError}
    error = known[kind](said.removeprefix(f"{kind}: ")) if kind in known else RuntimeError(said)
    error.add_note(f"On the worker:\n{where}")
    raise error


def numbered_workers(workers: Any) -> NumberedWorkers | None:
    """Numbered workers for an argument `workers` (see `backend`); None is this process."""
    if isinstance(workers, NumberedWorkers):
        return workers
    where = backend(workers)
    if where is None:
        return None
    if isinstance(where, ProcessBackend):
        return OwnProcesses(where.count)
    if isinstance(where, CallerExecutor):
        return CallerWorkers(where.executor, where.workers or UNKNOWN)
    if isinstance(where, DaskBackend):
        return OnDask(where)
    if isinstance(where, RayBackend):
        return OnRay(where)
    raise ValueError(f"workers must have numbers, got {_validate.quote(where)}")
