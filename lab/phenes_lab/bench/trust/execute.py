"""All runs, on all cores; every finished one is kept in a file, so that a benchmark that was ended
can go on.
"""

import functools
import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from phenes_lab import _pinned_pool
from phenes_lab.bench.trust.contenders import CONTENDERS, ask
from phenes_lab.bench.trust.problem import names, number
from phenes_lab.bench.trust.scores import Row, score
from phenes_lab.bench.trust.truth import judge_of

FILE = "rows.jsonl"
QUICK = (
    *(
        "wall-near",
        "wall-before-optimum",
        "wall-ball",
        "beam",
        "reactor",
        "filter",
        "stairs",
        "flat",
    ),
    *("noisy-values", "stepper", "exact-wall", "sphere"),
)


@dataclass(frozen=True)
class Settings:
    """Instances 0 to seeds - 1 of each problem; draws: behind each truth."""

    problems: tuple[str, ...] = ()
    budgets: tuple[int, ...] = (30, 100, 300, 1000, 3000)
    seeds: int = 10
    draws: int = 20_000
    contenders: tuple[str, ...] = ("phenes", "pycma", "cmaes")
    seed: int = 0

    def __post_init__(self):
        object.__setattr__(self, "problems", tuple(self.problems) or names())
        for name, known in (("problems", names()), ("contenders", tuple(CONTENDERS))):
            strange = [each for each in getattr(self, name) if each not in known]
            if strange or not getattr(self, name):
                raise ValueError(
                    f"{name} must be some of {', '.join(known)}, got {', '.join(strange) or 'none'}"
                )
        if not self.budgets or min(self.budgets) < 1:
            raise ValueError(f"budgets must be at least 1, got {self.budgets}")
        for name, least in (("seeds", 1), ("draws", 2), ("seed", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}")

    @classmethod
    def quick(cls) -> "Settings":
        return cls(problems=QUICK, budgets=(60, 200), seeds=2)

    @property
    def tasks(self) -> list["Task"]:
        """Those of one instance together: they share its truth."""
        instances = [(problem, seed) for seed in range(self.seeds) for problem in self.problems]
        return [
            Task(c, problem, budget, seed)
            for problem, seed in instances
            for budget in self.budgets
            for c in self.contenders
        ]


class Task(NamedTuple):
    contender: str
    problem: str
    budget: int
    seed: int


def compute(settings: Settings, task: Task) -> Row:
    """One run and its verdict. Contenders have random numbers of their own, the problem is the
    same.
    """
    judge = judge_of(task.problem, task.seed, settings.seed, settings.draws)
    answer = ask(
        task.contender, judge.problem, task.budget, [settings.seed, number(task.problem), task.seed]
    )
    return score(task.contender, judge, task.budget, answer)


def run(
    settings: Settings,
    progress: Callable[[int, int], None] = lambda done, total: None,
    processes: int | None = None,
    out: Path | None = None,
    resume: bool = False,
) -> list[Row]:
    """Rows in the order of the tasks. out: a folder for the file of rows; resume: what is there is
    not run again.
    """
    tasks = settings.tasks
    rows = {task: row for task, row in _kept(settings, out, resume).items() if task in set(tasks)}
    left = [task for task in tasks if task not in rows]
    progress(len(rows), len(tasks))
    for answer in _pinned_pool.each(
        functools.partial(compute, settings), left, processes or _pinned_pool.count()
    ):
        if answer.error is not None:
            raise RuntimeError(
                f"{' '.join(map(str, answer.task))} failed: {answer.error.strip().splitlines()[-1]}"
            )
        rows[answer.task] = answer.result
        if out is not None:
            with (out / FILE).open("a") as file:
                file.write(json.dumps(plain(answer.result)) + "\n")
        progress(len(rows), len(tasks))
    return [rows[task] for task in tasks]


def _kept(settings: Settings, out: Path | None, resume: bool) -> dict[Task, Row]:
    """Rows on file. A first line says what they depend on; other settings make other rows."""
    if out is None:
        return {}
    path, head = out / FILE, {"seed": settings.seed, "draws": settings.draws}
    out.mkdir(parents=True, exist_ok=True)
    if not (resume and path.exists()):
        path.write_text(json.dumps(head) + "\n")
        return {}
    first, *lines = path.read_text().splitlines()
    if json.loads(first) != head:
        raise ValueError(
            f"{path} was made with {first}, not with {json.dumps(head)}: give the same, another"
            " --out, or no --resume"
        )
    # the last one of a run that was killed may be half
    whole = [line for line in lines if line.endswith("}")]
    path.write_text("\n".join([first, *whole]) + "\n")
    rows = [restored(json.loads(line)) for line in whole]
    return {Task(row.contender, row.problem, row.budget, row.seed): row for row in rows}


def plain(row: Row) -> dict[str, Any]:
    """For JSON, which has no NaN and no infinity: None and text."""
    return {name: _plain(value) for name, value in asdict(row).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def restored(values: dict[str, Any]) -> Row:
    floats = [field.name for field in fields(Row) if field.type is float]
    back: dict[str, Any] = {name: _number(values[name]) for name in floats}
    return Row(**{**values, **back, "x": [_number(each) for each in values["x"]]})


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
