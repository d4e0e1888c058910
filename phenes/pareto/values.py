"""f of one number or of two, as workers can carry it: a value, and all values by name beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from phenes._validate import FloatArray, quote

NAMES = ("f1", "f2")  # of two numbers that come without names
ALONE = ""  # the name of a single number
CONSTRAINED = (
    "a front takes no constraints: f must return a number, or two of them as a tuple or by name;"
    " let f return NaN where a limit is violated, or use minimize with constraints="
)
NUMBERS = "f must return a number, or two of them as a tuple or by name, got {}"


class Values:
    """f whose outcome has its values by name; see `Outcome.constraints`, which carries them.

    Parameters
    ----------
    f : callable
        Of a vector.
    realises : bool
        f returns (x, values).
    """

    def __init__(self, f: Callable[..., Any], realises: bool):
        self.f, self.realises = f, realises

    def __call__(self, point: FloatArray) -> Any:
        """What f returns at a point, as `Evaluate` takes it of a function with constraints."""
        out = self.f(point)
        x: tuple[Any, ...] = ()
        if self.realises:
            measured, out = out
            x = (measured,)
        named = values_of(out)
        return (*x, next(iter(named.values())), named)


def values_of(out: Any) -> dict[str, Any]:
    """The values of what f returned, by name.

    Parameters
    ----------
    out : object
        A number, two of them, or a mapping of two.

    Returns
    -------
    dict of str to object
        One or two; the name of a single one is empty.

    Raises
    ------
    TypeError
        If it is something else.
    """
    if isinstance(out, Mapping):
        named = {str(k): v for k, v in cast("Mapping[Any, Any]", out).items()}
        if len(named) != len(NAMES):
            raise TypeError(NUMBERS.format(f"{len(named)} by name"))
        return named
    if isinstance(out, tuple | list) or (isinstance(out, np.ndarray) and out.size > 1):
        given = list(cast("list[Any]", out))
        if any(isinstance(each, Mapping) for each in given):
            raise TypeError(CONSTRAINED)
        if len(given) != len(NAMES):
            raise TypeError(NUMBERS.format(quote(out)))
        return dict(zip(NAMES, given, strict=True))
    return {ALONE: out}


def row_of(
    held: tuple[tuple[str, float], ...], error: str, names: tuple[str, ...]
) -> tuple[FloatArray, str]:
    """Values (c,) of an evaluation, NaN if it failed, and what went wrong.

    Parameters
    ----------
    held : tuple of (str, float)
        The values by name, as `Values` returned them.
    error : str
        What went wrong.
    names : tuple of str
        That values have.

    Returns
    -------
    tuple of ndarray and str
    """
    given = dict(held)
    nothing = np.full(len(names), np.nan)
    if error or not given:
        return nothing, error
    if set(given) != set(names):
        words = "{} number(s), {}".format
        before, now = (words(len(n), ", ".join(n) or "f") for n in (names, tuple(given)))
        return nothing, f"TypeError: f returned {now}, and before {before}"
    found = np.array([given[name] for name in names])
    return (found if np.all(np.isfinite(found)) else nothing), ""
