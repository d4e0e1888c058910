"""One part: a run of a contender on a problem, and how its designs are judged."""

import numpy as np

from phenes.problems.engineering import ENGINEERING
from phenes_lab.bench.engineering.contenders import CONTENDERS
from phenes_lab.bench.engineering.settings import EngineeringSettings, Part
from phenes_lab.contenders import check_installed


def tasks(settings: EngineeringSettings) -> dict[str, Part]:
    check_installed(settings.contenders, CONTENDERS)
    return {part.key: part for part in settings.parts}


def cost(settings: EngineeringSettings, part: Part) -> float:
    """Seconds, roughly."""
    contender = CONTENDERS[part.contender]
    each = 0 if contender.fixed else contender.microseconds / 1e6
    return 0.5 + settings.builds(part.problem) * each


def compute(settings: EngineeringSettings, part: Part) -> dict[str, np.ndarray]:
    """evaluations, points [k, d] and by a few draws mean and share [k] on the way; at the end mean,
    se, share and p95 by many.
    """
    problem, contender = ENGINEERING[part.problem], CONTENDERS[part.contender]
    if contender.fixed:
        evaluations, points = np.zeros(1, int), contender.run(problem)[None]
    else:
        builds, grid = settings.builds(part.problem), settings.grid(part.problem)
        evaluations, points = contender.run(problem, builds, grid, settings.seed + part.seed)
    # the sketch has seeds of its own: only the last design is judged by the draws that count
    way = [problem.assess(point, settings.sketch, seed=1) for point in points]
    final = problem.assess(points[-1], settings.draws)
    path = {
        "evaluations": evaluations,
        "points": points,
        "means": np.array([w.mean for w in way]),
        "shares": np.array([w.share for w in way]),
    }
    return {**path, **{name: getattr(final, name) for name in ("mean", "se", "share", "p95")}}
