"""Values by name, one or many of each, which know the vectors that they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phenes._validate import FloatArray
from phenes.space.parameters import Parameter, write


class Point(Mapping[str, Any]):
    """The values of all parameters, by name.

    `np.asarray` gives the vector that was searched.

    Parameters
    ----------
    parameters : mapping of str to Parameter
        In the order of their coordinates.
    vector : ndarray, shape (d,)
        Coordinates; NaN for what was not measured.

    Examples
    --------
    >>> from phenes.space import Integer, Real, Space
    >>> space = Space(width=Real(50, 300, unit="mm"), turns=Integer(3, 40))
    >>> print(space.decode([100.0, 7.0]))
    width = 100 mm, turns = 7
    """

    def __init__(self, parameters: Mapping[str, Parameter], vector: FloatArray):
        self._parameters, self._vector = parameters, vector
        ends = np.cumsum([each.size for each in parameters.values()])[:-1]
        parts = zip(parameters.items(), np.split(vector, ends), strict=True)
        self._values = {name: each.decode(part) for (name, each), part in parts}

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self._vector, dtype=dtype)

    def with_unit(self, name: str) -> str:
        """A value as text.

        Parameters
        ----------
        name : str
            Of the parameter.

        Returns
        -------
        str
        """
        unit = self._parameters[name].unit
        return f"{write(self[name])} {unit}" if unit else write(self[name])

    def __str__(self) -> str:
        return ", ".join(f"{name} = {self.with_unit(name)}" for name in self)

    def __repr__(self) -> str:
        return f"Point({self})"


class Columns(Mapping[str, NDArray[Any]]):
    """The values of all parameters in many points: for each name, an array with one for each point.

    `np.asarray` gives the vectors that were searched.

    Parameters
    ----------
    parameters : mapping of str to Parameter
        In the order of their coordinates.
    rows : ndarray, shape (n, d)
        Coordinates.

    Examples
    --------
    >>> from phenes.space import Choice, Log, Space
    >>> space = Space(feed=Log(1, 100), alloy=Choice("A", "B"))
    >>> space.columns([[0.0, 1, 0], [0.0, 0, 1]])["alloy"].tolist()
    ['A', 'B']
    """

    def __init__(self, parameters: Mapping[str, Parameter], rows: FloatArray):
        self._parameters, self._rows = parameters, rows
        ends = np.cumsum([each.size for each in parameters.values()])
        self._ends = dict(zip(parameters, ends.tolist(), strict=True))

    def __getitem__(self, name: str) -> NDArray[Any]:
        # decoded when asked for: a result is made at every step, and its rows are rarely read
        parameter, end = self._parameters[name], self._ends[name]
        part = self._rows[:, end - parameter.size : end]
        return np.array([parameter.decode(row) for row in part])

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self._rows, dtype=dtype)

    def __repr__(self) -> str:
        return f"Columns({', '.join(self)}: {len(self._rows)} rows)"
