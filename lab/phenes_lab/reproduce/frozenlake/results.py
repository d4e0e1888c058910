"""store -> numbers. Everything that figures and reports say is computed here or from what is
returned here.
"""

import functools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from phenes.rl import tabular
from phenes.store import Store
from phenes_lab.driver import Session, sessions
from phenes_lab.report import mean_se
from phenes_lab.reproduce.frozenlake.part import best, first
from phenes_lab.reproduce.frozenlake.settings import (
    ENVIRONMENT,
    EXPERIMENT,
    LAST,
    METHODS,
    VARIANCE,
    Settings,
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
class Results:
    """The last run of a store, in memory. parts: arrays by method; those not run yet are not
    there.
    """

    settings: Settings
    version: str
    status: str
    parts: dict[str, dict[str, np.ndarray]]
    sessions: list[Session]

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


def load(store: Store) -> Results:
    run = store.last(EXPERIMENT)
    settings, there = Settings.from_stored(run.about.settings), run.keys()
    parts = {name: run[name] for name in settings.parts if name in there}
    return Results(settings, run.about.version, run.about.status, parts, sessions(run))


def summary(store: Store) -> dict[str, Any]:
    """What is worth keeping in a few kilobytes of JSON."""
    from phenes_lab.reproduce.frozenlake.claims import claims

    results = load(store)
    return {
        "experiment": EXPERIMENT,
        "version": results.version,
        "status": results.status,
        "settings": vars(results.settings),
        "sessions": [
            {"seconds": round(s, 1), "parts": n, "processes": k} for s, n, k in results.sessions
        ],
        "claims": [vars(claim) for claim in claims(results)],
        "methods": {
            name: [_numbers(curve) for curve in results.curves(name)] for name in results.methods
        },
        "best": {name: results.best(name).at for name in results.methods},
        "gain": (
            {f"{t:g}": finite(gain(results)[k]) for k, t in enumerate(results.settings.clean)}
            if VARIANCE in results.parts
            else {}
        ),
    }


def gain(results: Results) -> np.ndarray:
    """Variance of the genotype estimate over that of the phenotype one, median over seeds and
    generations with weights; by S.
    """
    ratio = results.parts[VARIANCE]["gain"]
    return np.array([np.nanmedian(np.where(np.isfinite(row), row, np.nan)) for row in ratio])


def signal(results: Results, which: str) -> np.ndarray:
    """|E g|^2 / E|g|^2 of an estimate, median over seeds and generations with weights; by S."""
    share = results.parts[VARIANCE][f"signal_{which}"]
    return np.array([np.nanmedian(np.where(np.isfinite(row), row, np.nan)) for row in share])


def _numbers(curve: Curve) -> dict[str, Any]:
    return {
        **curve.at,
        "final": [finite(v) for v in mean_se(curve.final)],
        "unlimited": finite(float(curve.unlimited[:, -LAST:].mean())),
        "stochastic": finite(float(curve.stochastic.mean())),
        "first": finite(curve.median_first),
        "reached": curve.reached,
        "collapsed": curve.collapsed,
    }


def finite(value: float, digits: int = 4) -> float | None:
    """JSON has no word for infinity or NaN."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None
