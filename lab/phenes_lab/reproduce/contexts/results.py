"""store -> numbers. Everything that figures and reports say is computed here or from what is
returned here.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from phenes.store import Store
from phenes_lab.driver import Session, sessions
from phenes_lab.reproduce.contexts.data import load as load_data
from phenes_lab.reproduce.contexts.settings import EXPERIMENT, METHODS, Settings

SIGNS = {"rate": "rate", "gamma": "γ", "epsilon": "ε", "sigma": "σ", "C": "C", "doubt": "doubt"}


class Curve(NamedTuple):
    """One method with one setting on one data set: [seeds, rounds], on the test set; loss and
    online are NaN where they have no meaning.
    """

    method: str
    name: str
    at: dict[str, float]
    rounds: np.ndarray
    accuracy: np.ndarray
    loss: np.ndarray
    online: np.ndarray

    @property
    def final(self) -> np.ndarray:
        """Accuracy after the last round, by seed."""
        return self.accuracy[:, -1]

    @property
    def label(self) -> str:
        return ", ".join(f"{SIGNS[name]} = {value:g}" for name, value in self.at.items())


@dataclass(frozen=True)
class Results:
    """The last run of a store, in memory. parts: arrays by "kind/set"; those not run yet are not
    there.
    """

    settings: Settings
    version: str
    status: str
    parts: dict[str, dict[str, np.ndarray]]
    sessions: list[Session]

    def methods(self, name: str) -> list[str]:
        """Those that were run on a data set."""
        return [method for method in METHODS if f"{method}/{name}" in self.parts]

    def has(self, name: str, *methods: str) -> bool:
        return all(f"{method}/{name}" in self.parts for method in methods)

    def curves(self, method: str, name: str) -> list[Curve]:
        arrays, points = self.parts[f"{method}/{name}"], METHODS[method].points
        nothing = np.full_like(arrays["accuracy"], np.nan)
        rows = [
            [arrays.get(key, nothing)[k].astype(float) for key in ("accuracy", "loss", "online")]
            for k in range(len(points))
        ]
        return [
            Curve(method, name, point, arrays["rounds"], *row)
            for point, row in zip(points, rows, strict=True)
        ]

    def index_of_best(self, method: str, name: str) -> int:
        """The setting with the highest median accuracy after the last round: the same rule for all
        methods, ours and others'.
        """
        return int(np.argmax([np.median(curve.final) for curve in self.curves(method, name)]))

    def best(self, method: str, name: str) -> Curve:
        return self.curves(method, name)[self.index_of_best(method, name)]

    def at_the_end(self, method: str, name: str, what: str) -> np.ndarray:
        """gate, speaker or answer of a mixture at its best setting, by seed."""
        return self.parts[f"{method}/{name}"][what][self.index_of_best(method, name)]

    def specialisation(self, method: str, name: str) -> np.ndarray:
        """How much of what there is to know who speaks tells, by seed: of the region in the plane,
        else of the label.
        """
        split = load_data(name, self.settings.seeds, self.settings.seed)
        groups = split.test_y if split.test_region is None else split.test_region
        speaker = np.argmax(self.at_the_end(method, name, "gate"), axis=-1)
        return np.array([shared_information(s, g) for s, g in zip(speaker, groups, strict=True)])


def shared_information(speaker: np.ndarray, group: np.ndarray) -> float:
    """I(speaker; group) / H(group): 0 if independent, 1 if the speaker gives the group away."""
    joint = np.zeros((speaker.max() + 1, group.max() + 1))
    np.add.at(joint, (speaker, group), 1 / speaker.size)
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    there = joint > 0
    information = np.sum(joint[there] * np.log(joint[there] / np.outer(rows, columns)[there]))
    return float(information / -np.sum(columns[columns > 0] * np.log(columns[columns > 0])))


def load(store: Store) -> Results:
    run = store.last(EXPERIMENT)
    settings, there = Settings.from_stored(run.about.settings), run.keys()
    parts = {part: run[part] for part in settings.parts if part in there}
    return Results(settings, run.about.version, run.about.status, parts, sessions(run))


def summary(store: Store) -> dict[str, Any]:
    """What is worth keeping in a few kilobytes of JSON."""
    from phenes_lab.reproduce.contexts.claims import claims

    results = load(store)
    sets = results.settings.sets
    return {
        "experiment": EXPERIMENT,
        "version": results.version,
        "status": results.status,
        "settings": vars(results.settings),
        "claims": [vars(claim) for claim in claims(results)],
        "accuracy": {
            name: {m: [_numbers(c) for c in results.curves(m, name)] for m in results.methods(name)}
            for name in sets
        },
        "best": {
            name: {m: results.best(m, name).at for m in results.methods(name)} for name in sets
        },
        "sessions": [session._asdict() for session in results.sessions],
    }


def _numbers(curve: Curve) -> dict[str, Any]:
    low, middle, high = np.quantile(curve.final, [0.25, 0.5, 0.75])
    numbers = {
        "median": middle,
        "quartiles": [low, high],
        "online": np.median(curve.online.mean(axis=1)),
    }
    return curve.at | {
        key: [rounded(v) for v in value] if isinstance(value, list) else rounded(value)
        for key, value in numbers.items()
    }


def rounded(value: float) -> float | None:
    """JSON has no word for NaN."""
    return round(float(value), 4) if math.isfinite(value) else None
