"""What `experiments.driver` has to know of this experiment."""

import functools
from pathlib import Path

import numpy as np

from phenes.experiments import driver
from phenes.experiments.frozenlake.settings import EXPERIMENT, Settings
from phenes.store import Store


def tasks(settings: Settings) -> dict[str, str]:
    from phenes.rl import tabular

    tabular.load("FrozenLake-v1")  # without gymnasium this says so, here and not in every process
    return {name: name for name in settings.parts}


def compute(settings: Settings, name: str) -> dict[str, np.ndarray]:
    from phenes.experiments.frozenlake.part import compute

    return compute(settings, name)


def finish(store: Store, out: Path) -> None:
    from phenes.experiments.frozenlake.pictures import figures
    from phenes.experiments.frozenlake.writing import report

    figures(store, out)
    report(store, out)


FROZENLAKE = driver.Experiment(EXPERIMENT, tasks, Settings.cost, compute, finish)
run = functools.partial(driver.run, FROZENLAKE)
