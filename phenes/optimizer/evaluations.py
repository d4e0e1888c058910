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
    that.
    """

    index: int
    theta: FloatArray
    x: FloatArray
    f: float
    error: str = ""
    tell: int = 0
    asked: int = 0


def row(index: int, theta: FloatArray, x: FloatArray, outcome: Outcome, realises: bool) -> Row:
    """x is what f was given; where f realises x itself, x is what it says, or unknown."""
    if realises:
        x = np.full_like(theta, np.nan) if outcome.x is None else outcome.x
    return Row(index, theta, x, outcome.value, outcome.error)


def to_arrays(rows: list[Row]) -> dict[str, NDArray[Any]]:
    """Rows as columns, one for each field; columns without information are left out."""
    names = ["index", "theta", "x", "f"]
    if any(row.asked for row in rows):
        names += ["tell", "asked"]
    arrays = {name: np.array([getattr(row, name) for row in rows]) for name in names}
    if any(row.error for row in rows):
        arrays["error"] = np.array([row.error[:LONGEST_ERROR] for row in rows])
    return arrays


def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> list[Row]:
    """The rows that `to_arrays` wrote."""
    n = len(arrays["f"])
    index = arrays.get("index", np.arange(n))
    error = arrays.get("error", np.full(n, ""))
    tell = arrays.get("tell", np.zeros(n, int))
    asked = arrays.get("asked", np.zeros(n, int))
    return [
        Row(
            int(index[k]),
            arrays["theta"][k],
            arrays["x"][k],
            float(arrays["f"][k]),
            str(error[k]),
            int(tell[k]),
            int(asked[k]),
        )
        for k in range(n)
    ]
