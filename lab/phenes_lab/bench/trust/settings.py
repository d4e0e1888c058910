"""What is run: problems, budgets, contenders and seeds."""

from dataclasses import dataclass
from typing import NamedTuple

from phenes_lab.bench.trust.contenders import CONTENDERS
from phenes_lab.bench.trust.problem import chosen, names
from phenes_lab.settings import Checked

QUICK = (
    *("wall-near", "wall-before-optimum", "wall-ball", "beam", "reactor", "filter", "stairs"),
    *("flat", "noisy-values", "stepper", "exact-wall", "sphere"),
)


class Task(NamedTuple):
    contender: str
    problem: str
    budget: int
    seed: int


@dataclass(frozen=True)
class TrustSettings(Checked):
    """Instances 0 to seeds - 1 of each problem, which may be named by its family; draws: behind
    each truth.
    """

    problems: tuple[str, ...] = ()
    budgets: tuple[int, ...] = (30, 100, 300, 1000, 3000)
    seeds: int = 10
    draws: int = 20_000
    contenders: tuple[str, ...] = ("phenes", "pycma", "cmaes")
    seed: int = 0

    def __post_init__(self):
        self.default("problems", names())
        self.tuples()
        object.__setattr__(self, "problems", chosen(self.problems))
        self.among("problems", names())
        self.among("contenders", CONTENDERS)
        if not self.budgets or min(self.budgets) < 1:
            raise ValueError(f"budgets must be at least 1, got {self.budgets}")
        self.counts("seeds")
        self.counts("draws", least=2)
        self.counts("seed", least=0)

    @classmethod
    def quick(cls) -> "TrustSettings":
        return cls(problems=QUICK, budgets=(60, 200), seeds=2)

    @property
    def tasks(self) -> list[Task]:
        """Those of one instance together: they share its truth."""
        instances = [(problem, seed) for seed in range(self.seeds) for problem in self.problems]
        return [
            Task(c, problem, budget, seed)
            for problem, seed in instances
            for budget in self.budgets
            for c in self.contenders
        ]
