"""All runs, on all cores; every finished one is kept in a file, so that a benchmark that was ended
can go on.
"""

import functools
import math
from dataclasses import fields
from pathlib import Path
from typing import Any

from phenes_lab import driver
from phenes_lab.bench.trust.contenders import ask
from phenes_lab.bench.trust.problem import number
from phenes_lab.bench.trust.settings import Task, TrustSettings
from phenes_lab.bench.trust.truth import TrustRow, judge_of, score
from phenes_lab.report import write_json

FILE = "rows.jsonl"


def compute(settings: TrustSettings, task: Task) -> TrustRow:
    """One run and its verdict. Contenders have random numbers of their own, the problem is the
    same.
    """
    judge = judge_of(task.problem, task.seed, settings.seed, settings.draws)
    seed = [settings.seed, number(task.problem), task.seed]
    answer = ask(task.contender, judge.problem, task.budget, seed)
    return score(task.contender, judge, task.budget, answer)


def run(
    settings: TrustSettings,
    out: Path,
    resume: bool = False,
    progress: driver.Progress = driver.silent,
    processes: int | None = None,
) -> driver.Outcome:
    """Rows in the order of the tasks, in `out` with picture and report; resume: what is there is
    not run again.
    """
    from phenes_lab.bench.trust.figures import figures
    from phenes_lab.bench.trust.report import report, summary

    file = driver.RowFile(out / FILE, {"seed": settings.seed, "draws": settings.draws}, "trust")
    kept = map(restored, file.read(resume))
    rows = {Task(row.contender, row.problem, row.budget, row.seed): row for row in kept}
    left = [task for task in settings.tasks if task not in rows]
    done = functools.partial(_shifted, progress, len(settings.tasks) - len(left))
    compute_one = functools.partial(compute, settings)
    name = lambda task: " ".join(map(str, task))  # noqa: E731
    for answer in driver.each(compute_one, left, name, done, processes):
        rows[answer.task] = answer.result
        file.add(answer.result)
    results = [rows[task] for task in settings.tasks]
    figures(results, out)
    report(results, settings, out)
    write_json(out / "summary.json", summary(results))
    return driver.Outcome(file.path, results)


def _shifted(progress: driver.Progress, before: int, done: int, total: int) -> None:
    progress(before + done, before + total)


def restored(values: dict[str, Any]) -> TrustRow:
    """What `report.plain` made of a row."""
    floats = [field.name for field in fields(TrustRow) if field.type is float]
    back: dict[str, Any] = {name: _number(values[name]) for name in floats}
    return TrustRow(**{**values, **back, "x": [_number(each) for each in values["x"]]})


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
