"""One part: a run of a contender, and the regret of the risk at its looks."""

import numpy as np

from phenes_lab.bench.risk.contenders import CONTENDERS
from phenes_lab.bench.risk.problems import PROBLEMS, regret, value
from phenes_lab.bench.risk.settings import Part, RiskSettings


def tasks(settings: RiskSettings) -> dict[str, Part]:
    return {part.key: part for part in settings.parts}


def cost(settings: RiskSettings, part: Part) -> float:
    """Seconds, roughly."""
    return 1.0 + part.budget * CONTENDERS[part.contender].seconds


def compute(settings: RiskSettings, part: Part) -> dict[str, np.ndarray]:
    """Evaluations and regret at each look; what phenes claims, and what is true of it."""
    found = CONTENDERS[part.contender].run(
        PROBLEMS[part.problem], part.budget, settings.seed + part.seed
    )
    return {
        "at": found.at,
        "theta": found.theta,
        "regret": np.array([regret(part.problem, theta) for theta in found.theta]),
        "claim": found.claim,
        "truth": np.array(value(PROBLEMS[part.problem], found.theta[-1])),
    }
