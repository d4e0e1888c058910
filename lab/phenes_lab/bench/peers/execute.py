"""settings -> store: every part that is not there yet, on all cores, kept as soon as it is
finished.

Each contender has a run of its own in the store, so that one of them can be run again (`renew`) and
the others stay as they are. Results are compared if the conditions agree: seeds, budget, draws,
starts. What the grid asks for grows with every call that resumes.
"""

import functools
import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from phenes.store import Run, Store
from phenes_lab import _pinned_pool, driver
from phenes_lab.bench.peers.contenders import PEERS, check_installed
from phenes_lab.bench.peers.settings import Part, Problem, Settings

FILE = "peers.db"
EXPERIMENT = "peers/"  # and the name of the contender
FLOORS = "peers-floor"

Progress = Callable[[int, int], Any]


def run(
    settings: Settings,
    out: Path,
    resume: bool = False,
    renew: Iterable[str] = (),
    progress: Progress = lambda done, total: None,
    processes: int | None = None,
) -> Path:
    """Runs what is missing, writes the picture and the report into `out`, and returns the path of
    the store.

    renew: contenders that are run again although there are results of theirs. Parts that fail are
    named in the RuntimeError at the end, when all others are kept: `resume` then tries them again.
    """
    from phenes_lab.bench.peers.pictures import figures
    from phenes_lab.bench.peers.writing import report

    renew = set(renew)
    if not renew <= set(settings.peers):
        raise ValueError(
            f"renew must be among the peers {', '.join(settings.peers)}, got"
            f" {', '.join(sorted(renew))}"
        )
    check_installed(settings.peers)
    out.mkdir(parents=True, exist_ok=True)
    path = out / FILE
    with Store(path) as store:
        runs = {
            name: store.begin(EXPERIMENT + name, settings.conditions, resume and name not in renew)
            for name in settings.peers
        }
        driver.refuse(collect(settings, runs, progress, processes), path)
        measure(settings, store, processes)
        figures(store, out)
        report(store, out)
    return path


def collect(
    settings: Settings, runs: dict[str, Run], progress: Progress, processes: int | None = None
) -> dict[str, str]:
    """Computes the parts that the runs lack. What failed, by key, with its traceback."""
    there = {name: run.keys() for name, run in runs.items()}
    missing = {
        part.key: part for part in settings.parts if part.problem.key not in there[part.peer]
    }
    total = _ticks(settings, settings.parts)
    failed = driver.hand_out(
        functools.partial(_compute, settings),
        list(missing.items()),
        processes or _pinned_pool.count(),
        lambda key, arrays, seconds: runs[missing[key].peer].add(
            missing[key].problem.key, arrays, seconds
        ),
        lambda left: progress(total - _ticks(settings, (missing[key] for key in left)), total),
    )
    for name, run in runs.items():
        run.finish("failed" if any(key.endswith(f"/{name}") for key in failed) else "done")
    return failed


def _ticks(settings: Settings, parts: Iterable[Part]) -> int:
    """By rough cost: milliseconds of a thousand evaluations, with something for the start and for
    F.
    """
    return sum(
        round((10 + PEERS[part.peer].microseconds) * part.problem.dim * (1 + part.problem.dim / 40))
        for part in parts
    )


def measure(settings: Settings, store: Store, processes: int | None = None) -> None:
    """How well F is known where it decides, for every problem that has new results."""
    from phenes_lab.bench.peers.results import deciding, load

    results = load(store)
    before = [about.settings for about in store.runs() if about.experiment == FLOORS]
    floors = store.begin(FLOORS, settings.conditions, resume=before[-1:] == [results.conditions])
    there = floors.keys()
    tasks = [(problem, *deciding(results, problem)) for problem in results.problems]
    tasks = [task for task in tasks if floor_key(results.runs, task[0]) not in there]
    for answer in _pinned_pool.each(
        functools.partial(_floor, settings), tasks, processes or _pinned_pool.count()
    ):
        if answer.error is not None:
            raise RuntimeError(
                f"the floor of {answer.task[0].key} could not be measured:"
                f" {answer.error.strip().splitlines()[-1]}"
            )
        floors.add(floor_key(results.runs, answer.task[0]), answer.result, answer.seconds)
    floors.finish()


def floor_key(runs: dict[Problem, dict[str, int]], problem: Problem) -> str:
    """Names the results that a floor was measured on: others need another."""
    digest = hashlib.sha256(repr(sorted(runs[problem].items())).encode()).hexdigest()[:12]
    return f"{problem.key}/{digest}"


def _compute(settings: Settings, task: tuple[str, Part]) -> dict[str, np.ndarray]:
    """In a worker, whose JAX is its own: double precision is set here and nowhere else."""
    _double_precision()
    from phenes_lab.bench.peers.part import compute

    return compute(settings, task[1])


def _floor(
    settings: Settings, task: tuple[Problem, np.ndarray, np.ndarray, np.ndarray]
) -> dict[str, np.ndarray]:
    """Standard errors of F(point) - F(reference), with the target that each point decides on."""
    _double_precision()
    from phenes_lab.bench.peers.objective import Objective

    problem, reference, points, which = task
    difference, se = (
        Objective(problem, settings).compared(points, reference)
        if len(points)
        else (np.zeros(0), np.zeros(0))
    )
    return {"target": which, "difference": difference, "se": se}


def _double_precision() -> None:
    import jax

    jax.config.update("jax_enable_x64", True)
