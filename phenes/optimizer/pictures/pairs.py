"""What the picture of pairs of parameters is made of: where evaluations fail or violate a limit.

All of it is from the evaluations of the run; nothing is evaluated.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from phenes._validate import BoolArray, FloatArray
from phenes.gp.limits import LimitModel
from phenes.optimizer.pictures.design import (
    NOT_MEASURED,
    logarithmic,
    names_of,
    noise_of,
    numbers_of,
    rows_of,
)

if TYPE_CHECKING:
    from phenes.optimizer.answer.result import Result

MOST = 4  # parameters that are paired
MODELLED = 10  # coordinates up to which a model says where the region is
GRID = 41  # points along each side of a region
EDGE = 0.05  # of the range of what was realised, to which a region reaches beyond it
HALF = 0.5  # of failures: beyond, more evaluations fail than not
TINY = 1e-300


def draw(result: Result) -> Any:
    """The figure of the pairs."""
    from phenes.plots.pairs import Pair, Pairs, figure  # does not wait for matplotlib

    rows = rows_of(result)
    whole = np.all(np.isfinite(rows.x), axis=1)
    numbers = numbers_of(result)
    if numbers.size < 2 or not whole.any():  # a pair is two
        why = NOT_MEASURED if not whole.any() else "There is one number only, and so no pair."
        return figure(Pairs((), why, ""))
    x, f = rows.x[whole], rows.f[whole]
    failed = np.isnan(f)
    held = [np.asarray(c, float)[whole] for c in result.evaluations.constraints.values()]
    violated = ~failed & np.any(np.array([c > 0 for c in held]).reshape(-1, f.size), axis=0)
    noise = noise_of(rows, result.noise_cov)
    std = np.zeros(rows.answer.size) if noise is None else noise.std
    model = _model(x, failed, held, rows.answer, std)
    chosen = _chosen(x, failed | violated, numbers)
    names = names_of(result)
    pairs = tuple(
        Pair(
            (names[i], names[j]),
            (logarithmic(result, i), logarithmic(result, j)),
            x[:, [i, j]],
            failed,
            violated,
            rows.answer[[i, j]],
            std[[i, j]],
            *_region(model, rows.answer, x, i, j),
        )
        for i, j in itertools.combinations(chosen.tolist(), 2)
    )
    shaded = None if model is None else any([np.any(each.worst > 0) for each in pairs])
    return figure(Pairs(pairs, "", _words(failed, violated, shaded, x.shape[1] > 2)))


def _words(failed: BoolArray, violated: BoolArray, shaded: bool | None, others: bool) -> str:
    """How many, and what the shading is; shaded: None without a model. others: beside a pair."""
    bad = [
        f"{int(each.sum())} of {each.size} evaluations {verb}"
        for each, verb in ((failed, "failed"), (violated, "violated a limit"))
        if each.any()
    ]
    if not bad:
        return f"None of {failed.size} evaluations failed or violated a limit"
    if shaded is None:
        return ", ".join(bad)
    there = ", the other parameters at the answer" if others else ""
    what = "shaded: where the model expects it" if shaded else "the model expects none here"
    return f"{', '.join(bad)}; {what}{there}"


def _model(
    x: FloatArray, failed: BoolArray, held: list[FloatArray], answer: FloatArray, std: FloatArray
) -> LimitModel | None:
    """A model whose largest value is positive where evaluations fail or violate a limit."""
    columns = [np.where(failed, np.nan, c) for c in held]
    if failed.any() and not failed.all():
        columns.append(failed - HALF)
    bad = failed.any() or any(np.any(c > 0) for c in held)
    if not columns or not bad or x.shape[1] > MODELLED:
        return None
    unit = np.ptp(x, axis=0) ** 2 + std**2
    model = LimitModel(x, np.column_stack(columns), answer, np.maximum(unit, TINY))
    return model if model.ready else None


def _chosen(x: FloatArray, bad: BoolArray, numbers: Any) -> Any:
    """The parameters along which bad evaluations lie apart from good ones most."""
    if numbers.size <= MOST or not bad.any() or bad.all():
        return numbers[:MOST]
    spread = np.maximum(x.std(axis=0), TINY)
    apart = np.abs(x[bad].mean(axis=0) - x[~bad].mean(axis=0)) / spread
    best = np.argsort(-apart[numbers], kind="stable")[:MOST]
    return numbers[np.sort(best)]


def _region(
    model: LimitModel | None, answer: FloatArray, x: FloatArray, i: int, j: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sides of a grid, and the largest of the model's values there; empty without a model."""
    if model is None:
        return np.empty(0), np.empty(0), np.empty((0, 0))
    low, high = x.min(axis=0), x.max(axis=0)
    edge = EDGE * (high - low)
    low, high = low - edge, high + edge
    across: FloatArray = np.linspace(float(low[i]), float(high[i]), GRID)
    up: FloatArray = np.linspace(float(low[j]), float(high[j]), GRID)
    points = np.tile(answer, (GRID * GRID, 1))
    points[:, i], points[:, j] = np.tile(across, GRID), np.repeat(up, GRID)
    worst = np.max(model.at(points, sure=True)[0], axis=1)
    return across, up, worst.reshape(GRID, GRID)
