"""Evaluations on a Dask cluster.

By default Dask repeats every task that a dead worker was running, or whose result it held.
Each task is therefore tied to one worker, and the unfinished tasks of a dead worker are reported as
lost: the pool decides whether to send them again. Results are fetched at once and nothing is held
on the cluster.
"""

import contextlib
import functools
import uuid
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from typing import Any

from phenes._extras import install_hint
from phenes.execution.backends import AnyFuture, Backend, WorkerLost

CONNECT = 10  # seconds in which a scheduler has to answer


class DaskBackend(Backend):
    """Evaluations on a distributed.Client, which is closed only if it is `owned`."""

    patience = 1.0  # f runs in a thread of the worker and cannot be interrupted at all

    def __init__(self, client: Any, owned: bool = False):
        self.client, self.owned = client, owned
        self.flying: dict[AnyFuture, tuple[str, Any]] = {}  # our future: worker, Dask's future
        self.workers: dict[str, int] = {}
        self.look()

    @property
    def slots(self) -> int:
        return max(sum(self.workers.values()) - self.stuck(), 0)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> AnyFuture:
        return self.submit_to(self._least_busy(), fn, *args, **kwargs)

    def submit_to(
        self, worker: str, fn: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> AnyFuture:
        ours: AnyFuture = Future()
        ours.set_running_or_notify_cancel()
        name = f"phenes-{uuid.uuid4().hex}"  # two equal points are two evaluations
        theirs = self.client.submit(
            fn,
            *args,
            **kwargs,
            key=name,
            pure=False,
            retries=0,
            workers=[worker],
            allow_other_workers=False,
        )
        self.flying[ours] = worker, theirs
        theirs.add_done_callback(functools.partial(self._finished, ours))
        return ours

    def look(self) -> None:
        try:
            known = self.client.scheduler_info()["workers"]
        except OSError as error:
            raise RuntimeError(f"the Dask scheduler cannot be reached: {error}") from error
        self.workers = {address: worker["nthreads"] for address, worker in known.items()}
        for ours, (worker, theirs) in list(self.flying.items()):
            if worker not in self.workers and self.flying.pop(ours, None):
                _settle(ours, error=WorkerLost(f"the Dask worker {worker} has gone"))
                theirs.cancel()

    @property
    def gone(self) -> bool:
        """Whether the cluster that this process started has given its dead workers up."""
        cluster = getattr(self.client, "cluster", None)
        alive = self.workers or cluster is None or getattr(cluster, "workers", True)
        return not alive and getattr(cluster, "_adaptive", None) is None

    def close(self) -> None:
        if self.owned:
            self.client.close()

    def _least_busy(self) -> str:
        if not self.workers:
            raise RuntimeError("the Dask cluster has no workers")
        busy = dict.fromkeys(self.workers, 0)
        for worker, _ in list(self.flying.values()):
            busy[worker] = busy.get(worker, 0) + 1
        return min(self.workers, key=lambda worker: busy[worker] / self.workers[worker])

    def _finished(self, ours: AnyFuture, theirs: Any) -> None:
        """Passes the outcome on, in a thread of the client."""
        try:
            _settle(ours, result=theirs.result(timeout=30))
        except Exception as error:
            # exceptions of f come back as results, so this is one of the cluster: task cancelled,
            # worker killed or out of reach
            _settle(ours, error=WorkerLost(f"{type(error).__name__}: {error}"))
        self.flying.pop(ours, None)
        theirs.release()


def connect(address: str) -> DaskBackend:
    """The cluster whose scheduler is at host:port."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ValueError(f"workers='dask://...' needs Dask: {install_hint('dask')}") from error
    try:
        return DaskBackend(
            Client(f"tcp://{address}", set_as_default=False, timeout=CONNECT), owned=True
        )
    except (OSError, ValueError) as error:
        raise ValueError(f"there is no Dask scheduler at {address}: {error}") from error


def _settle(future: AnyFuture, result: Any = None, error: Exception | None = None) -> None:
    """Set the outcome unless it is set already: a result may arrive after its worker was lost."""
    with contextlib.suppress(InvalidStateError):
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
