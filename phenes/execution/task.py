"""One evaluation, wherever it runs: f at a point, as plain data.

Nothing that f raises travels by itself: an exception that cannot be unpickled would break the pool
that carries it.
"""

import contextlib
import functools
import pickle
import signal
import threading
from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple, cast

import numpy as np

from phenes._validate import FloatArray, quote

NOTHING = "f returned None"  # error of an evaluation without a value
# errors of evaluations whose constraints are not wanted, and whose wanted constraints are missing
UNASKED = (
    "f returned constraints, and constraints= does not say how surely they must hold: give"
    " constraints=phenes.chance(0.95), or another probability"
)
LACKING = (
    "f returned no constraints, which constraints= asks for: it must return a value and a mapping,"
    " such as (cost, {'stress': s - limit})"
)
NAMELESS = "c{}"  # names of constraints that come as plain numbers


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
    constraints : tuple of (str, float)
        Their names and values, if f has any.
    """

    x: FloatArray | None
    value: float
    error: str = ""
    constraints: tuple[tuple[str, float], ...] = ()


class Late(BaseException):
    """Not an Exception: an f that catches everything must not catch its own time-out."""


class Guarded:
    """f at one point. `in_jax` says after a call whether the value was JAX's."""

    def __init__(
        self,
        f: Callable[..., Any],
        realises: bool,
        limit: float | None = None,
        constrained: bool = False,
    ):
        self.f, self.realises, self.limit, self.in_jax = f, realises, limit, False
        self.constrained = constrained

    def __call__(self, point: FloatArray) -> Outcome:
        try:
            if self.limit is None:  # a context costs more than many an f
                out = self.f(point.copy())
            else:
                with _alarm(self.limit):
                    out = self.f(point.copy())
            x, value, held = taken_apart(out, self.realises, self.constrained)
            self.in_jax = type(value).__module__.startswith("jax")  # without importing JAX to ask
            realised = None if x is None else np.asarray(x, np.float64).reshape(point.shape)
            if not self.constrained:
                return outcome(realised, value)
            return constrained_outcome(realised, value, held)
        except Late:
            return failed(f"TimeoutError: no value within {self.limit:g} s")
        except (Exception, SystemExit) as error:
            return failed(say(error))


def remote(
    blob: bytes,
    realises: bool,
    limit: float | None,
    point: FloatArray,
    constrained: bool = False,
) -> Outcome:
    """What a worker does: an f that cannot be loaded there is a failed evaluation."""
    try:
        f = _load(blob, realises, constrained)
    except Exception as error:
        return failed(f"the function cannot be loaded on the worker: {say(error)}")
    return f(limit, point)


class OnWorker:
    """f on a worker: compiled if it is written in JAX, as it is in one process."""

    def __init__(self, f: Callable[..., Any], realises: bool, constrained: bool = False):
        self.f, self.realises, self.untried = f, realises, not realises
        self.constrained = constrained
        self.compiled: Callable[[FloatArray], list[Outcome]] | None = None

    def __call__(self, limit: float | None, point: FloatArray) -> Outcome:
        if self.compiled is None:
            guarded = Guarded(self.f, self.realises, limit, self.constrained)
            first = guarded(point)
            if self.untried and guarded.in_jax:
                from phenes.execution.compiled import outcomes

                self.compiled = outcomes(self.f, point, first, self.constrained)
            self.untried = False
            if self.compiled is None:
                return first
        return self.compiled(point[None])[0]


@functools.lru_cache(maxsize=8)
def _load(blob: bytes, realises: bool, constrained: bool) -> OnWorker:
    return OnWorker(pickle.loads(blob), realises, constrained)


def number(value: Any) -> float:
    if isinstance(value, float):
        return float(value)
    array = np.asarray(value, np.float64)
    if array.size != 1:
        raise TypeError(f"f must return a number, got shape {array.shape}")
    return float(array.reshape(()))


def outcome(x: FloatArray | None, value: Any) -> Outcome:
    """What f returned at one point; x is kept of an evaluation without a value too."""
    return Outcome(x, np.nan, NOTHING) if value is None else Outcome(x, number(value))


def taken_apart(out: Any, realises: bool, constrained: bool) -> tuple[Any, Any, Any]:
    """x, value and constraints of what f returned, None for what it does not have.

    A value of None is a failed evaluation, with or without constraints.
    """
    known = 2 if realises else 1
    given: tuple[Any, ...] = (out,)
    if isinstance(out, tuple | list):
        given = tuple(cast("list[Any]", out))
    if constrained:
        if len(given) == known:
            given = (*given, None)
        if len(given) != known + 1:
            raise TypeError(LACKING)
        return given if realises else (None, *given)
    if len(given) == known + 1 and isinstance(given[-1], Mapping):
        raise TypeError(UNASKED)
    if realises:
        x, value = given
        return x, value, None
    return None, cast(Any, out), None


def constrained_outcome(x: FloatArray | None, value: Any, held: Any) -> Outcome:
    """`outcome` with constraints; a value without any keeps what it is, and says what it lacks."""
    known = outcome(x, value)
    pairs = () if held is None else named(held)
    if not pairs and not known.error and np.isfinite(known.value):
        return known._replace(error=LACKING)
    return known._replace(constraints=pairs)


def named(held: Any) -> tuple[tuple[str, float], ...]:
    """Constraints at one point by name; None is one that is not known, and does not hold."""
    if not isinstance(held, Mapping):
        values = cast("list[Any]", np.atleast_1d(np.asarray(held, object)).tolist())
        held = {NAMELESS.format(k): value for k, value in enumerate(values)}
    pairs = cast("Mapping[Any, Any]", held)
    return tuple((str(name), _constraint(str(name), value)) for name, value in pairs.items())


def _constraint(name: str, value: Any) -> float:
    if value is None:
        return np.nan
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.size != 1 or isinstance(value, str | bytes):
        raise TypeError(f"constraint {name!r} must be a number, got {quote(value)}")
    return float(array.reshape(()))


def failed(error: str) -> Outcome:
    return Outcome(None, np.nan, error)


def say(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # some cannot even be printed
        return type(error).__name__


@contextlib.contextmanager
def _alarm(seconds: float) -> Generator[None]:
    """Time out what runs inside, in the main thread; elsewhere the caller's wait times out."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not hasattr(signal, "setitimer") or not in_main_thread:
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
