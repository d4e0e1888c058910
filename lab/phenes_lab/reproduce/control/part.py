"""One part of the experiment: a method and a seed. Nothing here knows of stores or processes."""

import dataclasses
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from phenes.rl import rollouts, training
from phenes_lab.reproduce.control import rival
from phenes_lab.reproduce.control.settings import METHODS, Settings

LEG = 100  # generations after which a run whose population is at the target is not gone on with


def compute(settings: Settings, name: str) -> dict[str, np.ndarray]:
    """The arrays of `training.Curve`, the return of the mean policy at the end, and how long it all
    took.
    """
    method, number = name.split("/")
    made, seed = (
        METHODS[method].build(rollouts.spaces(settings.environment)),
        settings.seed + int(number),
    )
    length = settings.length(method)
    if isinstance(made, rival.Rival):
        return rival.play(
            settings.environment, made._replace(generations=length), seed, settings.target
        )
    if settings.by_mean_policy:
        return learnt(
            settings.environment, made, length, seed, None if settings.keep_on else settings.target
        )
    # the population is what counts: a mean policy that is good enough must not end the run
    return in_legs(settings.environment, made, length, seed, settings.target)


def learnt(
    environment: str, made: training.Settings, generations: int, seed: int, target: float | None
) -> dict[str, np.ndarray]:
    return arrays(
        training.learn(
            environment,
            dataclasses.replace(made, generations=generations),
            seed=seed,
            target=target,
        )
    )


def in_legs(
    environment: str, made: training.Settings, generations: int, seed: int, target: float
) -> dict[str, np.ndarray]:
    """Until the end of the leg in which the population gets to the target."""
    with tempfile.TemporaryDirectory() as folder:
        for end in range(LEG, generations + LEG, LEG):
            leg = dataclasses.replace(made, generations=min(end, generations))
            out = training.learn(environment, leg, seed=seed, checkpoint=Path(folder) / "leg")
            if out.curve.first(target) is not None:
                break
    return arrays(out)


def arrays(out: Any) -> dict[str, np.ndarray]:
    about = {name: out.about[name] for name in ("popsize", "value", "solved")}
    return {
        key: np.asarray(v)
        for key, v in {**out.curve._asdict(), "signal": out.curve.signal(), **about}.items()
    }
