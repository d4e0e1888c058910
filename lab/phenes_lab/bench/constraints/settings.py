"""What is run: problems, probabilities, contenders, budgets and seeds."""

from dataclasses import dataclass
from typing import NamedTuple

from phenes_lab.bench.constraints.contenders import CONTENDERS, OURS, installed, takes_part
from phenes_lab.bench.constraints.problems import PROBLEMS
from phenes_lab.contenders import check_installed
from phenes_lab.settings import Checked


class Part(NamedTuple):
    """A run of a contender."""

    problem: str
    p: float
    contender: str
    budget: int
    seed: int

    @property
    def key(self) -> str:
        return f"{self.problem}/{self.p:g}/{self.contender}/{self.budget}/{self.seed:02d}"


@dataclass(frozen=True)
class ConstraintsSettings(Checked):
    """probabilities: that all limits must hold with. budgets: evaluations; phenes has those of
    them that the problem names (200 takes it 18 s), rivals those in which a search fits.
    contenders: all that are installed. seed: the first; 0 to 3 were used to make the search.
    """

    problems: tuple[str, ...] = tuple(PROBLEMS)
    probabilities: tuple[float, ...] = (0.9, 0.99)
    contenders: tuple[str, ...] = ()
    budgets: tuple[int, ...] = (60, 2000, 20_000)
    seeds: int = 5
    seed: int = 10

    def __post_init__(self):
        self.tuples()
        self.among("problems", PROBLEMS)
        self.counts("seeds")
        self.default("contenders", installed())
        self.among("contenders", CONTENDERS)
        check_installed(self.contenders, CONTENDERS)
        self.filled("budgets", "probabilities")
        if not all(0 < p < 1 for p in self.probabilities):
            got = ", ".join(map(str, self.probabilities))
            raise ValueError(f"probabilities must be between 0 and 1, got {got}")

    @classmethod
    def quick(cls) -> "ConstraintsSettings":
        """Under a minute."""
        return cls(("corner",), (0.9,), budgets=(60, 200), seeds=1)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Large budgets of phenes last, seed by seed: what is stopped half way has the others."""
        every = [
            Part(problem, p, contender, budget, self.seed + seed)
            for seed in range(self.seeds)
            for problem in self.problems
            for p in self.probabilities
            for budget in self.budgets
            for contender in self.contenders
            if takes_part(contender, PROBLEMS[problem], budget)
        ]
        return tuple(sorted(every, key=lambda part: part.budget if part.contender == OURS else 0))
