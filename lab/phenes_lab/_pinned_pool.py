"""A process pool in which every worker is pinned to a core of its own.

A process is pinned before it starts, so that XLA and BLAS see one core when they count: threads
that share a core with another run cost both of them time. An exception in a task, or the death of
its process, is returned as text, and the other tasks go on.
"""

import contextlib
import multiprocessing
import os
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

SINGLE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class Done(NamedTuple):
    """A finished task: its result or its error."""

    task: Any
    result: Any
    error: str | None
    seconds: float


class Worker(NamedTuple):
    process: Any
    pipe: Connection


def each(compute: Callable[[Any], Any], tasks: Sequence[Any], workers: int) -> Iterator[Done]:
    """compute(task) for all tasks, started in their order, yielded as they finish. `compute` is
    pickled by its name.
    """
    waiting, busy = list(tasks), {}
    cores = _cores()
    try:
        for k in range(min(workers, len(waiting))):
            core = cores[k % len(cores)] if cores else None
            worker = _start(compute, core)
            busy[worker.pipe] = (worker, _give(worker, waiting.pop(0)), core)
        while busy:
            for pipe in wait(list(busy)):
                worker, task, core = busy.pop(pipe)  # pyright: ignore[reportArgumentType]
                done = _receive(worker, task)
                if waiting:
                    # a process that died is replaced
                    worker = worker if worker.process.is_alive() else _start(compute, core)
                    busy[worker.pipe] = (worker, _give(worker, waiting.pop(0)), core)
                else:
                    _end(worker)
                yield done
    finally:
        for worker, _, _ in busy.values():
            worker.process.terminate()
            worker.process.join()
            worker.pipe.close()


def count() -> int:
    """The number of processes that uses every core once."""
    return len(_cores()) or os.cpu_count() or 1


def _cores() -> list[int]:
    """The cores that this process may use; empty if the system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def _start(compute: Callable[[Any], Any], core: int | None) -> Worker:
    # a fork of a process with threads, as JAX has them, can lock up
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(compute, there), daemon=True)
    with _pinned(core):
        process.start()
    there.close()
    return Worker(process, here)


@contextlib.contextmanager
def _pinned(core: int | None) -> Iterator[None]:
    """Processes that are started in here inherit the core and the environment."""
    before, cores = {name: os.environ.get(name) for name in SINGLE}, _cores()
    os.environ.update(SINGLE)
    try:
        if core is not None:
            os.sched_setaffinity(0, {core})
        yield
    finally:
        if core is not None:
            os.sched_setaffinity(0, cores)
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def _serve(compute: Callable[[Any], Any], pipe: Connection) -> None:
    """The main loop of a worker. It ignores Ctrl-C, which reaches all processes of a terminal: the
    parent handles it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            task = pipe.recv()
            started = time.perf_counter()
            try:
                result, error = compute(task), None
            except Exception:
                result, error = None, traceback.format_exc()
            pipe.send((result, error, time.perf_counter() - started))


def _give(worker: Worker, task: Any) -> Any:
    # a process that died before it could take its task is noticed when the answer is read
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        worker.pipe.send(task)
    return task


def _receive(worker: Worker, task: Any) -> Done:
    try:
        return Done(task, *worker.pipe.recv())
    except (EOFError, ConnectionResetError):
        worker.process.join()
        worker.pipe.close()
        return Done(task, None, f"the process ended with exit code {worker.process.exitcode}", 0.0)


def _end(worker: Worker) -> None:
    if not worker.pipe.closed:
        worker.pipe.close()
    worker.process.join()
