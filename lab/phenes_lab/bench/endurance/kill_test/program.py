"""The run that is killed: this module with CHECKPOINT LOG WORKERS SEED BUDGET."""

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import phenes

SECONDS = 0.01  # of an evaluation


class Logged:
    """Sum of squares. A line with the process, its birth and the point when an evaluation starts:
    appends of a line are atomic.
    """

    def __init__(self, log: str | None):
        self.log = log

    def __call__(self, x: np.ndarray) -> float:
        if self.log is not None:
            with open(self.log, "a") as file:
                file.write(f"{os.getpid()} {born(os.getpid())} {name(x)}\n")
            time.sleep(SECONDS)
        return float(np.sum(x**2))


def born(pid: int) -> str:
    """Start time in ticks since boot (Linux): (pid, start time) identifies a process even if the
    pid is reused.
    """
    if not Path("/proc/self/stat").exists():
        return "-"
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def name(x: np.ndarray) -> str:
    return np.asarray(x, np.float64).tobytes().hex()


def solve(
    seed: int,
    budget: int,
    log: str | None = None,
    workers: Any = None,
    checkpoint: Path | None = None,
) -> phenes.Result:
    """max_attempts: here it is not the points that kill the workers."""
    options = {
        "budget": budget,
        "seed": seed,
        "popsize": 12,
        "workers": workers,
        "checkpoint": checkpoint,
        "max_attempts": 1000,
    }
    return phenes.minimize(Logged(log), np.full(4, 1.5), 0.5, 0.1, **options)


if __name__ == "__main__":
    path, log, workers, seed, budget = sys.argv[1:]
    solve(int(seed), int(budget), log, int(workers) if workers.isdigit() else workers, Path(path))
