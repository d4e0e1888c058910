"""One part: a contender on a problem, all seeds. Nothing here knows of files or processes."""

import contextlib
import functools
import inspect
import time
import warnings
import zlib
from typing import Any

import numpy as np

from phenes_lab.bench.peers.objective import Objective
from phenes_lab.bench.peers.settings import Part, PeersSettings, Problem
from phenes_lab.contenders import CONTENDERS, OURS
from phenes_lab.restarts import Restarts
from phenes_lab.rivals import Start
from phenes_lab.simulator import Exhausted, Record, World, follow, gaussian

LONGEST = 200  # characters of an error that are kept


def cost(settings: PeersSettings, part: Part) -> float:
    """Roughly, with something for the start and for F."""
    each = 10 + CONTENDERS[part.peer].microseconds
    return each * part.problem.dim * (1 + part.problem.dim / 40) / 10


def compute(settings: PeersSettings, part: Part) -> dict[str, np.ndarray]:
    """Arrays [seeds, checkpoints]: evaluations, points [.., d] recommended then, F there. F_start
    [seeds], F_nominal at the optimum of f.

    overhead: seconds of an evaluation beside f itself, restarts, broken: how often, [seeds]. error:
    what ended a run of phenes, "" if nothing did; its last answer then stands to the end.
    """
    objective = Objective(part.problem, settings)
    starts = np.array([start(settings, part.problem, seed) for seed in range(settings.seeds)])
    with warnings.catch_warnings():
        # of the libraries, about overflow, injected points and the like: trouble is in the results
        warnings.simplefilter("ignore")
        _warm(settings, part, objective, starts[0])
        runs = [_run(settings, part, objective, seed, x0) for seed, x0 in enumerate(starts)]
    record = {name: np.stack([run[name] for run in runs]) for name in runs[0]}
    points = record["points"]
    flat = np.concatenate([points.reshape(-1, part.problem.dim), starts, objective.optimum[None]])
    F = objective.smoothed(np.nan_to_num(flat, nan=1e100, posinf=1e100, neginf=-1e100))
    n = points.shape[0] * points.shape[1]
    return {**record, "F": F[:n].reshape(points.shape[:2]), "F_start": F[n:-1], "F_nominal": F[-1]}


def start(settings: PeersSettings, problem: Problem, seed: int) -> np.ndarray:
    """The same for all contenders, noises and functions."""
    return np.random.default_rng([settings.seed, 2, seed]).uniform(
        -settings.start, settings.start, problem.dim
    )


def _warm(settings: PeersSettings, part: Part, objective: Objective, x0: np.ndarray) -> None:
    """Two generations before the clock runs: libraries are imported and programs compiled in
    them.
    """
    budget = settings.budget * part.problem.dim
    sample = gaussian(objective, part.problem.sigma, np.random.default_rng(0))
    world = World(sample, budget)
    search = _maker(part.peer, budget)(Start(x0, settings.sigma0, part.problem.sigma, 0))
    with contextlib.suppress(Exhausted):
        search.step(world)
        search.step(world)


def _run(
    settings: PeersSettings, part: Part, objective: Objective, seed: int, x0: np.ndarray
) -> dict[str, Any]:
    problem, budget = part.problem, settings.budget * part.problem.dim
    noise, again = (
        np.random.default_rng([settings.seed, 3, seed, zlib.crc32(part.key.encode()), k])
        for k in range(2)
    )
    world = World(gaussian(objective, problem.sigma, noise), budget)
    record = Record(settings.checkpoint_grid(problem.dim), x0)
    started = time.perf_counter()
    search = Restarts(
        _maker(part.peer, budget),
        Start(x0, settings.sigma0, problem.sigma, seed),
        lambda: again.uniform(-settings.start, settings.start, problem.dim),
        forgiving=CONTENDERS[part.peer].module != OURS,
    )
    error = ""
    try:
        follow(search, world, record)
    except Exception as raised:  # of any kind: Restarts lets those of phenes through alone
        if CONTENDERS[part.peer].module != OURS:
            raise
        error = f"{type(raised).__name__}: {raised}"[:LONGEST]
        record.close(world.count, search.recommended(world))
    overhead = (time.perf_counter() - started - world.seconds) / max(world.count, 1)
    return {
        "evaluations": record.evaluations,
        "points": record.points,
        "overhead": overhead,
        "restarts": search.restarts,
        "broken": search.broken,
        "error": np.array(error, f"U{LONGEST}"),
    }


def _maker(peer: str, budget: int) -> Any:
    """phenes gets its budget, as its users give it; the others have no such argument."""
    search = CONTENDERS[peer].search
    takes = inspect.signature(search).parameters
    return functools.partial(search, budget=budget) if "budget" in takes else search
