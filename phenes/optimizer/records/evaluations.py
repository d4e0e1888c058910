"""Evaluations as the loops pass them on, and as columns of the checkpoint."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phenes._validate import FloatArray
from phenes.execution import Outcome

LONGEST_ERROR = 1000  # characters that are stored


@dataclass
class Row:
    """One evaluation: what was intended, what was realised, what it was worth.

    index: its number in the generation, or in the run if there are none. tell: which of the
    optimiser's updates by parts it belongs to. asked: how many points had been asked for before
    that. constraints: names and values, if there are any. lacks: they are not those that were
    expected, which `error` says.
    """

    index: int
    theta: FloatArray
    x: FloatArray
    f: float
    error: str = ""
    tell: int = 0
    asked: int = 0
    constraints: tuple[tuple[str, float], ...] = ()
    lacks: bool = False


def row(index: int, theta: FloatArray, x: FloatArray, outcome: Outcome, realises: bool) -> Row:
    """x is what f was given; where f realises x itself, x is what it says, or unknown."""
    if realises:
        x = np.full_like(theta, np.nan) if outcome.x is None else outcome.x
    held = outcome.constraints
    return Row(index, theta, x, outcome.value, outcome.error, constraints=held)


def to_arrays(rows: list[Row]) -> dict[str, NDArray[Any]]:
    """Rows as columns, one for each field; columns without information are left out."""
    names = ["index", "theta", "x", "f"]
    if any(row.asked for row in rows):
        names += ["tell", "asked"]
    arrays = {name: np.array([getattr(row, name) for row in rows]) for name in names}
    if any(row.error for row in rows):
        arrays["error"] = np.array([row.error[:LONGEST_ERROR] for row in rows])
    return arrays | _held_arrays(rows)


def _held_arrays(rows: list[Row]) -> dict[str, NDArray[Any]]:
    """Constraints: names [J], values [n, J], and which of them rows have, unless all do."""
    names = list(dict.fromkeys(name for row in rows for name, _ in row.constraints))
    if not names:
        return {}
    known = [dict(row.constraints) for row in rows]
    has = np.array([[name in each for name in names] for each in known])
    values = np.array([[each.get(name, np.nan) for name in names] for each in known])
    arrays = {"constraint": np.array(names), "c": values}
    return arrays if has.all() else arrays | {"has": has.astype(np.int64)}


def _held(arrays: Mapping[str, NDArray[Any]], n: int) -> list[tuple[tuple[str, float], ...]]:
    """The reverse, for each row."""
    if "constraint" not in arrays:
        return [()] * n
    names, values = [str(name) for name in arrays["constraint"]], arrays["c"]
    has = arrays.get("has", np.ones(values.shape, int))
    return [
        tuple((name, float(values[k, j])) for j, name in enumerate(names) if has[k, j])
        for k in range(n)
    ]


def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> list[Row]:
    """The rows that `to_arrays` wrote."""
    n = len(arrays["f"])
    index = arrays.get("index", np.arange(n))
    error = arrays.get("error", np.full(n, ""))
    tell = arrays.get("tell", np.zeros(n, int))
    asked = arrays.get("asked", np.zeros(n, int))
    held = _held(arrays, n)
    return [
        Row(
            int(index[k]),
            arrays["theta"][k],
            arrays["x"][k],
            float(arrays["f"][k]),
            str(error[k]),
            int(tell[k]),
            int(asked[k]),
            held[k],
        )
        for k in range(n)
    ]
