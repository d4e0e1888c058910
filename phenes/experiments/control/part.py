"""One part of the experiment: a method and a seed. Nothing here knows of files or processes."""

import dataclasses

import numpy as np

from phenes.experiments.control import rival
from phenes.experiments.control.settings import METHODS, Settings
from phenes.rl import rollouts, training


def compute(settings: Settings, name: str) -> dict[str, np.ndarray]:
    """The arrays of `training.Curve`, the return of the mean policy at the end, and how long it all took."""
    method, number = name.split("/")
    # where the population is what counts, a mean policy that is good enough must not end the run
    target = settings.target if settings.by_mean_policy and not settings.keep_on else None
    made = METHODS[method].build(rollouts.spaces(settings.environment))
    return learnt(settings.environment, made, settings.length(method), settings.seed + int(number), target)


def learnt(
    environment: str, made: training.Settings | rival.Rival, generations: int, seed: int, target: float | None
) -> dict[str, np.ndarray]:
    if isinstance(made, rival.Rival):
        return rival.play(environment, made._replace(generations=generations), seed)
    out = training.learn(environment, dataclasses.replace(made, generations=generations), seed=seed, target=target)
    arrays = {
        **out.curve._asdict(),
        "signal": out.curve.signal(),
        "popsize": made.popsize,
        "value": out.about["value"],
        "solved": out.about["solved"],
        "total": out.about["seconds"],
    }
    return {key: np.asarray(v) for key, v in arrays.items()}
