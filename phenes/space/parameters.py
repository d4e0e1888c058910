"""The kinds of parameters: what each may be, and the coordinates that stand for it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from phenes import _validate
from phenes._validate import FloatArray

LEAST_OPTIONS = 2


class Parameter(ABC):
    """One parameter: a range of values, and how they are coordinates of a vector.

    Attributes
    ----------
    unit : str
        Of values, for tables and pictures.
    lower, upper, middle : ndarray, shape (k,)
        The range and where a search starts, in its k coordinates.
    std : ndarray, shape (k,)
        Standard deviations of the noise in its coordinates; zeros for what is realised exactly.
    """

    unit: str = ""
    lower: FloatArray
    upper: FloatArray
    middle: FloatArray
    std: FloatArray

    def encode(self, name: str, value: Any) -> FloatArray:
        """Coordinates of an intended or measured value.

        Parameters
        ----------
        name : str
            Of the parameter, for error messages.
        value : object
            In the unit of the parameter; it may lie outside the range.

        Returns
        -------
        ndarray, shape (k,)

        Raises
        ------
        ValueError
            If there is no such value.
        """
        return self._encode(name, value)

    def decode(self, coordinates: FloatArray) -> Any:
        """The value at some coordinates.

        Parameters
        ----------
        coordinates : ndarray, shape (k,)
            NaN for what was not measured.

        Returns
        -------
        object
            NaN, or None of a choice, for what was not measured.
        """
        return self._decode(coordinates)

    def described(self) -> dict[str, Any]:
        """The parameter as plain data, as it is written in files.

        Returns
        -------
        dict
        """
        return self._described()

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return self.lower.size

    @property
    def exact(self) -> bool:
        """Whether no noise was declared for it."""
        return not self.std.any()

    def tolerance(self) -> str:
        """The noise in words; empty if there is none.

        Returns
        -------
        str
        """
        return self._tolerance()

    def range(self) -> str:
        """The range in words.

        Returns
        -------
        str
        """
        return self._range()

    @abstractmethod
    def _encode(self, name: str, value: Any) -> FloatArray: ...

    @abstractmethod
    def _decode(self, coordinates: FloatArray) -> Any: ...

    @abstractmethod
    def _described(self) -> dict[str, Any]: ...

    def _tolerance(self) -> str:
        return ""

    def _range(self) -> str:
        low, high = (write(self.decode(side)) for side in (self.lower, self.upper))
        return f"{low} to {high}"

    def __repr__(self) -> str:
        (kind, values), *others = self.described().items()
        more = [f"{name}={value!r}" for name, value in others]
        return f"{kind.capitalize()}({', '.join([*map(repr, values), *more])})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Parameter) and self.described() == other.described()

    def __hash__(self) -> int:
        return hash(repr(self))


class Real(Parameter):
    """A real number within a range.

    Parameters
    ----------
    low, high : float
        The range of intended values. What is realised may lie outside.
    unit : str, optional
        For tables and pictures.
    noise : float, optional
        Standard deviation of what is realised around what is intended, in the same unit; smaller
        than the range. 0: realised exactly.

    Raises
    ------
    ValueError
        If the range is empty, or the noise negative or as large as the range.

    Examples
    --------
    >>> Real(50, 300, unit="mm", noise=4.0).range()
    '50 to 300'
    """

    def __init__(self, low: float, high: float, *, unit: str = "", noise: float = 0.0):
        ends = _ends(type(self).__name__, low, high)
        self._set(*ends, unit, noise)

    def _set(self, low: float, high: float, unit: Any, noise: Any) -> None:
        """low, high: in the coordinate."""
        self.unit = _validate.text("unit", unit)
        self.lower, self.upper = np.array([low]), np.array([high])
        self.middle = (self.lower + self.upper) / 2
        std = float(_validate.positive("noise", noise, strict=False))
        if std >= high - low:
            raise ValueError(
                f"noise must be smaller than the range of {high - low:g} between low and high,"
                f" got {_validate.quote(noise)}"
            )
        self.std = np.array([std])

    def _encode(self, name: str, value: Any) -> FloatArray:
        return np.array([_validate.measured(name, value)])

    def _decode(self, coordinates: FloatArray) -> float:
        return float(coordinates[0])

    def _described(self) -> dict[str, Any]:
        ends = [_short(self.decode(side)) for side in (self.lower, self.upper)]
        more = {"unit": self.unit, "noise": _short(self.std[0])}
        return {type(self).__name__.lower(): ends} | {k: v for k, v in more.items() if v}

    def _tolerance(self) -> str:
        return "" if self.exact else absolute(self.std[0])


class Log(Real):
    """A positive number that is searched by its logarithm, with a relative error.

    Parameters
    ----------
    low, high : float
        The range of intended values, both positive.
    unit : str, optional
        For tables and pictures.
    noise : float, optional
        Standard deviation of the logarithm of what is realised over what is intended: 0.05 is an
        error of 5 %.

    Raises
    ------
    ValueError
        If the range is empty or not positive, or the noise negative or as large as the range.

    Examples
    --------
    >>> Log(1e-3, 10, noise=0.05).tolerance()
    '± 5 %'
    """

    def __init__(self, low: float, high: float, *, unit: str = "", noise: float = 0.0):
        first, last = _ends("Log", low, high)
        if first <= 0:
            raise ValueError(f"Log must have low above 0, got {_validate.quote(low)}")
        self._set(math.log(first), math.log(last), unit, noise)

    def _encode(self, name: str, value: Any) -> FloatArray:
        plain = _validate.measured(name, value)
        if plain <= 0:
            raise ValueError(f"{name} must be above 0, got {_validate.quote(value)}")
        return np.array([math.log(plain)])

    def _decode(self, coordinates: FloatArray) -> float:
        return float(np.exp(coordinates[0]))

    def _tolerance(self) -> str:
        return "" if self.exact else percent(self.std[0])


class Integer(Parameter):
    """A whole number within a range, realised exactly.

    Parameters
    ----------
    low, high : int
        The smallest and the largest.
    unit : str, optional
        For tables and pictures.

    Raises
    ------
    ValueError
        If the range holds fewer than two numbers.

    Examples
    --------
    >>> Integer(3, 40).decode(Integer(3, 40).middle)
    21
    """

    def __init__(self, low: int, high: int, *, unit: str = ""):
        first, last = (_validate.whole(end) for end in (low, high))
        if first is None or last is None or first >= last:
            raise ValueError(
                "Integer must have whole numbers low below high, got"
                f" {_validate.quote(low)} and {_validate.quote(high)}"
            )
        self.unit = _validate.text("unit", unit)
        self.lower, self.upper = np.array([float(first)]), np.array([float(last)])
        self.middle = np.array([float((first + last) // 2)])
        self.std = np.zeros(1)

    def _encode(self, name: str, value: Any) -> FloatArray:
        plain = _validate.measured(name, value)
        if np.isfinite(plain) and not plain.is_integer():
            raise ValueError(f"{name} must be a whole number, got {_validate.quote(value)}")
        return np.array([plain])

    def _decode(self, coordinates: FloatArray) -> int | float:
        # a law of the whole space may realise what lies between two whole numbers
        value = float(coordinates[0])
        return int(value) if value.is_integer() else value

    def _described(self) -> dict[str, Any]:
        ends = [int(self.lower[0]), int(self.upper[0])]
        return {"integer": ends} | ({"unit": self.unit} if self.unit else {})


class Choice(Parameter):
    """One of some options that have no order, realised exactly.

    Parameters
    ----------
    *options : str, int, float or bool
        Two or more, all different. A search starts at the first.

    Raises
    ------
    ValueError
        If there are fewer than two, or two are equal.

    Examples
    --------
    >>> Choice("A", "B", "C").encode("alloy", "B").tolist()
    [0.0, 1.0, 0.0]
    """

    def __init__(self, *options: Any):
        wrong = [each for each in options if not isinstance(each, str | int | float | bool)]
        if wrong:
            raise ValueError(
                "the options of Choice must be texts, numbers or True and False, got"
                f" {_validate.quote(wrong[0])}"
            )
        if len(options) < LEAST_OPTIONS or _repeats(options):
            raise ValueError(
                f"Choice must have {LEAST_OPTIONS} or more different options, got"
                f" {_validate.quote(list(options))}"
            )
        self.options = options
        self.lower, self.upper = np.zeros(len(options)), np.ones(len(options))
        self.middle = np.eye(len(options))[0]
        self.std = np.zeros(len(options))

    def _encode(self, name: str, value: Any) -> FloatArray:
        if value is None or value != value:  # NaN
            return np.full(self.size, np.nan)
        plain = value.item() if hasattr(value, "item") else value  # a number or text of NumPy
        for k, option in enumerate(self.options):
            if type(plain) is type(option) and plain == option:
                return np.eye(self.size)[k]
        known = ", ".join(map(repr, self.options))
        raise ValueError(f"{name} must be one of {known}, got {_validate.quote(value)}")

    def _decode(self, coordinates: FloatArray) -> Any:
        if np.isnan(coordinates).any():
            return None
        return self.options[int(np.argmax(coordinates))]

    def _range(self) -> str:
        return ", ".join(map(str, self.options))

    def _described(self) -> dict[str, Any]:
        return {"choice": list(self.options)}


def absolute(std: float) -> str:
    """A standard deviation in words."""
    return f"± {std:.3g}"


def percent(std: float) -> str:
    """A relative one in words."""
    return f"± {100 * std:.3g} %"


def write(value: Any) -> str:
    """A value as people read it."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _ends(kind: str, low: Any, high: Any) -> tuple[float, float]:
    first, last = _validate.number("low", low), _validate.number("high", high)
    if first >= last:
        raise ValueError(
            f"{kind} must have low below high, got {_validate.quote(low)} and"
            f" {_validate.quote(high)}"
        )
    return first, last


def _repeats(options: Sequence[Any]) -> bool:
    return len({f"{type(each)} {each}" for each in options}) < len(options)


def _short(number: float) -> float:
    """Without the rounding error of logarithms and exponentials, which files should not show."""
    return float(f"{number:.15g}")
