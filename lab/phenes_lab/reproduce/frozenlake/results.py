"""store -> numbers. Everything that figures and reports say is computed here or from what is
returned here.
"""

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phenes.rl import tabular
from phenes.store import Store
from phenes_lab.driver import Loaded, last, parts_of
from phenes_lab.reproduce.frozenlake.compute import best, first
from phenes_lab.reproduce.frozenlake.settings import (
    ENVIRONMENT,
    EXPERIMENT,
    LAST,
    METHODS,
    VARIANCE,
    FrozenlakeSettings,
)

SIGNS = {"sigma": "σ", "total": "S", "rate": "rate", "floor": "floor"}


class Optimum(NamedTuple):
    """The best values there are, within the step limit and without it."""

    limit: int
    limited: float
    unlimited: float


@functools.cache
def optimum() -> Optimum:
    table = tabular.load(ENVIRONMENT).table
    return Optimum(
        table.limit or 0, tabular.optimum(table)[0], tabular.optimum(table.limited(None))[0]
    )


class Curve(NamedTuple):
    """One method with one setting. value: exact, of the greedy policy, [seeds, generations];
    unlimited: without the step limit.
    """

    method: str
    at: dict[str, float]
    value: np.ndarray
    unlimited: np.ndarray
    population: np.ndarray
    flat: np.ndarray
    held: np.ndarray
    stochastic: np.ndarray
    target: float

    @property
    def final(self) -> np.ndarray:
        """Mean over the last generations, by seed."""
        return self.value[:, -LAST:].mean(axis=1)

    @property
    def first(self) -> np.ndarray:
        """First generation at the target, by seed; infinite if never."""
        return first(self.value, self.target)

    @property
    def median_first(self) -> float:
        return float(np.median(self.first))

    @property
    def reached(self) -> int:
        return int(np.isfinite(self.first).sum())

    @property
    def collapsed(self) -> int:
        """Runs that got to the target and are below it again anywhere in the second half."""
        generation = np.arange(1, self.value.shape[1] + 1)[None]
        late = (generation > self.first[:, None]) & (generation > self.value.shape[1] // 2)
        return int(np.sum((late & (self.value < self.target)).any(axis=1)))

    @property
    def label(self) -> str:
        return ", ".join(f"{SIGNS[name]} = {value:g}" for name, value in self.at.items())


@dataclass(frozen=True)
class FrozenlakeResults(Loaded):
    """The last run of a store, in memory. parts: arrays by method; those not run yet are not
    there.
    """

    settings: FrozenlakeSettings
    parts: dict[str, dict[str, np.ndarray]]

    @property
    def methods(self) -> list[str]:
        return self.among(*METHODS)

    def among(self, *names: str) -> list[str]:
        """Those that were run."""
        return [name for name in names if name in self.parts]

    def curves(self, method: str, **at: float) -> list[Curve]:
        """All settings of a method, or those with these numbers."""
        arrays, points = self.parts[method], METHODS[method].points(self.settings)
        names = ("value", "unlimited", "population", "flat", "held", "stochastic")
        rows = [{name: arrays[name][k].astype(float) for name in names} for k in range(len(points))]
        every = [
            Curve(method, point, target=self.settings.target, **row)
            for point, row in zip(points, rows, strict=True)
        ]
        return [
            c
            for c in every
            if all(math.isclose(c.at.get(name, math.nan), value) for name, value in at.items())
        ]

    def best(self, method: str) -> Curve:
        return self.curves(method)[best(self.parts[method]["value"], self.settings.target)]

    def per_generation(self, method: str) -> float:
        """Seconds of one generation of one run by itself."""
        return float(self.parts[method]["timed"]) / self.settings.generations


def load(store: Store) -> FrozenlakeResults:
    run, loaded = last(store, EXPERIMENT, FrozenlakeSettings)
    return FrozenlakeResults(**vars(loaded), parts=parts_of(run, loaded.settings.parts))


def gain(results: FrozenlakeResults) -> np.ndarray:
    """Variance of the genotype estimate over that of the phenotype one; by S."""
    return _typical(results.parts[VARIANCE]["gain"])


def signal(results: FrozenlakeResults, which: str) -> np.ndarray:
    """|E g|^2 / E|g|^2 of an estimate; by S."""
    return _typical(results.parts[VARIANCE][f"signal_{which}"])


def _typical(values: np.ndarray) -> np.ndarray:
    """The median over seeds and generations with weights, of each row."""
    return np.array([np.nanmedian(np.where(np.isfinite(row), row, np.nan)) for row in values])
