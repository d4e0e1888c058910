"""What is run: the problems asked for, and the conditions that are the same for every contender."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from phenes_lab.contenders import CONTENDERS
from phenes_lab.settings import Checked

TUNING = (1, 2, 3)  # instances that settings were chosen on; all others are held out
# without noise only these: what is compared there is plain convergence, not the luck of finding a
# basin
UNIMODAL = (1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
GRID = ("dims", "sigmas", "functions", "instances", "peers")


class Problem(NamedTuple):
    """A BBOB function under input noise."""

    dim: int
    sigma: float
    function: int
    instance: int

    @property
    def key(self) -> str:
        return f"d{self.dim}/s{self.sigma:g}/f{self.function:02d}/i{self.instance}"

    @classmethod
    def from_key(cls, key: str) -> "Problem":
        d, s, f, i = (part[1:] for part in key.split("/"))
        return cls(int(d), float(s), int(f), int(i))


class Part(NamedTuple):
    """One contender on one problem, all seeds."""

    problem: Problem
    peer: str

    @property
    def key(self) -> str:
        return f"{self.problem.key}/{self.peer}"


@dataclass(frozen=True)
class PeersSettings(Checked):
    """The grid (dims, sigmas, functions, instances, peers) says what to run now; the rest are
    conditions of every run.

    budget: evaluations for each dimension. checkpoints: how often the recommended point is judged,
    evenly in log evaluations.
    draws: common random numbers behind F, in antithetic pairs. The start is uniform in [-start,
    start]^d, by seed, the same for all; so is the first step size sigma0.
    """

    dims: tuple[int, ...] = (10,)
    sigmas: tuple[float, ...] = (0.01, 0.1, 0.5)
    functions: tuple[int, ...] = tuple(range(1, 25))
    instances: tuple[int, ...] = (4,)
    peers: tuple[str, ...] = ()
    seeds: int = 5
    budget: int = 2500
    checkpoints: int = 48
    draws: int = 4096
    start: float = 4.0
    sigma0: float = 2.0
    seed: int = 0

    def __post_init__(self):
        self.default("peers", tuple(CONTENDERS))
        self.tuples()
        self.counts("seeds", "budget", "checkpoints")
        self.counts("draws", least=2)
        self.positive("start", "sigma0")
        self._check("dims", lambda d: isinstance(d, int) and d >= 2, "integers of at least 2")
        self._check("sigmas", lambda s: 0 <= s < np.inf, "non-negative numbers")
        self._check("functions", lambda f: f in range(1, 25), "numbers from 1 to 24")
        self._check("instances", lambda i: isinstance(i, int) and i >= 1, "integers of at least 1")
        known = f"names among {', '.join(CONTENDERS)}"
        self._check("peers", lambda name: name in CONTENDERS, known)

    def _check(self, name: str, right: Callable[[Any], bool], expected: str) -> None:
        values = getattr(self, name)
        if not values or not all(map(right, values)):
            got = ", ".join(map(str, values)) or "none"
            raise ValueError(f"{name} must be {expected}, got {got}")

    @classmethod
    def quick(cls) -> "PeersSettings":
        """Under three minutes on two cores: every contender, four functions, one noise, two
        seeds.
        """
        return cls(sigmas=(0.1,), functions=(1, 8, 13, 21), seeds=2, budget=600, checkpoints=32)

    @property
    def conditions(self) -> dict[str, Any]:
        """What a result depends on beside its problem and contender: runs are compared only if
        these agree.
        """
        return {name: value for name, value in vars(self).items() if name not in GRID}

    def checkpoint_grid(self, dim: int) -> np.ndarray:
        """Evaluations at which the recommended point is recorded; the last is the whole budget."""
        first, last = 4 * dim, self.budget * dim
        return np.unique(
            np.round(np.geomspace(min(first, last), last, self.checkpoints)).astype(int)
        )

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Those that share compiled programs follow each other."""
        grid = itertools.product(self.dims, self.functions, self.instances, self.sigmas)
        return tuple(Problem(d, s, f, i) for d, f, i, s in grid if s > 0 or f in UNIMODAL)

    @property
    def parts(self) -> tuple[Part, ...]:
        return tuple(
            Part(p, name)
            for p in self.problems
            for name in self.peers
            if p.sigma > 0 or CONTENDERS[name].noiseless
        )


def held_out(instance: int) -> bool:
    return instance not in TUNING
