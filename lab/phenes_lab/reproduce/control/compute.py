"""One part of the experiment: a method and a seed. Nothing here knows of stores or processes."""

import dataclasses
import importlib.util
import tempfile
from pathlib import Path
from typing import Any

import jax
import numpy as np

from phenes.rl import rollouts, training
from phenes_lab.reproduce.control import rival
from phenes_lab.reproduce.control.settings import METHODS, RIVALS, ControlSettings

LEG = 100  # generations after which a run whose population is at the target is not gone on with


def tasks(settings: ControlSettings) -> dict[str, str]:
    # without gymnasium or evosax this says so, here and not in every process
    rollouts.spaces(settings.environment)
    if set(settings.methods) & set(RIVALS) and importlib.util.find_spec("evosax") is None:
        raise RuntimeError(
            "evosax is not installed: pip install -e ./lab, or leave it out by"
            """ --set 'methods=["default"]'"""
        )
    return {name: name for name in settings.parts}


def cost(settings: ControlSettings, name: str) -> float:
    return settings.length(name.split("/")[0]) / 100


def compute(settings: ControlSettings, name: str) -> dict[str, np.ndarray]:
    """The arrays of `training.Curve`, the return of the mean policy at the end, and how long it all
    took.
    """
    jax.config.update("jax_enable_x64", False)  # as `phenes train` does it
    method, number = name.split("/")
    environment, seed = settings.environment, settings.seed + int(number)
    made, length = METHODS[method].build(rollouts.spaces(environment)), settings.length(method)
    if isinstance(made, rival.Rival):
        return rival.play(environment, made._replace(generations=length), seed, settings.target)
    if settings.by_mean_policy:
        target = None if settings.keep_on else settings.target
        return learnt(environment, made, length, seed, target)
    # the population is what counts: a mean policy that is good enough must not end the run
    return in_legs(environment, made, length, seed, settings.target)


def learnt(
    environment: str, made: training.Settings, generations: int, seed: int, target: float | None
) -> dict[str, np.ndarray]:
    made = dataclasses.replace(made, generations=generations)
    return arrays(training.learn(environment, made, seed=seed, target=target, progress=False))


def in_legs(
    environment: str, made: training.Settings, generations: int, seed: int, target: float
) -> dict[str, np.ndarray]:
    """Until the end of the leg in which the population gets to the target."""
    with tempfile.TemporaryDirectory() as folder:
        for end in range(LEG, generations + LEG, LEG):
            leg = dataclasses.replace(made, generations=min(end, generations))
            kept = Path(folder) / "leg"
            out = training.learn(environment, leg, seed=seed, checkpoint=kept, progress=False)
            if out.curve.first(target) is not None:
                break
    return arrays(out)


def arrays(out: Any) -> dict[str, np.ndarray]:
    about = {name: out.about[name] for name in ("popsize", "value", "solved")}
    return {
        key: np.asarray(v)
        for key, v in {**out.curve._asdict(), "signal": out.curve.signal(), **about}.items()
    }
