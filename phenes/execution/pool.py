"""Points go out to workers, outcomes come in as they are finished.

A point whose worker died is sent again, up to `max_attempts` times in all; one that came back is
never sent again. Pools of processes die whole when one of them is killed, and the innocent with the
guilty: the last attempt of a point is therefore made alone.
"""

import queue
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from phenes._validate import FloatArray
from phenes.execution.backends import AnyFuture, Backend
from phenes.execution.task import Outcome, failed, say

POLL = 0.2  # seconds between health checks of the workers
PATIENCE = 120  # seconds without any worker after which a cluster is taken to be gone

Arrived: TypeAlias = list[tuple[int, Outcome]]


class Pool(Protocol):
    """Takes points and gives back outcomes as they come."""

    def __len__(self) -> int:
        """Number of points that were sent and have not come back."""
        ...

    @property
    def room(self) -> int:
        """How many more would be started at once, or soon."""
        ...

    def send(self, tag: int, point: FloatArray) -> None:
        """Evaluate f at a point.

        Parameters
        ----------
        tag : int
            Comes back with the outcome.
        point : ndarray, shape (d,)
            Where f is evaluated.
        """
        ...

    def take(self) -> Arrived:
        """What has come back since the last call.

        Waits until there is something, unless nothing is under way.

        Returns
        -------
        list of (int, Outcome)
            Tags and outcomes.
        """
        ...

    def close(self) -> None:
        """Forget what is under way."""
        ...


@dataclass
class Task:
    tag: int
    point: FloatArray
    attempts: int = 0  # how often its worker died
    since: float = 0.0
    # its worker is killed because another task timed out: that does not count as an attempt
    pardoned: bool = False


class WorkerPool:
    """A `Pool` of what is under way on a backend. limit: seconds for one evaluation."""

    def __init__(
        self,
        backend: Backend,
        call: Callable[[FloatArray], Outcome],
        limit: float | None,
        max_attempts: int,
    ):
        self.backend, self.call = backend, call
        self.limit, self.max_attempts = limit, max_attempts
        # prefetching a second task keeps workers busy, but then it is unknown when (and whether) a
        # task started, which time limits and attempts need
        self.depth = 2 if limit is None and max_attempts > 1 else 1
        self.waiting: deque[Task] = deque()
        self.flying: dict[AnyFuture, Task] = {}
        self.done: queue.SimpleQueue[AnyFuture] = queue.SimpleQueue()
        self.alone = False
        self.looked = self.alive = time.monotonic()

    def __len__(self) -> int:
        return len(self.waiting) + len(self.flying)

    @property
    def room(self) -> int:
        """See `Pool`."""
        return max(self.depth * self.backend.slots - len(self), 0)

    def send(self, tag: int, point: FloatArray) -> None:
        self.waiting.append(Task(tag, point))
        self._fill()

    def take(self) -> Arrived:
        """See `Pool`."""
        arrived: Arrived = []
        while not arrived and len(self):
            self._fill()
            for future in self._returned():
                arrived += self._settle(future)
            arrived += self._late() + self._orphans()
        self._fill()
        return arrived

    def close(self) -> None:
        """See `Pool`."""
        self.waiting.clear()
        flying, self.flying = list(self.flying), {}
        if flying:
            self.backend.give_up(flying)

    def _fill(self) -> None:
        while (
            self.waiting and len(self.flying) < self.depth * self.backend.slots and not self.alone
        ):
            if self._suspect(self.waiting[0]) and self.flying:
                return
            task = self.waiting.popleft()
            self.alone = self._suspect(task)
            future = self.backend.submit(self.call, task.point)
            task.since, task.pardoned = time.monotonic(), False
            self.flying[future] = task
            future.add_done_callback(self.done.put)

    def _suspect(self, task: Task) -> bool:
        return 0 < task.attempts == self.max_attempts - 1

    def _returned(self) -> list[AnyFuture]:
        if time.monotonic() - self.looked > POLL:
            self._look()
        try:
            futures = [self.done.get(timeout=POLL)]
        except queue.Empty:
            return []
        while not self.done.empty():
            futures.append(self.done.get())
        return futures

    def _look(self) -> None:
        self.backend.look()
        self.looked = time.monotonic()
        if self.backend.slots:
            self.alive = self.looked
        elif self.looked - self.alive > PATIENCE:
            raise RuntimeError(
                f"no worker has been free for {PATIENCE} seconds: start some, and go on from the"
                " checkpoint"
            )

    def _settle(self, future: AnyFuture) -> Arrived:
        task = self.flying.pop(future, None)
        if task is None:  # given up before
            return []
        self.alone = False
        try:
            return [(task.tag, future.result())]
        except self.backend.lost:
            return self._lost(task)
        except Exception as error:  # of the backend: f's own come back as outcomes
            return [(task.tag, failed(say(error)))]

    def _lost(self, task: Task) -> Arrived:
        task.attempts += not (task.pardoned and self.max_attempts > 1)
        if task.attempts >= self.max_attempts:
            times = "" if task.attempts == 1 else f" {task.attempts} times"
            return [
                (task.tag, failed(f"WorkerLost: the worker died{times} during this evaluation"))
            ]
        self.waiting.append(task)
        return []

    def _orphans(self) -> Arrived:
        """Fail the tasks whose workers died, if no worker is left to retry them."""
        if self.flying or not self.backend.gone:
            return []
        lost = [task for task in self.waiting if task.attempts]
        if not lost:
            raise RuntimeError(
                "all workers of the cluster have died, and it starts no others: look at what f does"
                " to them, start a new cluster, and go on from the checkpoint"
            )
        self.waiting = deque(task for task in self.waiting if not task.attempts)
        said = "WorkerLost: the worker died during this evaluation, and there is no other"
        return [(task.tag, failed(said)) for task in lost]

    def _late(self) -> Arrived:
        """Tasks that neither returned nor could be interrupted in time."""
        if self.limit is None:
            return []
        now = time.monotonic()
        late = [
            future
            for future, task in self.flying.items()
            if now - task.since > self.limit + self.backend.patience
        ]
        tasks = [self.flying.pop(future) for future in late]
        if late:
            for task in self.flying.values():
                task.pardoned = True
            self.alone = False
            self.backend.give_up(late)
        said = f"TimeoutError: no value within {self.limit:g} s, and it could not be interrupted"
        return [(task.tag, failed(said)) for task in tasks]
