"""settings -> store: every part that is not there yet, on all cores, kept as soon as it is finished."""

import dataclasses
import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from phenes import workers
from phenes.experiments.bbob.settings import EXPERIMENT, LANDSCAPE, Part, Settings
from phenes.store import Run, Store

FILE = "bbob.db"
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

    progress(done, total) counts parts by what they cost. Parts that fail are named in the RuntimeError at the end, when all others
    are kept: `resume` then tries them again.
    """
    from phenes.experiments.bbob.pictures import figures
    from phenes.experiments.bbob.writing import report

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
    there = record.keys()
    missing = [part for part in settings.parts if part.key not in there]
    total, failed = _ticks(settings.parts), {}
    done = total - _ticks(missing)
    progress(done, total)
    started, used = time.perf_counter(), processes or workers.count()
    for answer in workers.each(functools.partial(_compute, settings), missing, used):
        if answer.error is None:
            record.add(answer.task.key, answer.result, answer.seconds)
        else:
            failed[answer.task.key] = answer.error
        done += _ticks([answer.task])
        progress(done, total)
    if missing:
        wall = time.perf_counter() - started
        number = 1 + sum(key.startswith(SESSION) for key in there)
        record.add(f"{SESSION}{number}", {"parts": len(missing), "processes": used}, wall)
    record.finish("failed" if failed else "done")
    return failed


def _ticks(parts: Any) -> int:
    return sum(max(1, round(10 * part.cost)) for part in parts)


def _compute(settings: Settings, part: Part) -> dict[str, np.ndarray]:
    """In a worker, whose JAX is its own: double precision is set here and nowhere else."""
    import jax

    jax.config.update("jax_enable_x64", True)
    from phenes.experiments.bbob import landscape
    from phenes.experiments.bbob.part import compute

    return landscape.compute(settings, part.function) if part.method == LANDSCAPE else compute(settings, part)
