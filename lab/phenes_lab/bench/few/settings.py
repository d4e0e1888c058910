"""What is run: problems, contenders, budgets and seeds."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from phenes_lab.bench.few.contenders import CONTENDERS, installed
from phenes_lab.bench.few.problems import HELD_OUT, PROBLEMS, TUNING
from phenes_lab.settings import Checked

FAMILIES = {
    "tuning": tuple(problem.name for problem in TUNING),
    "held-out": tuple(problem.name for problem in HELD_OUT),
}
BUDGETS = (30, 60, 120, 250, 500)
LEAST = 10  # evaluations: with fewer no contender has finished its first points


class Part(NamedTuple):
    """One run of a contender. budget: of its evaluations, of those on the way if it has several."""

    problem: str
    contender: str
    seed: int
    budget: int

    @property
    def key(self) -> str:
        """Among the runs of its contender."""
        return f"{self.problem}/{self.seed:02d}/{self.budget}"


@dataclass(frozen=True)
class FewSettings(Checked):
    """problems: names, or "tuning" and "held-out". contenders: by default all that are installed.

    seeds: runs of each. All of this says what to run now, and joins what is stored; only the first
    seed is a condition of every run.
    """

    problems: tuple[str, ...] = tuple(PROBLEMS)
    contenders: tuple[str, ...] = ()
    budgets: tuple[int, ...] = BUDGETS
    seeds: int = 5
    seed: int = 0

    def __post_init__(self):
        self.default("contenders", installed())
        self.tuples()
        self.among("problems", (*PROBLEMS, *FAMILIES))
        names = [name for each in self.problems for name in FAMILIES.get(each, (each,))]
        object.__setattr__(self, "problems", tuple(dict.fromkeys(names)))
        self.among("contenders", CONTENDERS)
        self.filled("budgets")
        object.__setattr__(self, "budgets", tuple(sorted(set(self.budgets))))
        if not all(isinstance(each, int) and each >= LEAST for each in self.budgets):
            got = ", ".join(map(str, self.budgets))
            raise ValueError(f"budgets must be integers of at least {LEAST}, got {got}")
        self.counts("seeds")

    @classmethod
    def quick(cls) -> "FewSettings":
        """About a minute: four problems, up to 60 evaluations, without the slowest contenders."""
        cheap = tuple(name for name in installed() if CONTENDERS[name].milliseconds < 50)
        problems = ("branin2", "hart3", "camel2", "levy4")
        return cls(problems, cheap, budgets=(30, 60), seeds=2)

    @property
    def conditions(self) -> dict[str, Any]:
        return {"seed": self.seed}

    def looks(self, part: Part) -> tuple[int, ...]:
        """Numbers of evaluations at which the answer of a run is looked at; the last is all."""
        if not CONTENDERS[part.contender].once:
            return (part.budget,)
        return tuple(n for n in sorted({*BUDGETS, *self.budgets}) if n <= part.budget)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Seed by seed: what is stopped half way has something of every problem."""
        return tuple(
            Part(problem, name, seed, budget)
            for seed in range(self.seeds)
            for problem in self.problems
            for name in self.contenders
            for budget in (self.budgets[-1:] if CONTENDERS[name].once else self.budgets)
        )
