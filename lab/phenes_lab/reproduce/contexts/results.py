"""store -> numbers. Everything that figures and reports say is computed here or from what is
returned here.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phenes.store import Store
from phenes_lab.driver import Loaded, last, parts_of
from phenes_lab.reproduce.contexts.data import load as load_data
from phenes_lab.reproduce.contexts.settings import EXPERIMENT, METHODS, ContextsSettings

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
class ContextsResults(Loaded):
    """The last run of a store, in memory. parts: arrays by "kind/set"; those not run yet are not
    there.
    """

    settings: ContextsSettings
    parts: dict[str, dict[str, np.ndarray]]

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
        """Normalised mutual information between the chosen expert and the true region (or label,
        where there are no regions), by seed.
        """
        split = load_data(name, self.settings.seeds, self.settings.seed)
        groups = split.test_y if split.test_region is None else split.test_region
        speaker = np.argmax(self.at_the_end(method, name, "gate"), axis=-1)
        return np.array(
            [normalised_mutual_information(s, g) for s, g in zip(speaker, groups, strict=True)]
        )


def normalised_mutual_information(speaker: np.ndarray, group: np.ndarray) -> float:
    """I(speaker; group) / H(group): 0 if independent, 1 if the speaker gives the group away."""
    from scipy.stats import entropy

    joint = np.zeros((speaker.max() + 1, group.max() + 1))
    np.add.at(joint, (speaker, group), 1 / speaker.size)
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    return float(entropy(joint.ravel(), np.outer(rows, columns).ravel()) / entropy(columns))


def load(store: Store) -> ContextsResults:
    run, loaded = last(store, EXPERIMENT, ContextsSettings)
    return ContextsResults(**vars(loaded), parts=parts_of(run, loaded.settings.parts))
