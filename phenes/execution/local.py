"""Evaluations in this process: one by one, or all at once where f takes rows or is compiled."""

import sys
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from phenes import _validate
from phenes._validate import FloatArray
from phenes.execution.compiled import outcomes
from phenes.execution.pool import Arrived
from phenes.execution.task import (
    Guarded,
    Outcome,
    constrained_outcome,
    failed,
    outcome,
    say,
    taken_apart,
)


class LocalPool:
    """A `Pool` without workers."""

    def __init__(
        self,
        f: Callable[..., Any],
        realises: bool,
        vectorized: bool,
        limit: float | None,
        constrained: bool = False,
    ):
        self.f, self.realises, self.vectorized = f, realises, vectorized
        self.constrained = constrained
        self.guarded = Guarded(f, realises, limit, constrained)
        self.untried = not realises and not vectorized
        self.compiled: Callable[[FloatArray], list[Outcome]] | None = None
        self.waiting: list[tuple[int, FloatArray]] = []

    def __len__(self) -> int:
        return len(self.waiting)

    @property
    def room(self) -> int:
        """See `Pool`; one call of a vectorised f takes any number."""
        if self.vectorized:
            return sys.maxsize
        return 0 if self.waiting else 1

    def send(self, tag: int, point: FloatArray) -> None:
        """See `Pool`."""
        self.waiting.append((tag, point))

    def take(self) -> Arrived:
        """See `Pool`."""
        if not self.waiting:
            return []
        if self.untried:
            return self._first()
        if self.vectorized or self.compiled is not None:
            taken, self.waiting = self.waiting, []
            points = np.array([point for _, point in taken])
            tags = [tag for tag, _ in taken]
            return list(zip(tags, self._together(points), strict=True))
        tag, point = self.waiting.pop(0)
        return [(tag, self.guarded(point))]

    def close(self) -> None:
        """See `Pool`."""
        self.waiting = []

    def _first(self) -> Arrived:
        """The first value shows whether f is written in JAX: it is then compiled."""
        self.untried = False
        tag, point = self.waiting[0]
        outcome = self.guarded(point)
        if self.guarded.in_jax:
            self.compiled = outcomes(self.f, point, outcome, self.constrained)
            if self.compiled is not None:
                return self.take()
        self.waiting = self.waiting[1:]
        return [(tag, outcome)]

    def _together(self, points: FloatArray) -> list[Outcome]:
        if self.compiled is not None:
            return self.compiled(points)
        try:
            out = self.f(points)
        except Exception as error:
            return [failed(say(error))] * len(points)
        f: Any
        try:
            x, f, held = taken_apart(out, self.realises, self.constrained)
        except TypeError as error:
            return [failed(say(error))] * len(points)
        try:
            values = np.asarray(f, object if isinstance(f, list | tuple) else np.float64)
        except Exception:  # what f returns may be anything
            values = np.empty(0)
        if values.shape != (len(points),):
            raise ValueError(
                f"f must return one value for each of the {len(points)} rows when vectorized, got"
                f" {_validate.quote(out)}"
            )
        rows = [None] * len(points) if x is None else np.asarray(x, np.float64)
        if not self.constrained:
            return [outcome(row, value) for row, value in zip(rows, values, strict=True)]
        each = zip(rows, values, _by_row(held, len(points)), strict=True)
        return [_one_row(row, value, given) for row, value, given in each]


def _by_row(held: Any, n: int) -> list[Any]:
    """Constraints of n rows: what each of them has."""
    if held is None:
        return [None] * n
    if isinstance(held, Mapping):
        columns = cast("Mapping[Any, Any]", held)
        for name, column in columns.items():
            if np.shape(column) != (n,):
                raise ValueError(
                    f"constraint {str(name)!r} must have one value for each of the {n} rows when"
                    f" vectorized, got {_validate.quote(column)}"
                )
        return [{name: column[k] for name, column in columns.items()} for k in range(n)]
    if np.ndim(held) != 2 or len(held) != n:
        raise ValueError(
            f"constraints must be a mapping of names to {n} values, or an array with {n} rows,"
            f" when vectorized, got {_validate.quote(held)}"
        )
    return list(np.asarray(held, object))


def _one_row(x: Any, value: Any, held: Any) -> Outcome:
    try:
        return constrained_outcome(x, value, held)
    except TypeError as error:
        return failed(say(error))
