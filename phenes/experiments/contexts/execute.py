"""What `experiments.driver` has to know of this experiment."""

import functools
from pathlib import Path

import numpy as np

from phenes.experiments import driver
from phenes.experiments.contexts.data import load
from phenes.experiments.contexts.settings import EXPERIMENT, Settings
from phenes.store import Store


def tasks(settings: Settings) -> dict[str, str]:
    load(settings.sets[0], 1, 0)  # without scikit-learn this says so, here and not in every process
    return {part: part for part in settings.parts}


def compute(settings: Settings, part: str) -> dict[str, np.ndarray]:
    from phenes.experiments.contexts.part import compute

    return compute(settings, part)


def finish(store: Store, out: Path) -> None:
    from phenes.experiments.contexts.pictures import figures
    from phenes.experiments.contexts.writing import report

    figures(store, out)
    report(store, out)


CONTEXTS = driver.Experiment(EXPERIMENT, tasks, Settings.cost, compute, finish)
run = functools.partial(driver.run, CONTEXTS)
