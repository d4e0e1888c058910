"""One evaluation, wherever it runs: f at a point, as plain data.

Nothing that f raises travels by itself: an exception that cannot be unpickled would break the pool
that carries it.
"""

import contextlib
import functools
import pickle
import signal
import threading
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np

from phenes._validate import FloatArray

NOTHING = "f returned None"  # error of an evaluation without a value


class Outcome(NamedTuple):
    """What came of one evaluation.

    Attributes
    ----------
    x : ndarray, shape (d,), or None
        What was realised, if f says so.
    value : float
        NaN for a failed evaluation.
    error : str
        What went wrong; empty if nothing did.
    """

    x: FloatArray | None
    value: float
    error: str = ""


class Late(BaseException):
    """Not an Exception: an f that catches everything must not catch its own time-out."""


class Guarded:
    """f at one point. `in_jax` says after a call whether the value was JAX's."""

    def __init__(self, f: Callable[..., Any], realises: bool, limit: float | None = None):
        self.f, self.realises, self.limit, self.in_jax = f, realises, limit, False

    def __call__(self, point: FloatArray) -> Outcome:
        try:
            with _alarm(self.limit):
                out = self.f(point.copy())
            x, value = out if self.realises else (None, out)
            self.in_jax = type(value).__module__.startswith("jax")  # without importing JAX to ask
            realised = None if x is None else np.asarray(x, np.float64).reshape(point.shape)
            return outcome(realised, value)
        except Late:
            return failed(f"TimeoutError: no value within {self.limit:g} s")
        except (Exception, SystemExit) as error:
            return failed(say(error))


def remote(blob: bytes, realises: bool, limit: float | None, point: FloatArray) -> Outcome:
    """What a worker does: an f that cannot be loaded there is a failed evaluation."""
    try:
        f = _load(blob, realises)
    except Exception as error:
        return failed(f"the function cannot be loaded on the worker: {say(error)}")
    return f(limit, point)


class OnWorker:
    """f on a worker: compiled if it is written in JAX, as it is in one process."""

    def __init__(self, f: Callable[..., Any], realises: bool):
        self.f, self.realises, self.untried = f, realises, not realises
        self.compiled: Callable[[FloatArray], FloatArray] | None = None

    def __call__(self, limit: float | None, point: FloatArray) -> Outcome:
        if self.compiled is None:
            guarded = Guarded(self.f, self.realises, limit)
            first = guarded(point)
            if self.untried and guarded.in_jax:
                from phenes.execution.compiled import compiled

                self.compiled = compiled(self.f, point)
            self.untried = False
            if self.compiled is None:
                return first
        return Outcome(None, float(self.compiled(point[None])[0]))


@functools.lru_cache(maxsize=8)
def _load(blob: bytes, realises: bool) -> OnWorker:
    return OnWorker(pickle.loads(blob), realises)


def number(value: Any) -> float:
    array = np.asarray(value, np.float64)
    if array.size != 1:
        raise TypeError(f"f must return a number, got shape {array.shape}")
    return float(array.reshape(()))


def outcome(x: FloatArray | None, value: Any) -> Outcome:
    """What f returned at one point; x is kept of an evaluation without a value too."""
    return Outcome(x, np.nan, NOTHING) if value is None else Outcome(x, number(value))


def failed(error: str) -> Outcome:
    return Outcome(None, np.nan, error)


def say(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # some cannot even be printed
        return type(error).__name__


@contextlib.contextmanager
def _alarm(seconds: float | None) -> Generator[None]:
    """Interrupt what runs inside, in the main thread; elsewhere the one who waits gives up."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    if seconds is None or not hasattr(signal, "setitimer") or not in_main_thread:
        yield
        return

    def ring(*_: Any) -> None:
        raise Late

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)
