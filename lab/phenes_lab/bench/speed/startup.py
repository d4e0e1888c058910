"""Waiting times of users: the first call of `phenes.minimize` in a new process, and ask and tell
beside pycma and cmaes.

The start is measured in fresh interpreters, import and call apart. Ask and tell are timed in rounds
that visit each library in turn, on the same objectives with the same noise; what counts are ratios
within a round.
"""

import contextlib
import functools
import importlib.util
import itertools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from phenes_lab.driver import Progress, silent
from phenes_lab.report import quartiles, rich_table
from phenes_lab.rivals import Cmaes, Phenes, Pycma, Search, Start
from phenes_lab.settings import Checked
from phenes_lab.simulator import Exhausted, World, gaussian

OURS = "phenes"
# the first script of the documentation; names are loaded when they are first used, so they are used
# before the call is timed
COLD = """
import json, sys, time
clock = [time.perf_counter()]
import numpy as np, phenes
minimize, noise = phenes.minimize, phenes.inputs.GaussianNoise(0.1)
clock.append(time.perf_counter())
for _ in range(2):
    x0 = np.full(int(sys.argv[1]), 2.0)
    result = minimize(lambda x: np.sum(x**2), x0, 0.5, noise, budget=int(sys.argv[2]), seed=0)
    clock.append(time.perf_counter())
print(json.dumps([*np.diff(clock), result.nfev]))
"""


@dataclass(frozen=True)
class StartupSettings(Checked):
    """repeats: fresh processes. budget: of the first call. rounds, evaluations: of ask and tell, at
    `wide` dimensions and popsize.
    """

    dim: int = 10
    budget: int = 20_000
    repeats: int = 5
    wide: int = 40
    popsize: int = 100
    evaluations: int = 20_000
    rounds: int = 5
    seed: int = 0

    def __post_init__(self):
        self.counts("dim", "budget", "repeats", "wide", "popsize", "rounds")
        if self.evaluations < 2 * self.popsize:
            raise ValueError(
                f"evaluations must be at least two populations, {2 * self.popsize}, got"
                f" {self.evaluations}"
            )

    @classmethod
    def quick(cls) -> "StartupSettings":
        return cls(repeats=2, evaluations=6000, rounds=3)


@dataclass(frozen=True)
class StartupRow:
    """Seconds, the median; for ask and tell of one evaluation. ratio: to phenes in the same
    rounds.
    """

    section: str
    name: str
    seconds: float
    low: float
    high: float
    ratio: float | None = None


def run(settings: StartupSettings, progress: Progress = silent) -> list[StartupRow]:
    total = settings.repeats + 2 * settings.rounds
    cold = []
    for k in range(settings.repeats):
        cold.append(_cold(settings))
        progress(k + 1, total)
    rows = [_row("start", name, [each[name] for each in cold]) for name in cold[0]]
    for k, (name, f) in enumerate({"sphere": _sphere, "Rosenbrock": _rosenbrock}.items()):
        done = settings.repeats + k * settings.rounds
        rows += _overheads(settings, name, f, lambda r, done=done: progress(done + r, total))
    return rows


def _cold(settings: StartupSettings) -> dict[str, float]:
    started = time.perf_counter()
    process = [sys.executable, "-c", COLD, str(settings.dim), str(settings.budget)]
    done = subprocess.run(process, capture_output=True, text=True, check=False)
    whole = time.perf_counter() - started
    if done.returncode:
        raise RuntimeError(
            f"the first call of minimize failed: {done.stderr.strip().splitlines()[-1]}"
        )
    imported, first, second, used = json.loads(done.stdout.splitlines()[-1])
    call = f"call of minimize, d = {settings.dim}, {used} evaluations"
    return {
        "import phenes, its names and what they need": imported,
        f"first {call}": first,
        f"import and first {call}": imported + first,
        f"second {call}": second,
        "the whole process, both calls": whole,
    }


def _overheads(
    settings: StartupSettings,
    name: str,
    f: Callable[[np.ndarray], np.ndarray],
    step: Callable[[int], None],
) -> list[StartupRow]:
    libraries = _libraries(settings)
    seconds: dict[str, list[float]] = {library: [] for library in libraries}
    for r in range(settings.rounds):
        for library, make in libraries.items():
            seconds[library].append(_overhead(settings, make, f, settings.seed + r))
        step(r + 1)
    section = f"ask and tell, d = {settings.wide}, N = {settings.popsize}, {name}: each evaluation"
    return [_row(section, library, each, seconds[OURS]) for library, each in seconds.items()]


def _libraries(settings: StartupSettings) -> dict[str, Callable[[Start], Search]]:
    make, n = functools.partial, settings.popsize
    there = {
        name: make(search, popsize=n)
        for name, module, search in (("pycma", "cma", Pycma), ("cmaes", "cmaes", Cmaes))
        if importlib.util.find_spec(module)
    }
    return {OURS: make(Phenes, budget=settings.evaluations, popsize=n), **there}


def _overhead(
    settings: StartupSettings,
    make: Callable[[Start], Search],
    f: Callable[[np.ndarray], np.ndarray],
    seed: int,
) -> float:
    """One run; its first generation, which imports and allocates, is not counted."""
    world = World(gaussian(f, 0.1, np.random.default_rng(seed)), settings.evaluations)
    search = make(Start(np.full(settings.wide, 2.0), 0.5, 0.1, seed))
    search.step(world)
    started, before, count = time.perf_counter(), world.seconds, world.count
    with contextlib.suppress(Exhausted):
        while not search.stopped():
            search.step(world)
    return (time.perf_counter() - started - (world.seconds - before)) / (world.count - count)


def _sphere(x: np.ndarray) -> np.ndarray:
    return np.sum(x**2, axis=1)


def _rosenbrock(x: np.ndarray) -> np.ndarray:
    return np.sum(100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1 - x[:, :-1]) ** 2, axis=1)


def _row(
    section: str, name: str, seconds: list[float], reference: list[float] | None = None
) -> StartupRow:
    low, middle, high = quartiles(seconds)
    if reference is None:
        return StartupRow(section, name, middle, low, high)
    ratios = [own / other for own, other in zip(seconds, reference, strict=True)]
    return StartupRow(section, name, middle, low, high, statistics.median(ratios))


def table(rows: list[StartupRow]) -> Any:
    """For people, as a `rich` table."""
    lines: list[list[str] | None] = []
    for section, of in itertools.groupby(rows, lambda row: row.section):
        lines += [None, [f"[bold]{section}"]]
        for row in of:
            time_ = f"{_duration(row.seconds)} ({_duration(row.low)} to {_duration(row.high)})"
            ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
            lines.append([f"  {row.name}", time_, ratio])
    title, caption = "What a user waits for: medians (quartiles)", f"ratio: to {OURS}"
    return rich_table(("what", "time", "over phenes"), lines, title, caption=caption)


def _duration(seconds: float) -> str:
    return f"{seconds * 1e6:.3g} µs" if seconds < 1e-3 else f"{seconds:.3g} s"
