"""One part of the experiment: a method and a seed. Nothing here knows of files or processes."""

import dataclasses

import numpy as np

from phenes.experiments.control.settings import METHODS, Settings
from phenes.rl import rollouts, training


def compute(settings: Settings, name: str) -> dict[str, np.ndarray]:
    """The arrays of `training.Curve`, the return of the mean policy at the end, and how long it all took."""
    method, number = name.split("/")
    spaces = rollouts.spaces(settings.environment)
    made = dataclasses.replace(METHODS[method].build(spaces), generations=settings.length(method))
    # where the population is what counts, a mean policy that is good enough must not end the run
    target = settings.target if settings.by_mean_policy else None
    out = training.learn(settings.environment, made, seed=settings.seed + int(number), target=target)
    arrays = {
        **out.curve._asdict(),
        "signal": out.curve.signal(),
        "popsize": made.popsize,
        "value": out.about["value"],
        "total": out.about["seconds"],
    }
    return {key: np.asarray(v) for key, v in arrays.items()}
