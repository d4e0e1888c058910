"""Evaluations on Ray, which has no Executor of its own."""

import functools
import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any

from phenes._extras import install_hint
from phenes.execution.backends import AnyFuture, Backend, WorkerLost


class RayBackend(Backend):
    """The Ray this program is connected to, or else at `address`, in RAY_ADDRESS, or a new one."""

    def __init__(self, address: str | None = None):
        try:
            import ray
            import ray.exceptions
        except ImportError as error:
            raise ValueError(f"workers='ray' needs Ray: {install_hint('ray')}") from error
        self.ray: Any = ray
        self.raised: type[BaseException] = ray.exceptions.RayTaskError
        if not self.ray.is_initialized():
            self.ray.init(
                address=address,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        # no retries by Ray of the tasks of a dead worker: the pool counts attempts itself
        self.run = self.ray.remote(_call).options(max_retries=0, retry_exceptions=False)
        self.flying: dict[AnyFuture, Any] = {}
        self.look()

    @property
    def slots(self) -> int:
        return self.cores

    def look(self) -> None:
        self.cores = int(self.ray.cluster_resources().get("CPU", 0))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> AnyFuture:
        return self._future(self.run.remote(fn, args, kwargs))

    def actor(self) -> Any:
        """A worker that keeps its memory from task to task; Ray replaces one that dies."""
        return (
            self.ray.remote(_Actor)
            .options(num_cpus=1, max_restarts=-1, max_task_retries=0)
            .remote()
        )

    def end(self, actor: Any) -> None:
        """End an actor."""
        self.ray.kill(actor)

    def submit_to(
        self, actor: Any, fn: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> AnyFuture:
        return self._future(actor.call.remote(fn, args, kwargs))

    def _future(self, ref: Any) -> AnyFuture:
        ours: AnyFuture = Future()
        ours.set_running_or_notify_cancel()
        self.flying[ours] = ref
        ref.future().add_done_callback(functools.partial(self._finished, ours))
        return ours

    def give_up(self, futures: Iterable[AnyFuture]) -> None:
        for future in futures:
            ref = self.flying.pop(future, None)
            if ref is not None:
                self.ray.cancel(ref, force=True)

    def _finished(self, ours: AnyFuture, theirs: AnyFuture) -> None:
        self.flying.pop(ours, None)
        error = theirs.exception()
        if error is None:
            ours.set_result(theirs.result())
        elif isinstance(error, self.raised):
            ours.set_exception(error)
        else:
            ours.set_exception(WorkerLost(f"{type(error).__name__}: {error}"))


class _Actor:
    def call(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return _call(fn, args, kwargs)


def _call(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return fn(*args, **kwargs)
