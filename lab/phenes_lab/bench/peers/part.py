"""One part: a contender on a problem, all seeds. Nothing here knows of files or processes."""

import contextlib
import functools
import inspect
import time
import warnings
import zlib
from typing import Any

import numpy as np

from phenes_lab.bench.peers.contenders import PEERS, Peer
from phenes_lab.bench.peers.libraries import Start
from phenes_lab.bench.peers.objective import Objective
from phenes_lab.bench.peers.restarts import Restarts
from phenes_lab.bench.peers.settings import Part, Problem, Settings
from phenes_lab.bench.peers.world import Exhausted, Record, World


def compute(settings: Settings, part: Part) -> dict[str, np.ndarray]:
    """Arrays [seeds, checkpoints]: evaluations, points [.., d] recommended then, F there. F_start
    [seeds], F_nominal at the optimum of f.

    overhead: seconds of an evaluation beside f itself, restarts, broken: how often, [seeds].
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


def start(settings: Settings, problem: Problem, seed: int) -> np.ndarray:
    """The same for all contenders, noises and functions."""
    return np.random.default_rng([settings.seed, 2, seed]).uniform(
        -settings.start, settings.start, problem.dim
    )


def _warm(settings: Settings, part: Part, objective: Objective, x0: np.ndarray) -> None:
    """Two generations before the clock runs: libraries are imported and programs compiled in
    them.
    """
    world = World(
        objective, part.problem.sigma, settings.budget * part.problem.dim, np.random.default_rng(0)
    )
    search = _maker(PEERS[part.peer], world.budget)(
        Start(x0, settings.sigma0, part.problem.sigma, 0)
    )
    with contextlib.suppress(Exhausted):
        search.step(world)
        search.step(world)


def _run(
    settings: Settings, part: Part, objective: Objective, seed: int, x0: np.ndarray
) -> dict[str, Any]:
    budget = settings.budget * part.problem.dim
    noise, again = (
        np.random.default_rng([settings.seed, 3, seed, zlib.crc32(part.key.encode()), k])
        for k in range(2)
    )
    world = World(objective, part.problem.sigma, budget, noise)
    record = Record(settings.checkpoint_grid(part.problem.dim), x0)
    started = time.perf_counter()
    first = Start(x0, settings.sigma0, part.problem.sigma, seed)
    search = Restarts(
        _maker(PEERS[part.peer], budget),
        first,
        lambda: again.uniform(-settings.start, settings.start, part.problem.dim),
    )
    try:
        while True:
            search.step(world)
            record.see(world.count, lambda: search.recommended(world))
    except Exhausted:
        record.close(world.count, search.recommended(world))
    overhead = (time.perf_counter() - started - world.seconds) / max(world.count, 1)
    return {
        "evaluations": record.evaluations,
        "points": record.points,
        "overhead": overhead,
        "restarts": search.restarts,
        "broken": search.broken,
    }


def _maker(peer: Peer, budget: int) -> Any:
    """phenes is told its budget, as its users do; the others have no use for one."""
    takes = inspect.signature(peer.search).parameters
    return functools.partial(peer.search, budget=budget) if "budget" in takes else peer.search
