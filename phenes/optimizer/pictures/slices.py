"""What the picture of an Optimizer is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from phenes import _validate
from phenes._validate import FloatArray
from phenes.evidence import Observations
from phenes.space import Choice, Integer, Log, Space

NO_MODEL = (
    "The evolution strategy has no model of E f where it has not been: dots are single evaluations."
)
TOO_EARLY = "There is no model yet: too few values, or all of them equal."


class View(NamedTuple):
    """What is known of a run. predict: theta (n, d) -> E f and its error, as minimised.

    sign: -1 if f is maximised. space: the named parameters, if there are any.
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
    space: Space | None = None


class Along(NamedTuple):
    """A parameter in a picture. first, size: its coordinates; kind: None of a plain vector.

    A choice has a coordinate for each option, of which one is 1; drawn is the number of the option.
    """

    name: str
    first: int
    size: int = 1
    kind: Any = None

    def of(self, rows: FloatArray) -> FloatArray:
        """Where rows (n, d) lie along it, (n,)."""
        own = rows[:, self.first : self.first + self.size]
        return np.argmax(own, axis=1).astype(float) if self.options else own[:, 0]

    def put(self, line: FloatArray, at: FloatArray) -> None:
        """Set rows (m, d) to values (m,) of it."""
        if self.options:
            line[:, self.first : self.first + self.size] = np.eye(self.size)[at.astype(int)]
        else:
            line[:, self.first] = at

    @property
    def options(self) -> tuple[str, ...]:
        """What may be chosen, as words."""
        return tuple(map(str, self.kind.options)) if isinstance(self.kind, Choice) else ()

    def values(self, grid: FloatArray) -> FloatArray:
        """Those of a grid (m,) of its first coordinate that there are; NaN after the last."""
        if self.options:
            found = np.arange(float(self.size))
        elif isinstance(self.kind, Integer):
            found = np.unique(np.rint(grid))
            found = found[(found >= self.kind.lower[0]) & (found <= self.kind.upper[0])]
        else:
            return grid
        return np.concatenate([found, np.full(grid.size, np.nan)])[: grid.size]


def parameters(view: View, names: Sequence[str] | None) -> tuple[Along, ...]:
    """The parameters of a run, with the names that the user gives, if any."""
    if view.space is None:
        dim = view.answer.size
        words = tuple(f"coordinate {k}" for k in range(dim))
        words = words if names is None else _validate.words("names", names, dim)
        return tuple(Along(word, k) for k, word in enumerate(words))
    known = view.space.parameters
    words = tuple(f"{name}, {each.unit}" if each.unit else name for name, each in known.items())
    words = words if names is None else _validate.words("names", names, len(known))
    out: list[Along] = []
    first = 0
    for word, each in zip(words, known.values(), strict=True):
        out.append(Along(word, first, each.size, each))
        first += each.size
    return tuple(out)


def draw(view: View, names: Sequence[str] | None, value: str) -> Any:
    """The figure. names: of the parameters; value: of f."""
    from phenes.plots.slices import PANELS, Slices, figure, grids  # does not wait for matplotlib

    axes = parameters(view, names)
    points = view.seen.point
    reached = np.concatenate([points, view.pending, view.answer[None]])
    ranges = grids(reached, *view.bounds, view.width)
    grid: FloatArray = np.stack([each.values(ranges[each.first]) for each in axes])
    lines: FloatArray = np.tile(view.answer, (*grid.shape, 1))
    for k, each in enumerate(axes):
        each.put(lines[k], np.nan_to_num(grid[k], nan=float(grid[k, 0])))
    mean, error = view.predict(lines.reshape(-1, view.answer.size))
    mean, error = (
        np.where(np.isfinite(grid), part.reshape(grid.shape), np.nan) for part in (mean, error)
    )
    note = ""
    if not np.isfinite(mean).any():
        note = TOO_EARLY if view.has_model else NO_MODEL
    if len(axes) > PANELS:
        note = f"{note} The first {PANELS} of {len(axes)} parameters.".strip()
    logs, whole = (
        frozenset(k for k, each in enumerate(axes) if isinstance(each.kind, kind))
        for kind in (Log, Integer)
    )

    def along(rows: FloatArray) -> FloatArray:
        return np.stack([each.of(rows) for each in axes], axis=1)

    return figure(
        Slices(
            view.headline,
            note,
            tuple(each.name for each in axes),
            value,
            grid,
            view.sign * mean,
            error,
            along(points),
            view.sign * view.seen.f,
            along(view.pending),
            along(view.answer[None])[0],
            view.fun,
            view.fun_se,
            np.array([0.0 if each.options else view.noise[each.first] for each in axes]),
            logs,
            whole,
            {k: each.options for k, each in enumerate(axes) if each.options},
        )
    )
