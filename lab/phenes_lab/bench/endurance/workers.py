"""Evaluation on workers: the overhead of a task on each engine, and the speed-up of two workers
over one process.

The overhead of a task is (wall time - work) / tasks where the work is spread over the workers: with
w workers N tasks of t seconds need N t / w at best. These tasks sleep, so that the machine's other
work, or the number of its cores, does not count as overhead. The speed-up is measured twice: with
tasks that compute, which needs cores that have nothing else to do, and with tasks that wait, as for
an instrument. Generations of one process and of the workers take turns, so that both see the same
machine.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from phenes.execution import Evaluate
from phenes_lab.bench.endurance.backends import engine, there
from phenes_lab.driver import Progress, silent
from phenes_lab.report import rich_table

WORKERS = 2


@dataclass(frozen=True)
class WorkersSettings:
    """popsize: tasks in a generation of short ones, few: of long ones. short: seconds of a task for
    the overhead, long: for the speed-up.
    repeats: generations of each."""

    popsize: int = 100
    few: int = 40
    short: float = 0.001
    long: float = 0.05
    repeats: int = 5
    engines: tuple[str, ...] = ("loky", "dask", "ray")

    @classmethod
    def quick(cls) -> "WorkersSettings":
        return cls(popsize=40, few=10, repeats=2, engines=("loky",))


@dataclass(frozen=True)
class WorkersRow:
    """overhead: milliseconds for each short task; speedup: of two workers on long tasks that
    compute, beside one process; waiting: on tasks that wait. Medians; NaN: not there."""

    engine: str
    overhead_ms: float
    speedup: float
    waiting: float


class Sleep:
    def __init__(self, seconds: float):
        self.seconds = seconds

    def __call__(self, x: np.ndarray) -> float:
        time.sleep(self.seconds)
        return float(x[0])


class Spin:
    """Work for one core, of a length that was measured in one process: on a busy machine it takes
    longer, as any work does.
    """

    def __init__(self, rounds: int):
        self.rounds = rounds

    def __call__(self, x: np.ndarray) -> float:
        return spin(self.rounds) + float(x[0])


def spin(rounds: int) -> float:
    total = 0.0
    for k in range(rounds):
        total += k * 1e-9
    return total


def run(settings: WorkersSettings, progress: Progress = silent) -> list[WorkersRow]:
    started = time.perf_counter()
    spin(1_000_000)
    work = Spin(round(1_000_000 * settings.long / (time.perf_counter() - started)))
    (alone,) = _seconds(settings.repeats, settings.popsize, Evaluate(Sleep(settings.short)))
    rows = [WorkersRow("1 process", 1000 * (alone / settings.popsize - settings.short), 1.0, 1.0)]
    for k, name in enumerate(settings.engines):
        progress(k, len(settings.engines))
        if not there(name):
            rows.append(WorkersRow(name, np.nan, np.nan, np.nan))
            continue
        with engine(name, WORKERS) as where:
            workers = int(where) if where.isdigit() else where
            (short,) = _seconds(
                settings.repeats, settings.popsize, Evaluate(Sleep(settings.short), workers=workers)
            )
            ratios = [_ratio(task, workers, settings) for task in (work, Sleep(settings.long))]
        rows.append(
            WorkersRow(name, 1000 * (short / settings.popsize - settings.short / WORKERS), *ratios)
        )
    progress(len(settings.engines), len(settings.engines))
    return rows


def _ratio(task: Callable[[np.ndarray], float], workers: Any, settings: WorkersSettings) -> float:
    alone, together = _seconds(
        settings.repeats, settings.few, Evaluate(task), Evaluate(task, workers=workers)
    )
    return alone / together


def _seconds(repeats: int, tasks: int, *where: Evaluate) -> list[float]:
    """Of a generation at each place, the median; the first, which starts the workers, does not
    count.
    """
    turns = [[_generation(evaluate, tasks) for evaluate in where] for _ in range(repeats + 1)]
    for evaluate in where:
        evaluate.close()
    return [statistics.median(times) for times in zip(*turns[1:], strict=True)]


def _generation(evaluate: Evaluate, popsize: int) -> float:
    pool = evaluate.open()
    started = time.perf_counter()
    for i in range(popsize):
        pool.send(i, np.array([float(i)]))
    while len(pool):
        pool.take()
    return time.perf_counter() - started


def table(rows: list[WorkersRow]) -> Any:
    """For people, as a `rich` table."""
    lines = []
    for row in rows:
        numbers = (row.overhead_ms, row.speedup, row.waiting)
        texts = ["not installed" if np.isnan(v) else f"{v:.2f}" for v in numbers]
        lines.append([row.engine, *texts])
    computing = f"speed-up of {WORKERS} workers, 50 ms tasks that compute"
    return rich_table(("engine", "overhead of a 1 ms task, ms", computing, "that wait"), lines)
