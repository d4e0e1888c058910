"""What is run: problems, contenders, seeds, and how designs are judged."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phenes.problems.engineering import ENGINEERING
from phenes.problems.engineering.problem import DRAWS
from phenes_lab.bench.engineering.contenders import CONTENDERS, DEFAULT
from phenes_lab.settings import Checked

LEAST = 300  # builds: with fewer no contender has made progress
TWICE = "filter"  # pass or fail says little of a single run: twice as many of them


class Part(NamedTuple):
    """One run of a contender on a problem."""

    problem: str
    contender: str
    seed: int

    @property
    def key(self) -> str:
        return f"{self.problem}/{self.contender}/{self.seed:02d}"


@dataclass(frozen=True)
class EngineeringSettings(Checked):
    """seeds: runs of each, twice as many of the filter. scale: of the builds of each problem, the
    same for all.

    draws: fresh builds by which the last design is judged. checkpoints: designs on the way, judged
    by `sketch` draws.
    """

    problems: tuple[str, ...] = ("filter", "coating", "regulator", "launch", "coating-shared")
    contenders: tuple[str, ...] = ()
    seeds: int = 10
    scale: float = 1.0
    draws: int = DRAWS
    checkpoints: int = 6
    sketch: int = 1000
    seed: int = 0

    def __post_init__(self):
        self.default("contenders", DEFAULT)
        self.tuples()
        self.counts("seeds", "checkpoints")
        self.counts("draws", "sketch", least=2)
        self.positive("scale")
        self.among("problems", ENGINEERING)
        self.among("contenders", CONTENDERS)

    @classmethod
    def quick(cls) -> "EngineeringSettings":
        """Under two minutes: each contender once, the filter twice, a twentieth of the builds."""
        return cls(seeds=1, scale=0.05, draws=2000, checkpoints=3, sketch=200)

    def builds(self, problem: str) -> int:
        return max(LEAST, round(self.scale * ENGINEERING[problem].budget))

    def runs(self, problem: str, contender: str) -> int:
        if CONTENDERS[contender].fixed:
            return 1
        return self.seeds * (2 if problem == TWICE else 1)

    def grid(self, problem: str) -> np.ndarray:
        """Numbers of builds at which the recommended design is recorded; the last is all of
        them.
        """
        last = self.builds(problem)
        on_the_way = np.geomspace(max(20, last / 100), last, self.checkpoints)
        return np.unique(np.append(np.round(on_the_way), last).astype(int))

    @property
    def parts(self) -> tuple[Part, ...]:
        """Problem by problem, seed by seed: a stopped run has results of every contender."""
        pairs = [
            (p, c)
            for p in self.problems
            for c in self.contenders
            if CONTENDERS[c].takes_part(ENGINEERING[p])
        ]
        most = max((self.runs(p, c) for p, c in pairs), default=0)
        every = [
            Part(p, c, seed) for seed in range(most) for p, c in pairs if seed < self.runs(p, c)
        ]
        return tuple(sorted(every, key=lambda part: self.problems.index(part.problem)))
