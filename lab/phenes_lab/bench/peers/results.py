"""store -> numbers: how many evaluations each contender needed for each target, and who was faster.

The target 10^-k of a problem is the gap F - F_ref that is 10^-k of the gap at the start (median
over seeds), where F_ref is the smallest F that anybody ever recommended, or that at the optimum of
f if it is smaller. Evaluations to a target are counted to the first time that the recommended point
is below it: an oracle tells every contender when to stop.
"""

import hashlib
import math
from dataclasses import dataclass, field

import numpy as np

from phenes.store import Store
from phenes_lab.bench.peers.settings import Problem
from phenes_lab.contenders import CONTENDERS
from phenes_lab.driver import Session, last_of_each, part_keys, sessions

NAME = "peers"
FLOORS = "peers-floor"
TARGETS = tuple(10.0**-k for k in range(1, 7))
# a target is kept if it is this many standard errors of the difference to the reference
RESOLVED = 4.0
DECIDING = 4  # points of each contender, for a target, at which that standard error is measured


@dataclass(frozen=True)
class PeersResults:
    """The last runs of a store that were made under the same conditions. parts: arrays by problem
    and contender.

    runs: which run of the store a part comes from. sessions: of each contender, with the commit.
    floors: standard errors by problem; not there
    while parts are missing.
    """

    conditions: dict[str, float]
    version: str
    parts: dict[Problem, dict[str, dict[str, np.ndarray]]]
    runs: dict[Problem, dict[str, int]]
    sessions: dict[str, list[Session]] = field(default_factory=dict)
    floors: dict[Problem, dict[str, np.ndarray]] = field(default_factory=dict)
    _times: dict[tuple[Problem, str], np.ndarray] = field(default_factory=dict, repr=False)

    @property
    def problems(self) -> list[Problem]:
        return sorted(self.parts)

    def peers(self, problem: Problem) -> list[str]:
        return [name for name in CONTENDERS if name in self.parts[problem]]

    def reference(self, problem: Problem) -> float:
        parts = self.parts[problem].values()
        return min(
            float(np.nanmin(value)) for part in parts for value in (part["F"], part["F_nominal"])
        )

    def targets(self, problem: Problem) -> np.ndarray:
        """As gaps to the reference, largest first."""
        first = next(iter(self.parts[problem].values()))
        return (float(np.median(first["F_start"])) - self.reference(problem)) * np.array(TARGETS)

    def resolved(self, problem: Problem) -> np.ndarray:
        """Which targets the measurement of F can tell from the reference. Those that nobody reached
        count as such.
        """
        if problem not in self.floors:
            return np.ones(len(TARGETS), bool)
        floor, kept = self.floors[problem], []
        for k, target in enumerate(self.targets(problem)):
            se = floor["se"][floor["target"] == k]
            kept.append(se.size == 0 or target >= RESOLVED * np.median(se))
        return np.array(kept)

    def budget(self, problem: Problem) -> int:
        return int(self.conditions["budget"]) * problem.dim

    def times(self, problem: Problem, peer: str) -> np.ndarray:
        """Evaluations to each target, [targets, seeds]; infinite if it was not reached. Found once:
        every table asks for them again.
        """
        if (problem, peer) not in self._times:
            self._times[problem, peer] = self._find_times(problem, peer)
        return self._times[problem, peer]

    def _find_times(self, problem: Problem, peer: str) -> np.ndarray:
        part, reference = self.parts[problem][peer], self.reference(problem)
        gaps = np.where(np.isfinite(part["F"]), part["F"] - reference, np.inf)
        curves = list(zip(part["evaluations"], gaps, strict=True))
        return np.array([[crossing(*curve, t) for curve in curves] for t in self.targets(problem)])

    def final(self, problem: Problem, peer: str) -> float:
        """The gap at the end as a share of that at the start, median over seeds."""
        gap = float(np.median(self.parts[problem][peer]["F"][:, -1])) - self.reference(problem)
        return gap * TARGETS[0] / float(self.targets(problem)[0])


def crossing(evaluations: np.ndarray, gap: np.ndarray, target: float) -> float:
    """The first time below the target, on straight lines between checkpoints in logarithms."""
    below = np.flatnonzero(gap <= target)
    if below.size == 0:
        return math.inf
    k = int(below[0])
    # a generation that passes several checkpoints is recorded at each of them
    before = np.flatnonzero(evaluations[:k] < evaluations[k])
    if before.size == 0 or not np.isfinite(gap[before[-1]]):
        return float(evaluations[k])
    x0, x1 = np.log(evaluations[[before[-1], k]])
    # the reference itself has no gap, and no logarithm of it
    y0, y1 = np.log(np.maximum(gap[[before[-1], k]], 0.01 * target))
    return float(np.exp(x0 + (x1 - x0) * (math.log(target) - y0) / (y1 - y0)))


def load(store: Store) -> PeersResults:
    """The newest conditions in the store, and for each contender its last run under them."""
    newest, last = last_of_each(store, NAME, CONTENDERS)
    conditions = newest.settings
    parts, runs = {}, {}
    for name, run in last.items():
        for key in part_keys(run):
            problem = Problem.from_key(key)
            parts.setdefault(problem, {})[name] = run[key]
            runs.setdefault(problem, {})[name] = run.about.id
    made = {name: sessions(run) for name, run in last.items()}
    results = PeersResults(conditions, newest.version, parts, runs, made)
    measured = [
        about
        for about in store.runs()
        if about.experiment == FLOORS and about.settings == conditions
    ]
    for floors in (store[about.id] for about in measured):
        there = floors.keys()
        results.floors.update(
            {p: floors[key] for p in parts if (key := floor_key(runs, p)) in there}
        )
    return results


def floor_key(runs: dict[Problem, dict[str, int]], problem: Problem) -> str:
    """Names the results that a floor was measured on: others need another."""
    digest = hashlib.sha256(repr(sorted(runs[problem].items())).encode()).hexdigest()[:12]
    return f"{problem.key}/{digest}"


def deciding(results: PeersResults, problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The reference point; and points recommended when a target was first met, with the number of
    the target.
    """
    reference, targets = results.reference(problem), results.targets(problem)
    best, points, which = None, [], []
    for part in results.parts[problem].values():
        for F, at in zip(part["F"], part["points"], strict=True):
            if np.nanmin(F) == reference:
                best = at[np.nanargmin(F)]
        gap = np.where(np.isfinite(part["F"]), part["F"] - reference, np.inf)
        for k, target in enumerate(targets):
            hits = [
                (s, np.flatnonzero(row <= target)[0])
                for s, row in enumerate(gap)
                if np.any(row <= target)
            ]
            points += [part["points"][s, c] for s, c in hits[:DECIDING]]
            which += [k] * len(hits[:DECIDING])
    if best is None:  # nobody came below F at the optimum of f
        from phenes import problems

        best = np.asarray(problems.bbob(problem.function, problem.dim, problem.instance).x_opt)
    # the reference is known to equal itself
    other = [not np.array_equal(point, best) for point in points]
    return best, np.array(points).reshape(-1, problem.dim)[other], np.array(which, int)[other]
