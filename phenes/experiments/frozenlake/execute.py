"""settings -> store: every part that is not there yet, on all cores, kept as soon as it is finished."""

import dataclasses
import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from phenes import workers
from phenes.experiments.frozenlake.settings import EXPERIMENT, Settings
from phenes.store import Run, Store

FILE = "frozenlake.db"
SESSION = "session/"  # how long it took from start to end, once for every time it was started

Progress = Callable[[int, int], Any]


def run(
    settings: Settings,
    out: Path,
    resume: bool = False,
    progress: Progress = lambda done, total: None,
    processes: int | None = None,
) -> Path:
    """Runs what is missing, writes figures and reports into `out`, and returns the path of the store.

    Parts that fail are named in the RuntimeError at the end, when all others are kept: `resume` then tries them again.
    """
    from phenes.experiments.frozenlake.pictures import figures
    from phenes.experiments.frozenlake.writing import report
    from phenes.rl import tabular

    tabular.load("FrozenLake-v1")  # without gymnasium this says so, here and not in every process
    out.mkdir(parents=True, exist_ok=True)
    path = out / FILE
    with Store(path) as store:
        failed = collect(settings, store.begin(EXPERIMENT, dataclasses.asdict(settings), resume), progress, processes)
    if failed:
        first = next(iter(failed.values())).strip().splitlines()[-1]
        raise RuntimeError(f"{', '.join(sorted(failed))} failed and can be tried again with --resume ({first}); the rest is in {path}")
    with Store(path, create=False) as store:
        figures(store, out)
        report(store, out)
    return path


def collect(settings: Settings, record: Run, progress: Progress, processes: int | None = None) -> dict[str, str]:
    """Computes the parts that `record` lacks. What failed, by key, with its traceback."""
    there, failed = record.keys(), {}
    missing = [name for name in settings.parts if name not in there]
    total, done = (sum(max(1, round(settings.cost(name))) for name in names) for names in (settings.parts, there & set(settings.parts)))
    progress(done, total)
    started, used = time.perf_counter(), processes or workers.count()
    for answer in workers.each(functools.partial(_compute, settings), missing, used):
        if answer.error is None:
            record.add(answer.task, answer.result, answer.seconds)
        else:
            failed[answer.task] = answer.error
        done += max(1, round(settings.cost(answer.task)))
        progress(done, total)
    if missing:
        number = 1 + sum(key.startswith(SESSION) for key in there)
        record.add(f"{SESSION}{number}", {"parts": len(missing), "processes": used}, time.perf_counter() - started)
    record.finish("failed" if failed else "done")
    return failed


def _compute(settings: Settings, name: str) -> dict[str, np.ndarray]:
    """In a worker, whose JAX is its own: double precision is set here and nowhere else."""
    import jax

    jax.config.update("jax_enable_x64", True)
    from phenes.experiments.frozenlake.part import compute

    return compute(settings, name)
