"""What `experiments.driver` has to know of this benchmark."""

import functools
from pathlib import Path

import numpy as np

from phenes.store import Store
from phenes_lab import driver
from phenes_lab.bench.engineering.contenders import CONTENDERS, check_installed
from phenes_lab.bench.engineering.settings import Part, Settings, problem_of

NAME = "engineering"


def tasks(settings: Settings) -> dict[str, Part]:
    check_installed(settings.contenders)
    return {part.key: part for part in settings.parts}


def cost(settings: Settings, part: Part) -> float:
    """Seconds, roughly."""
    contender = CONTENDERS[part.contender]
    return (
        0.5
        if contender.fixed
        else 0.5 + settings.builds(part.problem) * contender.microseconds / 1e6
    )


def compute(settings: Settings, part: Part) -> dict[str, np.ndarray]:
    """evaluations, points [k, d] and by a few draws mean and share [k] on the way; at the end mean,
    se, share and p95 by many.
    """
    problem, contender, grid = (
        problem_of(part),
        CONTENDERS[part.contender],
        settings.grid(part.problem),
    )
    if contender.fixed:
        evaluations, points = np.zeros(1, int), contender.run(problem)[None]
    else:
        evaluations, points = contender.run(
            problem, settings.builds(part.problem), grid, settings.seed + part.seed
        )
    # the sketch has seeds of its own: only the last design is judged by the draws that count
    way = [problem.assess(point, settings.sketch, seed=1) for point in points]
    final = problem.assess(points[-1], settings.draws)
    path = {
        "evaluations": evaluations,
        "points": points,
        "means": [w.mean for w in way],
        "shares": [w.share for w in way],
    }
    return {**path, **{name: getattr(final, name) for name in ("mean", "se", "share", "p95")}}


def finish(store: Store, out: Path) -> None:
    from phenes_lab.bench.engineering.pictures import figures
    from phenes_lab.bench.engineering.writing import report

    figures(store, out)
    report(store, out)


BENCH = driver.Experiment(NAME, tasks, cost, compute, finish)
run = functools.partial(driver.run, BENCH)
