"""A set of parameters by name: what `minimize` and `Optimizer` search."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from phenes import _validate
from phenes._validate import FloatArray, IntArray
from phenes.space.columns import Columns, Point
from phenes.space.lattice import Lattice
from phenes.space.parameters import Choice, Integer, Log, Parameter, Real, absolute, percent

KINDS: dict[str, type[Parameter]] = {
    kind.__name__.lower(): kind for kind in (Real, Log, Integer, Choice)
}
FIRST_STEPS = 0.25  # share of a range that is the standard deviation of the first steps


class Space:
    """Named parameters: their ranges, units and scales, and how they are realised.

    Parameters
    ----------
    named : mapping of str to Parameter, optional
        Parameters whose names are no words of Python, or "noise".
    noise : array_like, input law or "learn", optional
        One law for all parameters instead of a `noise` of each: standard deviations (m,), a
        covariance (m, m) or a law of `phenes.inputs`, of the m parameters that are numbers, in
        their order; those of a `Log` by their natural logarithms. "learn": estimated from what is
        measured.
    **parameters : Parameter
        `Real`, `Log`, `Integer` or `Choice`, by name.

    Attributes
    ----------
    parameters : mapping of str to Parameter
        In the order given.
    lower, upper, sigma0 : ndarray, shape (d,)
        Ranges and first steps of the coordinates: a quarter of each range.

    Raises
    ------
    ValueError
        If there is no parameter, one is none, or noise is given twice.

    Examples
    --------
    >>> space = Space(width=Real(50, 300, unit="mm", noise=4.0), turns=Integer(3, 40))
    >>> print(space.decode(space.start()))
    width = 175 mm, turns = 21
    """

    def __init__(
        self,
        named: Mapping[str, Parameter] | None = None,
        /,
        *,
        noise: Any = None,
        **parameters: Any,
    ):
        given = {**(named or {}), **parameters}
        if isinstance(noise, Parameter):
            raise ValueError(
                "noise of a space must be a law of all parameters; call a parameter otherwise, or"
                f" give Space({{'noise': {noise!r}}})"
            )
        for name, value in given.items():
            _check_parameter(name, value)
        if not given:
            raise ValueError(
                "Space must have at least one parameter, as in Space(width=Real(50, 300))"
            )
        self.parameters: Mapping[str, Parameter] = MappingProxyType(given)
        self.lower = np.concatenate([each.lower for each in given.values()])
        self.upper = np.concatenate([each.upper for each in given.values()])
        self.sigma0 = FIRST_STEPS * (self.upper - self.lower)
        self._law = noise
        if noise is not None and not all(each.exact for each in given.values()):
            noisy = next(name for name, each in given.items() if not each.exact)
            raise ValueError(
                f"noise must be given for all parameters or of each, got both: {noisy} has its own"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (dict(self.parameters), self._law)  # a proxy of a mapping has no pickle

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(self.parameters)

    @property
    def labels(self) -> tuple[str, ...]:
        """What the coordinates of the vectors are, one text for each of them."""
        found: list[str] = []
        for name, each in self.parameters.items():
            if isinstance(each, Choice):
                found += [f"{name} is {option}" for option in each.options]
            elif isinstance(each, Log):
                found.append(f"ln({name}{f' / {each.unit}' if each.unit else ''})")
            else:
                unit = getattr(each, "unit", "")
                found.append(f"{name}{f', {unit}' if unit else ''}")
        return tuple(found)

    @property
    def titles(self) -> tuple[str, ...]:
        """The same for axes that show values, also where the coordinate is a logarithm."""
        found = list(self.labels)
        for k in self.logarithms:
            name = self.names[self._owners[k]]
            unit = getattr(self.parameters[name], "unit", "")
            found[k] = f"{name}, {unit}" if unit else name
        return tuple(found)

    @property
    def logarithms(self) -> tuple[int, ...]:
        """Coordinates of the vectors that are logarithms of values."""
        kinds = list(self.parameters.values())
        return tuple(k for k, own in enumerate(self._owners) if isinstance(kinds[own], Log))

    @property
    def _owners(self) -> list[int]:
        """Which parameter each coordinate is of."""
        return [k for k, each in enumerate(self.parameters.values()) for _ in range(each.size)]

    @property
    def dim(self) -> int:
        """Number of coordinates of the vectors that are searched."""
        return self.lower.size

    @property
    def lattice(self) -> Lattice:
        """Which vectors there are."""
        integers: list[int] = []
        choices: list[Any] = []
        first = 0
        for each in self.parameters.values():
            block = np.arange(first, first + each.size)
            if isinstance(each, Integer):
                integers.append(first)
            elif isinstance(each, Choice):
                choices.append(block)
            first += each.size
        return Lattice(self.dim, np.array(integers, dtype=np.intp), tuple(choices))

    @property
    def noise(self) -> Any:
        """The law of x - theta in the coordinates, as `Optimizer` takes it for vectors.

        Standard deviations (d,), a covariance (d, d), an input law, "learn", or None.
        """
        if self._law is not None:
            return self._of_all(self._law)
        std = np.concatenate([each.std for each in self.parameters.values()])
        return std if std.any() else None

    def _of_all(self, law: Any) -> Any:
        """A law of the numbers as one of all coordinates."""
        numbers = ~self.lattice.chosen
        if isinstance(law, str):
            return law
        if hasattr(law, "sample") or hasattr(law, "matrix"):
            if not numbers.all():
                raise ValueError(
                    "noise of a space with a Choice must be standard deviations or a covariance of"
                    f" its numbers, or the noise of each parameter, got {_validate.quote(law)}"
                )
            return law
        array, m = _validate.numbers("noise", law), int(numbers.sum())
        if array.shape not in ((m,), (m, m)):
            raise ValueError(
                f"noise must have shape ({m},) or ({m}, {m}) for the {m} parameters that are"
                f" numbers, got {array.shape}"
            )
        out = np.zeros((self.dim,) * array.ndim)
        out[np.ix_(*[numbers] * array.ndim)] = array
        self._refuse_wide(out if out.ndim == 1 else np.sqrt(np.maximum(np.diag(out), 0.0)))
        return out

    def _refuse_wide(self, std: FloatArray) -> None:
        """Noise as large as a range, of a law of all parameters. std: (d,)."""
        first = 0
        for name, each in self.parameters.items():
            own = slice(first, first + each.size)
            first += each.size
            if np.any(std[own] >= each.upper - each.lower):
                raise ValueError(
                    f"noise of {name} must be smaller than its range of"
                    f" {float((each.upper - each.lower)[0]):g}, got {float(std[own][0]):g}"
                )

    def tolerance(self, name: str) -> str:
        """How a parameter is realised, in words; empty if exactly.

        Parameters
        ----------
        name : str
            Of the parameter.

        Returns
        -------
        str
        """
        if self._law is None:
            return self.parameters[name].tolerance()
        noise = self.noise
        if isinstance(noise, str):
            return "learnt"
        if hasattr(noise, "sample") or hasattr(noise, "matrix"):
            return "by the law"
        std = np.asarray(noise, np.float64)
        std = np.sqrt(np.diag(std)) if std.ndim == 2 else std
        own = float(std[dict(zip(self.names, self._ends.tolist(), strict=True))[name] - 1])
        if isinstance(self.parameters[name], Choice) or not own:
            return ""
        return percent(own) if isinstance(self.parameters[name], Log) else absolute(own)

    def start(self, x0: Any = None) -> FloatArray:
        """Where a search starts.

        Parameters
        ----------
        x0 : mapping of str to value, optional
            Some or all parameters; by default and for the others the middle of the range (of the
            logarithm for a `Log`), and the first option.

        Returns
        -------
        ndarray, shape (d,)

        Raises
        ------
        ValueError
            If a name is unknown, or a value outside its range.
        """
        given = _validate.mapping({} if x0 is None else x0)
        if given is None:
            raise ValueError(
                f"x0 must be a mapping of names to values for a space, got {_validate.quote(x0)}"
            )
        _validate.same_names("x0", given, self.parameters, all_of=False)
        parts = [
            each.encode(name, given[name]) if name in given else each.middle
            for name, each in self.parameters.items()
        ]
        for (name, each), part in zip(self.parameters.items(), parts, strict=True):
            if not np.all((each.lower <= part) & (part <= each.upper)):
                raise ValueError(
                    f"x0 must lie within the space, got {name} = {given[name]} outside"
                    f" {each.range()}"
                )
        return np.concatenate(parts)

    def encode(self, point: Any) -> FloatArray:
        """The vector of values by name.

        Parameters
        ----------
        point : mapping of str to value
            All parameters; None or NaN for what was not measured.

        Returns
        -------
        ndarray, shape (d,)

        Raises
        ------
        ValueError
            If a name is missing or unknown, or there is no such value.
        """
        given = _validate.mapping(point)
        if given is None:
            raise ValueError(
                "a point must be a mapping of names to values, such as"
                f" {dict(self.decode(self.start()))}, got {_validate.quote(point)}"
            )
        _validate.same_names("a point", given, self.parameters, all_of=True)
        return np.concatenate(
            [each.encode(name, given[name]) for name, each in self.parameters.items()]
        )

    def realised(self, point: Any, theta: FloatArray) -> FloatArray:
        """The vector of what was measured, by name.

        Parameters
        ----------
        point : mapping of str to value, or None
            What was measured. Parameters without noise that are left out are as intended; others
            were not measured.
        theta : ndarray, shape (d,)
            What was intended.

        Returns
        -------
        ndarray, shape (d,)
            NaN for what was not measured.

        Raises
        ------
        ValueError
            If a name is unknown, or there is no such value.
        """
        given = _validate.mapping({} if point is None else point)
        if given is None:
            return self.encode(point)  # which says what is wrong with it
        _validate.same_names("a realised point", given, self.parameters, all_of=False)
        out, first = np.full(self.dim, np.nan), 0
        for name, each in self.parameters.items():
            block = slice(first, first + each.size)
            first += each.size
            if name in given:
                out[block] = each.encode(name, given[name])
            elif each.exact and self._law is None:
                out[block] = theta[block]
        return out

    def decode(self, vector: ArrayLike) -> Point:
        """Values by name.

        Parameters
        ----------
        vector : array_like, shape (d,)

        Returns
        -------
        Point
        """
        return Point(self.parameters, np.asarray(vector, np.float64))

    def columns(self, rows: ArrayLike) -> Columns:
        """Values of many points, by name.

        Parameters
        ----------
        rows : array_like, shape (n, d)

        Returns
        -------
        Columns
        """
        return Columns(self.parameters, np.asarray(rows, np.float64).reshape(-1, self.dim))

    def shares(self, rows: ArrayLike) -> FloatArray:
        """How far along its range each parameter is, for pictures in which units differ.

        Parameters
        ----------
        rows : array_like, shape (n, d)

        Returns
        -------
        ndarray, shape (n, parameters)
            0 at the low end or the first option, 1 at the high end or the last.
        """
        unit = (np.asarray(rows, np.float64).reshape(-1, self.dim) - self.lower) / self._ranges
        parts = np.split(unit, self._ends[:-1], axis=1)
        columns = [
            part[:, 0] if part.shape[1] == 1 else np.argmax(part, axis=1) / (part.shape[1] - 1)
            for part in parts
        ]
        return np.stack(columns, axis=1)

    def spread_shares(self, rows: ArrayLike) -> dict[str, FloatArray]:
        """Standard deviations as shares of the ranges, of the parameters that are numbers.

        Parameters
        ----------
        rows : array_like, shape (n, d)
            Standard deviations of coordinates.

        Returns
        -------
        dict of str to ndarray, shape (n,)
        """
        unit = np.asarray(rows, np.float64).reshape(-1, self.dim) / self._ranges
        ends = zip(self.parameters.items(), self._ends.tolist(), strict=True)
        return {name: unit[:, end - 1] for (name, each), end in ends if each.size == 1}

    @property
    def _ranges(self) -> FloatArray:
        return self.upper - self.lower

    @property
    def _ends(self) -> IntArray:
        """One past the last coordinate of each parameter."""
        return np.cumsum([each.size for each in self.parameters.values()])

    def rows(self, points: Any) -> list[Mapping[str, Any]]:
        """Points in any of the forms that people have them in, one by one.

        Parameters
        ----------
        points : mapping, sequence of mappings, data frame or array_like of shape (n, parameters)
            A mapping may hold one value of each name, or a column of them; rows of an array are
            in the order of the parameters.

        Returns
        -------
        list of mapping

        Raises
        ------
        ValueError
            If it is none of these.
        """
        if hasattr(points, "columns") and hasattr(points, "to_dict"):
            points = {str(name): list(points[name]) for name in points.columns}
        given = _validate.mapping(points)
        if given is not None:
            return _by_rows(given)
        each_one = _mappings(points)
        if each_one is None:
            table = np.atleast_2d(np.asarray(points, dtype=object))
            if table.ndim != 2 or table.shape[1] != len(self.parameters):
                raise ValueError(
                    "points must be mappings by name, a table with a column for each name, or an"
                    f" array of shape [n, {len(self.parameters)}], got {_validate.quote(points)}"
                )
            return [dict(zip(self.parameters, row, strict=True)) for row in table]
        return each_one

    def described(self) -> dict[str, Any]:
        """The parameters as plain data, as files have them.

        Returns
        -------
        dict of str to dict
            `Space.from_described` reads it.
        """
        return {name: each.described() for name, each in self.parameters.items()}

    @staticmethod
    def from_described(data: Mapping[str, Any], noise: Any = None) -> Space:
        """The space of some plain data, such as `{"width": {"real": [50, 300], "unit": "mm"}}`.

        Parameters
        ----------
        data : mapping of str to mapping
            For each name one of "real", "log", "integer" (with low and high) and "choice" (with
            the options), and if there are any, "unit" and "noise".
        noise : array_like, "learn" or None, optional
            As for `Space`.

        Returns
        -------
        Space

        Raises
        ------
        ValueError
            If it is none.
        """
        return Space({name: _parameter(name, each) for name, each in data.items()}, noise=noise)

    @staticmethod
    def of(f: Callable[..., Any]) -> Space:
        """The space that the annotations of a function declare.

        Parameters
        ----------
        f : callable
            With parameters such as `width: Real(50, 300)`, or
            `width: Annotated[float, Real(50, 300)]`.

        Returns
        -------
        Space

        Raises
        ------
        ValueError
            If no parameter is annotated so.
        """
        found: dict[str, Parameter] = {}
        for name, each in inspect.signature(f, eval_str=True).parameters.items():
            for note in (each.annotation, *typing.get_args(each.annotation)):
                if isinstance(note, Parameter):
                    found[name] = note
        if not found:
            raise ValueError(
                "the parameters of f must say what they may be, as in `def f(width: Real(50,"
                " 300))`, or a space or x0 must be given"
            )
        return Space(found)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Space)
            and list(self.parameters.items()) == list(other.parameters.items())
            and repr(self._law) == repr(other._law)
        )

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        parts = [f"{name}={each!r}" for name, each in self.parameters.items()]
        if self._law is not None:
            parts.append(f"noise={self._law!r}")
        return f"Space({', '.join(parts)})"


def _restore(parameters: dict[str, Parameter], law: Any) -> Space:
    return Space(parameters, noise=law)


def _check_parameter(name: Any, value: Any) -> None:
    if not isinstance(name, str) or not name:
        raise ValueError(f"names of parameters must be texts, got {_validate.quote(name)}")
    if not isinstance(value, Parameter):
        raise ValueError(
            f"{name} must be a Real, Log, Integer or Choice, such as Real(50, 300), got"
            f" {_validate.quote(value)}"
        )


def _parameter(name: str, data: Any) -> Parameter:
    """A parameter of plain data."""
    given = _validate.mapping(data) or {}
    kinds = [kind for kind in KINDS if kind in given]
    if len(kinds) != 1 or not isinstance(given[kinds[0]], list | tuple):
        raise ValueError(
            f"{name} must have one of {', '.join(KINDS)}, as in {{real = [50, 300]}}, got"
            f" {_validate.quote(data)}"
        )
    options = {word: value for word, value in given.items() if word != kinds[0]}
    try:
        return KINDS[kinds[0]](*given[kinds[0]], **options)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    except TypeError:
        raise ValueError(
            f"{name} must be as in {{real = [50, 300], unit = 'mm', noise = 4.0}}, got"
            f" {_validate.quote(data)}"
        ) from None


def _by_rows(points: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A mapping of one point, or of columns."""
    columns = {name: np.asarray(value, dtype=object) for name, value in points.items()}
    if all(column.ndim == 0 for column in columns.values()):
        return [points]
    lengths = {column.shape for column in columns.values()}
    if len(lengths) != 1 or len(next(iter(lengths))) != 1:
        raise ValueError(
            "columns of points must have the same length, got shapes"
            f" {', '.join(str(column.shape) for column in columns.values())}"
        )
    n = next(iter(lengths))[0]
    return [{name: column[k] for name, column in columns.items()} for k in range(n)]


def _mappings(points: Any) -> list[Mapping[str, Any]] | None:
    """Mappings in a list or the like; None if there is anything else."""
    if not isinstance(points, Iterable):
        return None
    found = [_validate.mapping(each) for each in cast(Iterable[Any], points)]
    return None if None in found else [each for each in found if each is not None]
