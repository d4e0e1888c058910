"""settings -> store: every part that is not there yet, kept as soon as it is finished.

Each contender has a run of its own in the store, so that one of them can be run again (`renew`) and
the others stay as they are. Results are compared if the conditions agree: seeds, budget, draws,
starts. What the grid asks for grows with every call that resumes.
"""

import functools
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from phenes.store import Store
from phenes_lab import driver
from phenes_lab.bench.peers.objective import Objective
from phenes_lab.bench.peers.results import EXPERIMENT, FLOORS, deciding, floor_key, load
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
    renew = set(renew)
    if not renew <= set(settings.peers):
        raise ValueError(
            f"renew must be among the peers {', '.join(settings.peers)}, got"
            f" {', '.join(sorted(renew))}"
        )
    check_installed(settings.peers)
    out.mkdir(parents=True, exist_ok=True)
    path = PEERS.path(out)
    with Store(path) as store:
        runs = {
            name: store.begin(EXPERIMENT + name, settings.conditions, resume and name not in renew)
            for name in settings.peers
        }
        driver.say_other_commits(runs)
        signed = progress
        for record in runs.values():
            signed = driver.Signature(record, "peers", processes).after(signed)
        tasks = {part.key: part for part in settings.parts}
        slots = {p.key: driver.Slot(runs[p.peer], p.problem.key) for p in settings.parts}
        failed = driver.fill(PEERS, settings, tasks, slots, signed, processes)
        for name, record in runs.items():
            record.finish("failed" if any(key.endswith(f"/{name}") for key in failed) else "done")
        driver.refuse(failed, path)
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
