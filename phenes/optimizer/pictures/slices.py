"""What the picture of an Optimizer is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from phenes import _validate
from phenes._validate import FloatArray
from phenes.evidence import Observations

NO_MODEL = (
    "The evolution strategy has no model of E f where it has not been: dots are single evaluations."
)
TOO_EARLY = "There is no model yet: too few values, or all of them equal."


class View(NamedTuple):
    """What is known of a run. predict: theta (n, d) -> E f and its error, as minimised.

    sign: -1 if f is maximised. logarithmic: coordinates that are logarithms.
    """

    seen: Observations
    pending: FloatArray
    answer: FloatArray
    fun: float
    fun_se: float
    noise: FloatArray
    bounds: tuple[FloatArray, FloatArray]
    width: FloatArray
    predict: Callable[[FloatArray], tuple[FloatArray, FloatArray]]
    has_model: bool
    sign: float
    headline: str
    logarithmic: frozenset[int] = frozenset()


def draw(view: View, names: Sequence[str] | None, value: str) -> Any:
    """The figure. names: of the coordinates; value: of f."""
    from phenes.plots.slices import PANELS, Slices, figure, grids  # does not wait for matplotlib

    dim = view.answer.size
    labels = tuple(f"coordinate {k}" for k in range(dim))
    if names is not None:
        labels = _validate.words("names", names, dim)
    points = view.seen.point
    reached = np.concatenate([points, view.pending, view.answer[None]])
    grid = grids(reached, *view.bounds, view.width)
    lines = np.tile(view.answer, (*grid.shape, 1))
    for k, line in enumerate(lines):
        line[:, k] = grid[k]
    mean, error = view.predict(lines.reshape(-1, dim))
    note = ""
    if not np.isfinite(mean).any():
        note = TOO_EARLY if view.has_model else NO_MODEL
    if len(labels) > PANELS:
        note = f"{note} The first {PANELS} of {len(labels)} parameters.".strip()
    return figure(
        Slices(
            view.headline,
            note,
            labels,
            value,
            grid,
            view.sign * mean.reshape(grid.shape),
            error.reshape(grid.shape),
            points,
            view.sign * view.seen.f,
            view.pending,
            view.answer,
            view.fun,
            view.fun_se,
            view.noise,
            view.logarithmic,
        )
    )
