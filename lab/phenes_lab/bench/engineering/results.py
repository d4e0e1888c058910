"""store -> numbers by problem and contender."""

from typing import NamedTuple

import numpy as np

from phenes.store import Store
from phenes_lab.bench.engineering.contenders import CONTENDERS
from phenes_lab.bench.engineering.settings import EngineeringSettings
from phenes_lab.driver import last, part_keys
from phenes_lab.report import quartiles

NAME = "engineering"


class Runs(NamedTuple):
    """All seeds of a contender on a problem. evaluations, means, shares: [seeds, k] on the way;
    design [seeds, d] and others at the end.
    """

    evaluations: np.ndarray
    means: np.ndarray
    shares: np.ndarray
    design: np.ndarray
    mean: np.ndarray
    se: np.ndarray
    share: np.ndarray
    p95: np.ndarray
    seconds: np.ndarray

    def quartiles(self, name: str) -> tuple[float, float, float]:
        return quartiles(getattr(self, name))


class EngineeringResults(NamedTuple):
    settings: EngineeringSettings
    version: str
    status: str
    runs: dict[str, dict[str, Runs]]

    @property
    def problems(self) -> list[str]:
        return [name for name in self.settings.problems if name in self.runs]

    def contenders(self, problem: str) -> list[str]:
        return [name for name in CONTENDERS if name in self.runs[problem]]


def load(store: Store) -> EngineeringResults:
    """What is there of the last run; also of one that is not finished."""
    record, loaded = last(store, NAME, EngineeringSettings)
    seconds, groups = record.seconds(), {}
    for key in part_keys(record):
        problem, contender, _ = key.split("/")
        groups.setdefault(problem, {}).setdefault(contender, []).append((record[key], seconds[key]))
    runs = {
        problem: {name: _together(parts) for name, parts in each.items()}
        for problem, each in groups.items()
    }
    return EngineeringResults(loaded.settings, loaded.version, loaded.status, runs)


def _together(parts: list[tuple[dict[str, np.ndarray], float]]) -> Runs:
    names = [name for name in Runs._fields if name not in ("design", "seconds")]
    stacked = {name: np.stack([part[name] for part, _ in parts]) for name in names}
    return Runs(
        **stacked,
        design=np.stack([part["points"][-1] for part, _ in parts]),
        seconds=np.array([seconds for _, seconds in parts]),
    )
