"""store -> answers by problem, contender, budget and seed."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from phenes.store import Store
from phenes_lab.bench.few.contenders import CONTENDERS
from phenes_lab.bench.few.problems import PROBLEMS
from phenes_lab.bench.few.searches import start
from phenes_lab.driver import last_of_each, part_keys

NAME = "few"
ROUNDING = 1e-7  # of a random theta's regret, by which an answer may be better than the optimum


class Row(NamedTuple):
    """An answer: its regret; what the contender says of it, and E f there with its error; CPU
    milliseconds of an ask, median, mean and worst. commit: of the code that made it. stayed: it is
    x0.
    """

    regret: float
    fun: float = np.nan
    fun_se: float = np.nan
    success: float = np.nan
    truth: float = np.nan
    truth_se: float = np.nan
    milliseconds: float = np.nan
    average: float = np.nan
    worst: float = np.nan
    commit: int = -1
    stayed: bool = False


Seeds = dict[int, Row]


@dataclass(frozen=True)
class FewResults:
    """rows[problem][contender][budget][seed]. missed: problems on which an answer is better than
    the optimum, and by how much.
    """

    version: str
    seed: int
    rows: dict[str, dict[str, dict[int, Seeds]]]
    missed: dict[str, float] = field(default_factory=dict)

    @property
    def problems(self) -> list[str]:
        return [name for name in PROBLEMS if name in self.rows]

    @property
    def contenders(self) -> list[str]:
        return [name for name in CONTENDERS if any(name in each for each in self.rows.values())]

    @property
    def budgets(self) -> list[int]:
        every = (each for names in self.rows.values() for each in names.values())
        return sorted({budget for each in every for budget in each})

    def at(self, problem: str, contender: str, budget: int) -> Seeds:
        """Empty if it did not run."""
        return self.rows.get(problem, {}).get(contender, {}).get(budget, {})

    def regrets(self, problem: str, contender: str, budget: int) -> np.ndarray:
        return np.array([row.regret for row in self.at(problem, contender, budget).values()])

    def of(self, contender: str) -> list[Row]:
        return [
            row
            for names in self.rows.values()
            for seeds in names.get(contender, {}).values()
            for row in seeds.values()
        ]


def load(store: Store) -> FewResults:
    """The last run of each contender, under the newest conditions in the store."""
    newest, runs = last_of_each(store, NAME, CONTENDERS)
    first = int(newest.settings["seed"])
    rows: dict[str, dict[str, dict[int, Seeds]]] = {}
    missed: dict[str, float] = {}
    for name, run in runs.items():
        # of two runs looked at on the way the longer one stands
        for key in sorted(part_keys(run), key=lambda key: int(key.split("/")[2])):
            problem, seed, _ = key.split("/")
            if problem in PROBLEMS:
                part, optimum = run[key], PROBLEMS[problem].optimum
                for budget, row in _rows(problem, part, first + int(seed)).items():
                    own = rows.setdefault(problem, {}).setdefault(name, {})
                    own.setdefault(budget, {})[int(seed)] = row
                by = optimum["value"] - float(np.min(part["expected"]))
                if by > ROUNDING * (optimum["median"] - optimum["value"]):
                    missed[problem] = max(by, missed.get(problem, 0.0))
    return FewResults(newest.version, first, rows, missed)


def _rows(problem: str, part: dict[str, np.ndarray], seed: int) -> dict[int, Row]:
    best, x0 = PROBLEMS[problem].optimum["value"], start(PROBLEMS[problem], seed)
    names = [name for name in Row._fields if name not in ("regret", "commit", "stayed")]
    return {
        int(look): Row(
            max(float(part["expected"][k]) - best, 0.0),
            *(float(part[name][k]) for name in names),
            commit=int(part["commit"]),
            stayed=bool(np.allclose(part["points"][k], x0, rtol=1e-9, atol=0)),
        )
        for k, look in enumerate(part["looks"])
    }
