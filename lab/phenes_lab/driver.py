"""settings -> store -> figures and report: what all experiments have in common.

Every part that is not in the store yet is computed, on all cores, and kept as soon as it is
finished. A run that was killed goes on with `resume`, and loses the parts that were being computed,
nothing else.
"""

import dataclasses
import functools
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from phenes.store import Run, Store
from phenes_lab import _pinned_pool

SESSION = "session/"  # how long it took from start to end, once for every time it was started

Progress = Callable[[int, int], Any]


class Experiment(NamedTuple):
    """name: of the runs in the store, and of its file. tasks(settings): what there is to do, by
    key; cost(settings, task): in any unit.

    compute(settings, task) -> arrays runs in a process of its own, to which it is sent by its name.
    finish(store, out) draws and writes.
    """

    name: str
    tasks: Callable[[Any], Mapping[str, Any]]
    cost: Callable[[Any, Any], float]
    compute: Callable[[Any, Any], dict[str, np.ndarray]]
    finish: Callable[[Store, Path], None]

    def path(self, out: Path) -> Path:
        return out / f"{self.name}.db"


class Session(NamedTuple):
    seconds: float
    parts: int
    processes: int


def run(
    experiment: Experiment,
    settings: Any,
    out: Path,
    resume: bool = False,
    progress: Progress = lambda done, total: None,
    processes: int | None = None,
) -> Path:
    """Runs what is missing, writes figures and reports into `out`, and returns the path of the
    store. settings: a frozen dataclass.

    progress(done, total) counts parts by what they cost. Parts that fail are named in the
    RuntimeError at the end, when all others are kept: `resume` then tries them again.
    """
    out.mkdir(parents=True, exist_ok=True)
    path = experiment.path(out)
    with Store(path) as store:
        record = store.begin(experiment.name, dataclasses.asdict(settings), resume)
        refuse(collect(experiment, settings, record, progress, processes), path)
        experiment.finish(store, out)
    return path


def collect(
    experiment: Experiment,
    settings: Any,
    record: Run,
    progress: Progress = lambda done, total: None,
    processes: int | None = None,
) -> dict[str, str]:
    """Computes the parts that `record` lacks. What failed, by key, with its traceback."""
    tasks, there = experiment.tasks(settings), record.keys()
    missing, used = (
        [(key, task) for key, task in tasks.items() if key not in there],
        processes or _pinned_pool.count(),
    )
    ticks = {
        key: max(1, round(10 * experiment.cost(settings, task))) for key, task in tasks.items()
    }
    started = time.perf_counter()
    failed = hand_out(
        functools.partial(_compute, experiment.compute, settings),
        missing,
        used,
        lambda key, arrays, seconds: record.add(key, arrays, seconds),
        lambda left: progress(
            sum(ticks.values()) - sum(ticks[key] for key in left), sum(ticks.values())
        ),
    )
    if missing:
        number = 1 + sum(key.startswith(SESSION) for key in there)
        record.add(
            f"{SESSION}{number}",
            {"parts": len(missing), "processes": used},
            time.perf_counter() - started,
        )
    record.finish("failed" if failed else "done")
    return failed


def hand_out(
    compute: Callable[[Any], Any],
    tasks: list[tuple[str, Any]],
    processes: int,
    keep: Callable[[str, dict[str, np.ndarray], float], None],
    left: Callable[[set[str]], Any],
) -> dict[str, str]:
    """compute((key, task)) for all of them; keep(key, arrays, seconds) as they are finished. What
    failed, with its traceback.
    """
    waiting, failed = {key for key, _ in tasks}, {}
    left(waiting)
    for answer in _pinned_pool.each(compute, tasks, processes):
        key = answer.task[0]
        if answer.error is None:
            keep(key, answer.result, answer.seconds)
        else:
            failed[key] = answer.error
        waiting.remove(key)
        left(waiting)
    return failed


def refuse(failed: dict[str, str], path: Path) -> None:
    """Says which parts failed, and why the first of them did."""
    if failed:
        first = next(iter(failed.values())).strip().splitlines()[-1]
        raise RuntimeError(
            f"{', '.join(sorted(failed))} failed and can be tried again with --resume ({first});"
            f" the rest is in {path}"
        )


def sessions(record: Run) -> list[Session]:
    seconds = record.seconds()
    return [
        Session(seconds[key], int(record[key]["parts"]), int(record[key]["processes"]))
        for key in record
        if key.startswith(SESSION)
    ]


def _compute(
    compute: Callable[[Any, Any], dict[str, np.ndarray]], settings: Any, task: tuple[str, Any]
) -> dict[str, np.ndarray]:
    """In a worker, whose JAX is its own: double precision is set here and nowhere else."""
    import jax

    jax.config.update("jax_enable_x64", True)
    return compute(settings, task[1])
