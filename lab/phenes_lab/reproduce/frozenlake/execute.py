"""What `experiments.driver` has to know of this experiment."""

import functools
from pathlib import Path

import numpy as np

from phenes.store import Store
from phenes_lab import driver
from phenes_lab.reproduce.frozenlake.settings import EXPERIMENT, Settings


def tasks(settings: Settings) -> dict[str, str]:
    from phenes.rl import tabular

    tabular.load("FrozenLake-v1")  # without gymnasium this says so, here and not in every process
    return {name: name for name in settings.parts}


def compute(settings: Settings, name: str) -> dict[str, np.ndarray]:
    from phenes_lab.reproduce.frozenlake.part import compute

    return compute(settings, name)


def finish(store: Store, out: Path) -> None:
    from phenes_lab.reproduce.frozenlake.pictures import figures
    from phenes_lab.reproduce.frozenlake.writing import report

    figures(store, out)
    report(store, out)


FROZENLAKE = driver.Experiment(EXPERIMENT, tasks, Settings.cost, compute, finish)
run = functools.partial(driver.run, FROZENLAKE)
