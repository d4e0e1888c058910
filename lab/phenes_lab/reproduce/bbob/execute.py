"""What `experiments.driver` has to know of this experiment."""

import functools
from pathlib import Path

import numpy as np

from phenes.store import Store
from phenes_lab import driver
from phenes_lab.reproduce.bbob.settings import EXPERIMENT, LANDSCAPE, Part, Settings


def tasks(settings: Settings) -> dict[str, Part]:
    return {part.key: part for part in settings.parts}


def compute(settings: Settings, part: Part) -> dict[str, np.ndarray]:
    from phenes_lab.reproduce.bbob import landscape
    from phenes_lab.reproduce.bbob.part import compute

    return (
        landscape.compute(settings, part.function)
        if part.method == LANDSCAPE
        else compute(settings, part)
    )


def finish(store: Store, out: Path) -> None:
    from phenes_lab.reproduce.bbob.pictures import figures
    from phenes_lab.reproduce.bbob.writing import report

    figures(store, out)
    report(store, out)


BBOB = driver.Experiment(EXPERIMENT, tasks, lambda settings, part: part.cost, compute, finish)
run = functools.partial(driver.run, BBOB)
