"""Arrays as JSON has them, to the last bit, and back.

A float is written as the shortest decimal that reads back as the same float. JSON knows neither NaN
nor infinity: these are null and the words "inf" and "-inf".
"""

from typing import Any, cast

import numpy as np

from phenes import _validate
from phenes._validate import FloatArray

WORDS = {"inf": np.inf, "-inf": -np.inf}
DEEPEST = 3  # axes that an array in a file may have


def to_plain(array: Any) -> Any:
    """Nested lists of numbers, null and words."""
    values = np.asarray(array, np.float64)
    plain = values.tolist()
    return plain if np.all(np.isfinite(values)) else _special(plain)


def _special(value: Any) -> Any:
    if isinstance(value, list):
        return [_special(each) for each in cast("list[Any]", value)]
    if np.isnan(value):
        return None
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def from_plain(name: str, value: Any, axes: int | None = None) -> FloatArray:
    """The reverse; a ValueError if it is anything else. axes: how many it must have."""
    array = _validate.numbers(name, _numbers(value, DEEPEST))
    if axes is not None and array.ndim != axes:
        # a list without rows does not say how long they are
        raise ValueError(f"{name} must have {axes} axes, got shape {array.shape}")
    return array


def _numbers(value: Any, depth: int) -> Any:
    if isinstance(value, list):
        if not depth:
            raise ValueError("lists are nested too deeply")
        return [_numbers(each, depth - 1) for each in cast("list[Any]", value)]
    return WORDS.get(value, value) if isinstance(value, str) else value
