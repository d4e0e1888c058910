"""Where f runs: here, compiled here if it is written in JAX, or on any `concurrent.futures.Executor`.

An exception in f is a failed evaluation and comes back as data, on workers too: one part that broke must not cost the others.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np


class Values(NamedTuple):
    """x [n, d] or None, f [n] with NaN for what failed, and what the failed ones said."""

    x: np.ndarray | None
    f: np.ndarray
    errors: list[str]


class Evaluate:
    """A function of the user's, made into one of populations [n, d] -> Values.

    realises: f takes theta and returns (x, value) itself. vectorized: f takes [n, d]. workers: a number of processes, or an Executor.
    """

    def __init__(self, f: Callable[..., Any], *, realises: bool = False, vectorized: bool = False, workers: int | Executor | None = None):
        self.f, self.realises, self.vectorized = f, realises, vectorized
        self.executor = _executor(workers)
        if vectorized and self.executor is not None:
            raise ValueError("vectorized and workers exclude each other: a function of whole populations runs in one place")
        self.compiled: Callable[[np.ndarray], np.ndarray] | None = None
        self.untried = True

    def __call__(self, points: np.ndarray) -> Values:
        if self.vectorized:
            return self._together(points)
        if self.untried and not self.realises and self.executor is None:
            return self._first(points)
        if self.compiled is not None:
            return Values(None, self.compiled(points), [])
        return self._collect(points, self._each(points))

    def _first(self, points: np.ndarray) -> Values:
        """The first value shows whether f is written in JAX: it is then compiled, otherwise the value is kept and the others follow."""
        self.untried, guarded = False, _Guarded(self.f, False)
        first = guarded(points[0])
        self.compiled = _compiled(self.f, points[0]) if guarded.in_jax else None
        return self(points) if self.compiled else self._collect(points, [first, *self._each(points[1:])])

    def _each(self, points: np.ndarray) -> list[Any]:
        return list((map if self.executor is None else self.executor.map)(_Guarded(self.f, self.realises), points))

    def _collect(self, points: np.ndarray, outcomes: list[Any]) -> Values:
        f = np.array([value for _, value, _ in outcomes])
        x = np.array([p if x is None else x for p, (x, _, _) in zip(points * np.nan, outcomes, strict=True)]) if self.realises else None
        return Values(x, f, [error for *_, error in outcomes if error])

    def _together(self, points: np.ndarray) -> Values:
        try:
            out = self.f(points)
        except Exception as error:
            return Values(points * np.nan if self.realises else None, np.full(len(points), np.nan), [_say(error)] * len(points))
        x, f = out if self.realises else (None, out)
        f = np.asarray(f, np.float64)
        if f.shape != (len(points),):
            raise ValueError(f"f must return one value for each of the {len(points)} rows when vectorized, got shape {f.shape}")
        return Values(None if x is None else np.asarray(x, np.float64), f, [])


class _Guarded:
    """f at one point: (x or None, value, error or ""). A class, so that workers can unpickle it."""

    def __init__(self, f: Callable[..., Any], realises: bool):
        self.f, self.realises, self.in_jax = f, realises, False

    def __call__(self, point: np.ndarray) -> tuple[np.ndarray | None, float, str]:
        try:
            out = self.f(point.copy())
            x, value = out if self.realises else (None, out)
            self.in_jax = type(value).__module__.startswith("jax")  # without importing JAX to ask
            return (None if x is None else np.asarray(x, np.float64).reshape(point.shape)), _number(value), ""
        except Exception as error:
            return None, np.nan, _say(error)


def _number(value: Any) -> float:
    array = np.asarray(value, np.float64)
    if array.size != 1:
        raise TypeError(f"f must return a number, got shape {array.shape}")
    return float(array.reshape(()))


def _say(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _executor(workers: int | Executor | None) -> Executor | None:
    if workers is None or (isinstance(workers, int) and not isinstance(workers, bool) and workers == 1):
        return None
    if isinstance(workers, int) and not isinstance(workers, bool) and workers > 1:
        from loky import get_reusable_executor  # functions of notebooks and lambdas travel too

        return get_reusable_executor(max_workers=workers)
    if hasattr(workers, "submit") and hasattr(workers, "map"):
        return workers  # pyright: ignore[reportReturnType]
    raise ValueError(f"workers must be a number of processes of at least 1 or an Executor, got {workers!r}")


def _compiled(f: Callable[..., Any], point: np.ndarray) -> Callable[[np.ndarray], np.ndarray] | None:
    """f on whole populations under jit, if it can be traced."""
    import jax

    with jax.enable_x64(True):
        try:
            jax.eval_shape(f, jax.numpy.asarray(point))
        except Exception:
            return None
    together = jax.jit(jax.vmap(f))

    def evaluate(points: np.ndarray) -> np.ndarray:
        n = len(points)
        # a power of two: populations change size, compilations should not follow each
        padded = np.concatenate([points, np.repeat(points[-1:], (1 << (n - 1).bit_length()) - n, axis=0)])
        with jax.enable_x64(True):
            return np.asarray(together(jax.numpy.asarray(padded)), np.float64).reshape(len(padded))[:n]

    return evaluate
