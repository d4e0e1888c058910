"""What is run: problems, contenders, budgets and seeds."""

from dataclasses import dataclass
from typing import NamedTuple

from phenes_lab.bench.risk.contenders import CONTENDERS, Entrant, installed
from phenes_lab.bench.risk.problems import PROBLEMS
from phenes_lab.settings import Checked


class Part(NamedTuple):
    """A run: of a contender that has a budget, or to the end of all looks."""

    problem: str
    contender: str
    budget: int
    seed: int

    @property
    def key(self) -> str:
        return f"{self.problem}/{self.contender}/{self.budget}/{self.seed:02d}"


@dataclass(frozen=True)
class RiskSettings(Checked):
    """budgets: of phenes. slow: evaluations of slow models. most: of inner Monte Carlo.

    slow_problems: of `problems`, those that slow models are run on; all if there are none.
    """

    problems: tuple[str, ...] = tuple(PROBLEMS)
    contenders: tuple[str, ...] = ()
    budgets: tuple[int, ...] = (35, 100)
    slow: int = 35
    slow_problems: tuple[str, ...] = ()
    most: int = 16_384
    seeds: int = 5
    seed: int = 0

    def __post_init__(self):
        self.tuples()
        self.among("problems", PROBLEMS)
        self.counts("seeds", "slow", "most")
        if not self.contenders:
            object.__setattr__(self, "contenders", installed())
        self.among("contenders", CONTENDERS)
        if self.slow_problems:
            self.among("slow_problems", self.problems)
        self.filled("budgets")

    @classmethod
    def quick(cls) -> "RiskSettings":
        """About a minute; with BoTorch as far as it is installed, two."""
        return cls(problems=("ledge",), budgets=(40,), slow=25, most=2048, seeds=2)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Slow models last, else seed by seed: what is stopped half way has something of each."""
        found = [
            Part(problem, name, budget, seed)
            for seed in range(self.seeds)
            for problem in self.problems
            for name in self.contenders
            if self._takes_part(CONTENDERS[name], problem)
            for budget in self._budgets(CONTENDERS[name])
        ]
        return tuple(sorted(found, key=lambda part: CONTENDERS[part.contender].slow))

    def _takes_part(self, entrant: Entrant, problem: str) -> bool:
        left_out = entrant.slow and self.slow_problems and problem not in self.slow_problems
        return not left_out and entrant.has(PROBLEMS[problem])

    def _budgets(self, entrant: Entrant) -> tuple[int, ...]:
        if entrant.inner:
            return (self.most,)
        return (self.slow,) if entrant.slow else self.budgets
