"""settings -> store: every part that is not there yet, kept as soon as it is finished.

Each contender has a run of its own in the store. Results are compared if the conditions agree:
seeds, budget, draws, starts.
"""

import functools
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from phenes.store import Store
from phenes_lab import driver
from phenes_lab.bench.peers.objective import Objective
from phenes_lab.bench.peers.results import FLOORS, deciding, floor_key, load
from phenes_lab.bench.peers.settings import PeersSettings, Problem
from phenes_lab.contenders import check_installed

PEERS = driver.Experiment("peers", "phenes_lab.bench.peers", "PeersSettings")


def run(
    settings: PeersSettings,
    out: Path,
    resume: bool = False,
    renew: Iterable[str] = (),
    progress: driver.Progress = driver.silent,
    processes: int | None = None,
) -> driver.Outcome:
    """As `driver.run`. renew: contenders that are run again although they have results."""
    check_installed(settings.peers)
    out.mkdir(parents=True, exist_ok=True)
    where = {part.key: (part.peer, part.problem.key) for part in settings.parts}
    with Store(PEERS.path(out)) as store:
        driver.run_each(
            PEERS, settings, store, where, settings.peers, resume, renew, progress, processes
        )
        measure(settings, store, processes)
        return driver.conclude(PEERS, store, out)


def measure(settings: PeersSettings, store: Store, processes: int | None = None) -> None:
    """How well F is known where it decides, for every problem that has new results."""
    results = load(store)
    before = [about.settings for about in store.runs() if about.experiment == FLOORS]
    floors = store.begin(FLOORS, settings.conditions, resume=before[-1:] == [results.conditions])
    there = floors.keys()
    tasks = [
        (problem, *deciding(results, problem))
        for problem in results.problems
        if floor_key(results.runs, problem) not in there
    ]
    name = lambda task: f"measuring the floor of {task[0].key}"  # noqa: E731
    compute = functools.partial(_floor, settings)
    for answer in driver.each(compute, tasks, name, processes=processes):
        floors.add(floor_key(results.runs, answer.task[0]), answer.result, answer.seconds)
    floors.finish()


def _floor(
    settings: PeersSettings, task: tuple[Problem, np.ndarray, np.ndarray, np.ndarray]
) -> dict[str, np.ndarray]:
    """Standard errors of F(point) - F(reference), with the target that each point decides on."""
    driver.double_precision()
    problem, reference, points, which = task
    difference, se = np.zeros(0), np.zeros(0)
    if len(points):
        difference, se = Objective(problem, settings).compared(points, reference)
    return {"target": which, "difference": difference, "se": se}
