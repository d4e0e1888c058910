"""store -> numbers."""

import math
from dataclasses import dataclass

from phenes.store import Store
from phenes_lab import driver
from phenes_lab.reproduce.control.results import One, one_run
from phenes_lab.reproduce.held_out_environments.settings import EXPERIMENT, METHODS, HeldOutSettings


@dataclass(frozen=True)
class HeldOutResults(driver.Loaded):
    """runs: by environment that both methods played, and by method. thresholds: returns at which
    environments say that they are solved.
    """

    settings: HeldOutSettings
    runs: dict[str, dict[str, list[One]]]
    thresholds: dict[str, float | None]


def load(store: Store) -> HeldOutResults:
    from phenes.rl import rollouts

    run, loaded = driver.last(store, EXPERIMENT, HeldOutSettings)
    settings, there = loaded.settings, run.keys()
    thresholds = {env: rollouts.spaces(env).threshold for env in settings.environments}
    runs = {}
    for env, threshold in thresholds.items():
        target = math.inf if threshold is None else threshold
        parts = {
            m: [f"{env}/{m}/{k}" for k in range(settings.seeds) if f"{env}/{m}/{k}" in there]
            for m in METHODS
        }
        if all(parts.values()):  # what is there of one method alone says nothing
            runs[env] = {
                m: [one_run(run[name], target, True) for name in names]
                for m, names in parts.items()
            }
    return HeldOutResults(**vars(loaded), runs=runs, thresholds=thresholds)
