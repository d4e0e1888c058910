"""Evaluations in this process: one after the other, or all at once where f takes rows or is
compiled.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from phenes.execution.compiled import compiled
from phenes.execution.pool import Arrived
from phenes.execution.task import Guarded, Outcome, failed, say


class Here:
    """The same as a Pool, without workers."""

    def __init__(
        self,
        f: Callable[..., Any],
        realises: bool,
        vectorized: bool,
        limit: float | None,
        sending: Callable[[int], None] = lambda tag: None,
    ):
        self.f, self.realises, self.vectorized, self.sending = f, realises, vectorized, sending
        self.guarded = Guarded(f, realises, limit)
        self.untried = not realises and not vectorized
        self.compiled: Callable[[np.ndarray], np.ndarray] | None = None
        self.waiting: list[tuple[int, np.ndarray]] = []

    def __len__(self) -> int:
        return len(self.waiting)

    @property
    def room(self) -> int:
        return 0 if self.waiting else 1

    def send(self, tag: int, point: np.ndarray) -> None:
        self.waiting.append((tag, point))

    def take(self) -> Arrived:
        if not self.waiting:
            return []
        if self.untried:
            return self._first()
        rows = self.vectorized or self.compiled is not None
        taken = self.waiting if rows else self.waiting[:1]
        self.waiting = [] if rows else self.waiting[1:]
        tags, points = [tag for tag, _ in taken], np.array([point for _, point in taken])
        for tag in tags:
            self.sending(tag)
        if self.compiled is not None:
            return list(
                zip(tags, [Outcome(None, float(f)) for f in self.compiled(points)], strict=True)
            )
        return list(
            zip(
                tags,
                self._together(points) if self.vectorized else [self.guarded(points[0])],
                strict=True,
            )
        )

    def close(self) -> None:
        self.waiting = []

    def _first(self) -> Arrived:
        """The first value shows whether f is written in JAX: it is then compiled, otherwise the
        value is kept.
        """
        self.untried = False
        tag, point = self.waiting[0]
        self.sending(tag)
        outcome = self.guarded(point)
        if self.guarded.in_jax:
            self.compiled = compiled(self.f, point)
            if self.compiled is not None:
                return self.take()
        self.waiting = self.waiting[1:]
        return [(tag, outcome)]

    def _together(self, points: np.ndarray) -> list[Outcome]:
        try:
            out = self.f(points)
        except Exception as error:
            return [failed(say(error))] * len(points)
        x, f = out if self.realises else (None, out)
        f = np.asarray(f, np.float64)
        if f.shape != (len(points),):
            raise ValueError(
                f"f must return one value for each of the {len(points)} rows when vectorized, got"
                f" shape {f.shape}"
            )
        xs = [None] * len(points) if x is None else np.asarray(x, np.float64)
        return [Outcome(x, float(value)) for x, value in zip(xs, f, strict=True)]
