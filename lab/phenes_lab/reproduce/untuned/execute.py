"""What `experiments.driver` has to know of this experiment."""

from pathlib import Path

import numpy as np

from phenes.store import Store
from phenes_lab import driver
from phenes_lab.reproduce.untuned.settings import Settings


def tasks(settings: Settings) -> dict[str, str]:
    from phenes.rl import rollouts

    for environment in settings.environments:
        # without gymnasium or mujoco this says so, here and not in every process
        rollouts.spaces(environment)
    return {name: name for name in settings.parts}


def cost(settings: Settings, name: str) -> float:
    return settings.budget(name.split("/")[0]) / 1000


def compute(settings: Settings, name: str) -> dict[str, np.ndarray]:
    import jax

    from phenes.rl import rollouts
    from phenes.rl.training import Settings as Training
    from phenes_lab.reproduce.control import METHODS
    from phenes_lab.reproduce.control.part import learnt

    jax.config.update("jax_enable_x64", False)  # as `phenes train` does it
    environment, method, number = name.split("/")
    made = METHODS[method].build(rollouts.spaces(environment))
    assert isinstance(made, Training)  # of the methods here
    generations = max(1, settings.budget(environment) // made.popsize)
    return learnt(environment, made, generations, settings.seed + int(number), None)


def finish(store: Store, out: Path) -> None:
    from phenes_lab.reproduce.untuned.pictures import figure
    from phenes_lab.reproduce.untuned.writing import report

    figure(store, out)
    report(store, out)


EXPERIMENT = driver.Experiment("untuned", tasks, cost, compute, finish)
