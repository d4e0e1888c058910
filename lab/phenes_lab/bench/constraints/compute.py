"""One part: a run of a contender, and what is true of its answer."""

import time

import numpy as np

from phenes_lab.bench.constraints.contenders import CONTENDERS, OURS
from phenes_lab.bench.constraints.problems import PROBLEMS, score
from phenes_lab.bench.constraints.settings import ConstraintsSettings, Part

SECONDS = {60: 5.0, 200: 18.0}  # of phenes with so many evaluations, roughly
MORE = 25.0  # in ten dimensions


def tasks(settings: ConstraintsSettings) -> dict[str, Part]:
    return {part.key: part for part in settings.parts}


def cost(settings: ConstraintsSettings, part: Part) -> float:
    """Seconds, roughly."""
    ours = part.contender == OURS
    return SECONDS.get(part.budget, MORE) if ours else 0.1 + 1e-5 * part.budget


def compute(settings: ConstraintsSettings, part: Part) -> dict[str, np.ndarray]:
    """theta, its truth, what was claimed, and CPU seconds."""
    problem = PROBLEMS[part.problem]
    began = time.process_time()
    answer = CONTENDERS[part.contender].run(problem, part.p, part.budget, part.seed)
    seconds = time.process_time() - began
    true = score(problem, part.p, answer.theta)
    found = answer._asdict() | true._asdict() | {"seconds": seconds}
    return {name: np.array(value) for name, value in found.items()}
