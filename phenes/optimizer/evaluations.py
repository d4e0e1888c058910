"""Evaluations on their way into the record, as arrays: what was intended, what was realised, what
it was worth.
"""

from dataclasses import dataclass

import numpy as np

from phenes.execution.task import Outcome


@dataclass
class Row:
    """One evaluation. index: its number in the generation, or in the run if there are none; tell:
    which of the optimiser's updates by parts it belongs to; asked: how many points had been asked
    for before that."""

    index: int
    theta: np.ndarray
    x: np.ndarray
    f: float
    error: str = ""
    tell: int = 0
    asked: int = 0


def row(index: int, theta: np.ndarray, x: np.ndarray, outcome: Outcome, realises: bool) -> Row:
    """x is what f was given; where f realises x itself that is theta, and x is what it says, or
    unknown.
    """
    realised = (np.full_like(theta, np.nan) if outcome.x is None else outcome.x) if realises else x
    return Row(index, theta, realised, outcome.value, outcome.error)


def to_arrays(rows: list[Row]) -> dict[str, np.ndarray]:
    """Columns that say nothing are left out."""
    arrays = {
        name: np.array([getattr(row, name) for row in rows])
        for name in ("index", "theta", "x", "f")
    }
    if any(row.error for row in rows):
        arrays["error"] = np.array([row.error[:1000] for row in rows])
    if any(row.asked for row in rows):
        arrays |= {
            name: np.array([getattr(row, name) for row in rows]) for name in ("tell", "asked")
        }
    return arrays


def from_arrays(arrays: dict[str, np.ndarray]) -> list[Row]:
    n = len(arrays["f"])
    index = arrays.get("index", np.arange(n))
    error = arrays.get("error", np.full(n, ""))
    tell, asked = (arrays.get(name, np.zeros(n, int)) for name in ("tell", "asked"))
    columns = zip(index, arrays["theta"], arrays["x"], arrays["f"], error, tell, asked, strict=True)
    return [
        Row(int(i), theta, x, float(f), str(error), int(tell), int(asked))
        for i, theta, x, f, error, tell, asked in columns
    ]
