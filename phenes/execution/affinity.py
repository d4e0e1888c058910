"""Workers that are spoken to one by one, so that what one has in memory is there when it is asked
again.

An Executor gives a task to whoever is free. A lane is one worker: a process of its own, a Dask
worker, a Ray actor. If it dies, its tasks are sent again, to a new one or to another: what it held
is gone, and tasks must be able to do without.
"""

import abc
import contextlib
import functools
import os
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, wait
from typing import Any

from phenes.execution.backends import Engine, Given, Processes, WorkerLost, _settle, engine
from phenes.execution.task import say

ATTEMPTS = 4  # of a task whose workers die
POLL = 0.5  # seconds between looks at workers that say nothing
PATIENCE = 60  # seconds without any worker
UNKNOWN = 4  # lanes of an Executor that does not say how many workers it has
# bytes: loky ends workers that have grown by more than so much, and what they hold with them
WHOLE = "1e18"


class Lanes(Executor, abc.ABC):
    """Task i of a call goes to lane i, counted around. Lost workers are replaced."""

    lost: tuple[type[BaseException], ...] = Engine.lost

    @abc.abstractmethod
    def __len__(self) -> int: ...

    @abc.abstractmethod
    def to(self, lane: int, fn: Callable[..., Any], *args: Any) -> Future:
        """fn(*args) on this lane."""

    def look(self) -> None:
        """See whether workers died; called now and then while waiting."""

    def gather(self, fn: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> list[Any]:
        """fn of each, in order. An exception of fn is raised here."""
        results: dict[int, Any] = {}
        for _ in range(ATTEMPTS):
            missing = [i for i in range(len(tasks)) if i not in results]
            futures = {self._to(i % len(self), _as_data, fn, *tasks[i]): i for i in missing}
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

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        return self.to(0, functools.partial(fn, **kwargs), *args)

    def map(
        self,
        fn: Callable[..., Any],
        *iterables: Any,
        timeout: float | None = None,
        chunksize: int = 1,
    ) -> Iterator[Any]:  # pyright: ignore
        return iter(self.gather(fn, list(zip(*iterables, strict=True))))

    def close(self) -> None:
        """Let go of what was opened for these lanes alone."""

    def _to(self, lane: int, fn: Callable[..., Any], *args: Any) -> Future:
        try:
            return self.to(lane, fn, *args)
        except self.lost as error:  # it has died since the last task
            failed: Future = Future()
            failed.set_exception(error)
            return failed

    def _wait(self, futures: list[Future]) -> None:
        waiting = set(futures)
        while waiting:
            waiting = wait(waiting, timeout=POLL).not_done
            self.look()


class OwnProcesses(Lanes):
    """Pools of one process each: when one dies, the others live on."""

    def __init__(self, count: int):
        from loky.process_executor import ShutdownExecutorError

        self.lost = (*Engine.lost, ShutdownExecutorError)
        self.pools = [self._pool() for _ in range(count)]

    def __len__(self) -> int:
        return len(self.pools)

    def to(self, lane: int, fn: Callable[..., Any], *args: Any) -> Future:
        try:
            return self.pools[lane].submit(fn, *args)
        except self.lost:
            self.pools[lane].shutdown(wait=False)
            self.pools[lane] = self._pool()
            return self.pools[lane].submit(fn, *args)

    def close(self) -> None:
        for pool in self.pools:
            pool.shutdown(wait=True, kill_workers=True)

    def _pool(self) -> Any:
        from loky import ProcessPoolExecutor

        return ProcessPoolExecutor(
            1,
            env={"LOKY_MAX_MEMORY_LEAK_SIZE": WHOLE},
            initializer=_settle,
            initargs=(os.getpid(),),
        )


class OnDask(Lanes):
    """Each task tied to one worker of the cluster. dask: a `phenes.execution.dask.Dask`."""

    def __init__(self, dask: Any):
        self.dask = dask
        self.places = sorted(dask.workers) or [self._somebody(())]

    def __len__(self) -> int:
        return len(self.places)

    def to(self, lane: int, fn: Callable[..., Any], *args: Any) -> Future:
        if self.places[lane] not in self.dask.workers:
            self.places[lane] = self._somebody(self.places)
        return self.dask.submit_to(self.places[lane], fn, *args)

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


class OnRay(Lanes):
    """One actor for each core that Ray has."""

    def __init__(self, ray: Any):
        self.ray = ray
        self.actors = [ray.actor() for _ in range(max(ray.slots, 1))]

    def __len__(self) -> int:
        return len(self.actors)

    def to(self, lane: int, fn: Callable[..., Any], *args: Any) -> Future:
        return self.ray.submit_to(self.actors[lane], fn, *args)

    def close(self) -> None:
        for actor in self.actors:
            self.ray.ray.kill(actor)


class Shared(Lanes):
    """An Executor of the caller's. Threads share their memory; of processes, whoever is asked may
    not be the one who knows.
    """

    def __init__(self, executor: Executor, count: int):
        self.executor, self.count = executor, count

    def __len__(self) -> int:
        return self.count

    def to(self, lane: int, fn: Callable[..., Any], *args: Any) -> Future:
        try:
            return self.executor.submit(fn, *args)
        except RuntimeError as error:
            raise WorkerLost(str(error)) from error


def _as_data(fn: Callable[..., Any], *args: Any) -> tuple[Any, tuple[str, str, str] | None]:
    """On the worker: an exception that cannot be unpickled would break what carries it."""
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


def lanes(workers: Any) -> Lanes | None:
    """What `workers=` says, see `engine`; None is here."""
    if isinstance(workers, Lanes):
        return workers
    where = engine(workers)
    if where is None:
        return None
    if isinstance(where, Processes):
        return OwnProcesses(where.count)
    if isinstance(where, Given):
        return Shared(where.executor, getattr(where.executor, "_max_workers", None) or UNKNOWN)
    return OnDask(where) if hasattr(where, "client") else OnRay(where)
