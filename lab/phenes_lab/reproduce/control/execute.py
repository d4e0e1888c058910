"""What `experiments.driver` has to know of these experiments."""

import importlib.util
from pathlib import Path

import numpy as np

from phenes.store import Store
from phenes_lab import driver
from phenes_lab.reproduce.control.settings import RIVALS, Settings


def tasks(settings: Settings) -> dict[str, str]:
    from phenes.rl import rollouts

    # without gymnasium this says so, here and not in every process
    rollouts.spaces(settings.environment)
    if (
        any(name in RIVALS for name in settings.methods)
        and importlib.util.find_spec("evosax") is None
    ):
        raise RuntimeError(
            'evosax is not installed: pip install "phenes[bench]", or leave it out by '
            """--set 'methods=["default"]'"""
        )
    return {name: name for name in settings.parts}


def cost(settings: Settings, name: str) -> float:
    return settings.length(name.split("/")[0]) / 100


def compute(settings: Settings, name: str) -> dict[str, np.ndarray]:
    import jax

    from phenes_lab.reproduce.control.part import compute

    jax.config.update("jax_enable_x64", False)  # as `phenes train` does it
    return compute(settings, name)


def finish(store: Store, out: Path) -> None:
    from phenes_lab.reproduce.control.pictures import figures
    from phenes_lab.reproduce.control.writing import report

    figures(store, out)
    report(store, out)


def experiment(name: str) -> driver.Experiment:
    return driver.Experiment(name, tasks, cost, compute, finish)
