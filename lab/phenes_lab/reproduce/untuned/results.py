"""store -> numbers."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from phenes.store import Store
from phenes_lab import driver
from phenes_lab.report import Claim, difference, mean_se, number, plus_minus, verdict
from phenes_lab.reproduce.control.results import One, finite, one_run
from phenes_lab.reproduce.untuned.settings import METHODS, Settings


@dataclass(frozen=True)
class Results:
    """runs: by environment that both methods played, and by method. thresholds: returns at which
    environments say that they are solved.
    """

    settings: Settings
    version: str
    status: str
    runs: dict[str, dict[str, list[One]]]
    thresholds: dict[str, float | None]
    sessions: list[driver.Session]


def load(store: Store) -> Results:
    from phenes.rl import rollouts

    run = store.last("untuned")
    settings, there = Settings.from_stored(run.about.settings), run.seconds()
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
    return Results(
        settings, run.about.version, run.about.status, runs, thresholds, driver.sessions(run)
    )


def claims(results: Results) -> list[Claim]:
    return [_beside(env, runs) for env, runs in results.runs.items()]


def _beside(env: str, runs: dict[str, list[One]]) -> Claim:
    es, ours = (np.array([one.value for one in runs[method]]) for method in METHODS)
    d = difference(es, ours)
    return Claim(
        f"{env}: the default learns more than ES from the same number of episodes",
        f"return of the mean policy at the end, {ours.size} seeds: ES {plus_minus(*mean_se(es))},"
        f" default {plus_minus(*mean_se(ours))}, z = {number(d.z, 2)}",
        "holds: by over 2 standard errors; partly: by the mean",
        verdict(bool(d.z > 2), bool(d.value > 0)),
    )


def summary(store: Store) -> dict[str, Any]:
    """What is worth keeping in a few kilobytes of JSON."""
    results = load(store)
    return {
        "experiment": "untuned",
        "version": results.version,
        "status": results.status,
        "settings": vars(results.settings),
        "sessions": [session._asdict() for session in results.sessions],
        "claims": [vars(claim) for claim in claims(results)],
        "environments": {
            env: {m: _numbers(runs[m]) for m in runs} for env, runs in results.runs.items()
        },
    }


def _numbers(runs: list[One]) -> dict[str, Any]:
    return {
        "values": [finite(one.value) for one in runs],
        "first_episodes": [finite(one.episodes) for one in runs],
        "generations": [one.population.size for one in runs],
        "popsize": runs[0].popsize,
        "seconds": [finite(float(one.seconds[-1])) for one in runs],
    }
