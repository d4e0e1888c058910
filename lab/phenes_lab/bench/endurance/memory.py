"""The memory of a long run: resident size of the process after so many evaluations, each kind of
run in a process of its own.

The target moves, so that no run is finished before its evaluations are used up; what a run keeps
does not depend on that.
"""

import dataclasses
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import phenes
from phenes_lab.driver import Progress, silent
from phenes_lab.report import rich_table
from phenes_lab.settings import Checked

KINDS = ("in memory", "with a checkpoint", "ask and tell")


@dataclass(frozen=True)
class MemorySettings(Checked):
    """marks: evaluations after which the process is measured; the last is the budget."""

    marks: tuple[int, ...] = (10_000, 100_000, 200_000, 500_000, 1_000_000)
    kinds: tuple[str, ...] = KINDS
    dim: int = 10
    popsize: int = 1000
    seed: int = 0

    def __post_init__(self):
        self.tuples()
        self.among("kinds", KINDS)

    @classmethod
    def quick(cls) -> "MemorySettings":
        return cls(marks=(2000, 10_000), kinds=("in memory",), popsize=500)


@dataclass(frozen=True)
class MemoryRow:
    """megabytes: resident at each mark."""

    kind: str
    evaluations: tuple[int, ...]
    megabytes: tuple[float, ...]


class Moving:
    """Squared distance to a point that goes round in a hundred populations."""

    calls = 0

    def __call__(self, x: np.ndarray) -> np.ndarray:
        self.calls += 1
        return np.sum((x - np.sin(0.02 * np.pi * self.calls)) ** 2, axis=1)


class Meter:
    """A callback that measures when a mark is passed."""

    def __init__(self, marks: tuple[int, ...]):
        self.left, self.found = list(marks), []

    def __call__(self, result: Any) -> None:
        while self.left and result.nfev >= self.left[0]:
            self.found.append((self.left.pop(0), resident()))


def resident() -> float:
    """Megabytes of this process; the largest so far where the system does not say how many there
    are now.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1024 if sys.platform == "linux" else 1024**2
    )


def measure(kind: str, settings: MemorySettings) -> list[tuple[int, float]]:
    """In this process."""
    meter, f, x0 = Meter(settings.marks), Moving(), np.zeros(settings.dim)
    options: dict[str, Any] = {
        "budget": settings.marks[-1],
        "popsize": settings.popsize,
        "seed": settings.seed,
    }
    if kind == "ask and tell":
        opt = phenes.Optimizer(x0, 0.5, 0.1, **options)
        rng = np.random.default_rng(settings.seed)
        while meter.left:
            theta = opt.ask()
            x = theta + 0.1 * rng.standard_normal(theta.shape)
            opt.tell(theta, f(x), realised=x)
            meter(opt)
        return meter.found
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "run.db" if kind == "with a checkpoint" else None
        phenes.minimize(
            f, x0, 0.5, 0.1, vectorized=True, callback=meter, checkpoint=kept, **options
        )
    return meter.found


def run(settings: MemorySettings, progress: Progress = silent) -> list[MemoryRow]:
    rows = []
    for k, kind in enumerate(settings.kinds):
        progress(k, len(settings.kinds))
        given = json.dumps(dataclasses.asdict(settings))
        command = [sys.executable, "-m", "phenes_lab.bench.endurance.memory", kind, given]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(
                f"the run {kind} ended with code {done.returncode}: {done.stderr[-500:]}"
            )
        marks, sizes = zip(*json.loads(done.stdout.splitlines()[-1]), strict=True)
        rows.append(MemoryRow(kind, marks, sizes))
    progress(len(settings.kinds), len(settings.kinds))
    return rows


def as_json(rows: list[MemoryRow]) -> dict[str, Any]:
    sizes = [dict(zip(map(str, row.evaluations), row.megabytes, strict=True)) for row in rows]
    return {
        "benchmark": "memory",
        "rows": [
            {"kind": row.kind, "megabytes": each} for row, each in zip(rows, sizes, strict=True)
        ],
    }


def table(rows: list[MemoryRow]) -> Any:
    """For people, as a `rich` table."""
    lines = [[row.kind, *(f"{size:.0f}" for size in row.megabytes)] for row in rows]
    return rich_table(("run", *(f"MB after {mark:,}" for mark in rows[0].evaluations)), lines)


if __name__ == "__main__":
    kind, given = sys.argv[1:]
    print(json.dumps(measure(kind, MemorySettings(**json.loads(given)))))
