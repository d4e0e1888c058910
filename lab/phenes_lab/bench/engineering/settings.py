"""What is run: problems, contenders, seeds, and how designs are judged."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phenes import _validate
from phenes.problems.engineering import ENGINEERING, EngineeringProblem
from phenes.problems.engineering.problem import DRAWS
from phenes.store import Stored

LEAST = 300  # builds, below which nobody has begun
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
class Settings(Stored):
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
        from phenes_lab.bench.engineering.contenders import CONTENDERS, DEFAULT

        object.__setattr__(self, "contenders", tuple(self.contenders) or DEFAULT)
        object.__setattr__(self, "problems", tuple(self.problems))
        for name in ("seeds", "checkpoints"):
            _validate.count(name, getattr(self, name))
        for name in ("draws", "sketch"):
            _validate.count(name, getattr(self, name), 2)
        _validate.positive("scale", self.scale)
        _check("problems", self.problems, tuple(ENGINEERING))
        _check("contenders", self.contenders, tuple(CONTENDERS))

    @classmethod
    def quick(cls) -> "Settings":
        """Under two minutes: everybody once, the filter twice, with a twentieth of the builds."""
        return cls(seeds=1, scale=0.05, draws=2000, checkpoints=3, sketch=200)

    def builds(self, problem: str) -> int:
        return max(LEAST, round(self.scale * ENGINEERING[problem].budget))

    def runs(self, problem: str, contender: str) -> int:
        from phenes_lab.bench.engineering.contenders import CONTENDERS

        return 1 if CONTENDERS[contender].fixed else self.seeds * (2 if problem == TWICE else 1)

    def grid(self, problem: str) -> np.ndarray:
        """Numbers of builds at which the recommended design is recorded; the last is all of
        them.
        """
        last = self.builds(problem)
        on_the_way = np.geomspace(max(20, last / 100), last, self.checkpoints)
        return np.unique(np.append(np.round(on_the_way), last).astype(int))

    @property
    def parts(self) -> tuple[Part, ...]:
        """Problem by problem, seed by seed: what is stopped half way has something of everybody."""
        from phenes_lab.bench.engineering.contenders import CONTENDERS

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


def problem_of(part: Part) -> EngineeringProblem:
    return ENGINEERING[part.problem]


def _check(name: str, given: tuple[str, ...], known: tuple[str, ...]) -> None:
    if not given or not set(given) <= set(known):
        raise ValueError(
            f"{name} must be names among {', '.join(known)}, got"
            f" {', '.join(map(str, given)) or 'none'}"
        )
