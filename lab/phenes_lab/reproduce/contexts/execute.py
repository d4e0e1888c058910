"""What `experiments.driver` has to know of this experiment."""

import functools
from pathlib import Path

import numpy as np

from phenes.store import Store
from phenes_lab import driver
from phenes_lab.reproduce.contexts.data import load
from phenes_lab.reproduce.contexts.settings import EXPERIMENT, Settings


def tasks(settings: Settings) -> dict[str, str]:
    load(settings.sets[0], 1, 0)  # without scikit-learn this says so, here and not in every process
    return {part: part for part in settings.parts}


def compute(settings: Settings, part: str) -> dict[str, np.ndarray]:
    from phenes_lab.reproduce.contexts.part import compute

    return compute(settings, part)


def finish(store: Store, out: Path) -> None:
    from phenes_lab.reproduce.contexts.pictures import figures
    from phenes_lab.reproduce.contexts.writing import report

    figures(store, out)
    report(store, out)


CONTEXTS = driver.Experiment(EXPERIMENT, tasks, Settings.cost, compute, finish)
run = functools.partial(driver.run, CONTEXTS)
