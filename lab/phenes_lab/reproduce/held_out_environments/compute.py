"""One part of the experiment: a method and a seed in an environment."""

import jax
import numpy as np

from phenes.rl import rollouts
from phenes.rl.training import Settings as Training
from phenes_lab.reproduce.control.compute import learnt
from phenes_lab.reproduce.control.settings import METHODS
from phenes_lab.reproduce.held_out_environments.settings import HeldOutSettings


def tasks(settings: HeldOutSettings) -> dict[str, str]:
    for environment in settings.environments:
        # without gymnasium or mujoco this says so, here and not in every process
        rollouts.spaces(environment)
    return {name: name for name in settings.parts}


def cost(settings: HeldOutSettings, name: str) -> float:
    return settings.budget(name.split("/")[0]) / 1000


def compute(settings: HeldOutSettings, name: str) -> dict[str, np.ndarray]:
    jax.config.update("jax_enable_x64", False)  # as `phenes train` does it
    environment, method, number = name.split("/")
    made = METHODS[method].build(rollouts.spaces(environment))
    assert isinstance(made, Training)  # of the methods here
    generations = max(1, settings.budget(environment) // made.popsize)
    return learnt(environment, made, generations, settings.seed + int(number), None)
