"""The evaluations of a run as users get them: arrays, and tables for other tools."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phenes._validate import FloatArray

if TYPE_CHECKING:
    from phenes.space import Columns, Space


class Evaluations(NamedTuple):
    """Arrays with one row for each evaluation, in the order in which they were told.

    Attributes
    ----------
    theta : ndarray, shape (n, d), or Columns
        What was intended; in a space by name.
    x : ndarray, shape (n, d), or Columns
        What was realised; NaN coordinates were not measured.
    f : ndarray, shape (n,)
        Values; NaN where there was no finite one.
    phase : ndarray of str, shape (n,)
        What they were made for: "verify", or what the search was doing.
    constraints : dict of str to ndarray, shape (n,)
        Constraints by name; NaN where they are not known.
    further : dict of str to ndarray, shape (n,)
        Values beside f by name, of an f that returns two.
    """

    theta: FloatArray | Columns
    x: FloatArray | Columns
    f: FloatArray
    phase: NDArray[np.str_] = np.empty(0, dtype=str)
    constraints: Mapping[str, FloatArray] = MappingProxyType({})
    further: Mapping[str, FloatArray] = MappingProxyType({})

    def named(self, space: Space) -> Evaluations:
        """The same with values by name.

        Parameters
        ----------
        space : Space
            Of the vectors.

        Returns
        -------
        Evaluations
        """
        return self._replace(theta=space.columns(self.theta), x=space.columns(self.x))

    def columns(self) -> dict[str, NDArray[Any]]:
        """Columns of a table: theta_NAME, x_NAME, f, others by their names, and phase.

        Returns
        -------
        dict of str to ndarray, shape (n,)
            NAME is that of a parameter, or the number of a coordinate. A constraint whose name
            another column has is called constraint_NAME, a further value value_NAME.
        """
        out: dict[str, NDArray[Any]] = {}
        for kind, part in (("theta", self.theta), ("x", self.x)):
            named = part if isinstance(part, Mapping) else dict(enumerate(part.T))
            out |= {f"{kind}_{name}": column for name, column in named.items()}
        phase = self.phase if len(self.phase) else np.full(self.f.size, "")
        out["f"] = self.f
        for name, column in self.further.items():
            out[f"value_{name}" if name in (*out, "phase") else name] = column
        for name, column in self.constraints.items():
            out[f"constraint_{name}" if name in (*out, "phase") else name] = column
        return out | {"phase": phase}

    def to_pandas(self) -> Any:
        """A pandas DataFrame of `columns`.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ModuleNotFoundError
            If there is no pandas; `to_csv` needs none.
        """
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        return pd.DataFrame(self.columns())

    def to_csv(self, path: str | Path) -> None:
        """Write `columns` as a file of comma-separated values.

        Parameters
        ----------
        path : str or Path
            Numbers in it are exact; cells of what was not measured are empty.
        """
        columns = self.columns()
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            out.writerow(columns)
            out.writerows(map(_cells, zip(*columns.values(), strict=True)))


def _cells(row: tuple[Any, ...]) -> list[Any]:
    plain: list[Any] = np.array(row, dtype=object).tolist()
    plain = [value.item() if hasattr(value, "item") else value for value in plain]
    return ["" if value is None or value != value else value for value in plain]
