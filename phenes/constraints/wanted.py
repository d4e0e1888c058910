"""What is wanted of constraints: `chance` and `on_average`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from phenes import _validate
from phenes._validate import FloatArray

EXAMPLE = "constraints=phenes.chance(0.95)"
NAMELESS = "c{}"  # names of constraints that come without


class Requirement(NamedTuple):
    """One thing that a design must meet.

    Attributes
    ----------
    members : tuple of int
        Columns of the constraints that it is of: all of them must hold at once.
    level : float or None
        The probability that is wanted; None for the mean.
    name : str
        What it is called: the name of its constraint, or "all".
    """

    members: tuple[int, ...]
    level: float | None
    name: str


@dataclass(frozen=True)
class Wanted:
    """How surely constraints must hold, as `chance` and `on_average` say it.

    Parameters
    ----------
    joint : float, optional
        Probability with which all must hold together.
    each : tuple of (str, float), optional
        Names, and the probability of each.

    Attributes
    ----------
    average : bool
        Only the mean is bounded.
    names : tuple of str
        The constraints that there must be; empty if they are not named here.
    """

    joint: float | None = None
    each: tuple[tuple[str, float], ...] = ()

    @property
    def average(self) -> bool:
        """Only the mean is bounded."""
        return self.joint is None and not self.each

    @property
    def names(self) -> tuple[str, ...]:
        """The constraints that there must be; empty if they are not named here."""
        return tuple(name for name, _ in self.each)

    def requirements(self, names: tuple[str, ...]) -> tuple[Requirement, ...]:
        """What must be met.

        Parameters
        ----------
        names : tuple of str
            The constraints, in the order of their columns.

        Returns
        -------
        tuple of Requirement
        """
        if self.joint is not None:
            word = names[0] if len(names) == 1 else "all"
            return (Requirement(tuple(range(len(names))), self.joint, word),)
        levels = dict(self.each)
        return tuple(Requirement((k,), levels.get(name), name) for k, name in enumerate(names))

    def described(self) -> dict[str, Any]:
        """As plain data, for files.

        Returns
        -------
        dict
        """
        return {"joint": self.joint, "each": dict(self.each)}

    def __str__(self) -> str:
        if self.average:
            return "on_average()"
        if self.joint is not None:
            return f"chance({self.joint:g})"
        return f"chance({', '.join(f'{name}={p:g}' for name, p in self.each)})"


def chance(joint: float | None = None, /, **each: float) -> Wanted:
    """Constraints must hold with a probability, over what becomes of the intended theta.

    Parameters
    ----------
    joint : float, optional
        Probability with which all hold together.
    **each : float
        In its place: the probability of each constraint, by its name.

    Returns
    -------
    Wanted
        What `constraints=` takes.

    Raises
    ------
    ValueError
        If a probability is not between 0 and 1, or both forms or neither are given.

    Examples
    --------
    >>> import phenes
    >>> print(phenes.chance(0.999))
    chance(0.999)
    >>> print(phenes.chance(stress=0.999, gap=0.99))
    chance(stress=0.999, gap=0.99)
    """
    if (joint is None) == (not each):
        raise ValueError(
            "chance takes one probability for all constraints together, or one for each by name,"
            f" such as chance(0.99) or chance(stress=0.99, gap=0.9), got {_given(joint, each)}"
        )
    for name, value in {**({} if joint is None else {"the probability": joint}), **each}.items():
        _probability(name, value)
    if joint is not None:
        return Wanted(float(joint))
    return Wanted(None, tuple((name, float(p)) for name, p in each.items()))


def on_average() -> Wanted:
    """The mean of each constraint must be at most 0: single parts may violate it.

    Returns
    -------
    Wanted
        What `constraints=` takes.
    """
    return Wanted()


def _given(joint: float | None, each: Mapping[str, float]) -> str:
    if joint is None:
        return "neither"
    return f"{_validate.quote(joint)} and {', '.join(each)}"


def _probability(name: str, value: Any) -> None:
    try:
        given = _validate.number(name, value)
    except ValueError:
        given = np.nan
    if not 0 < given < 1:
        raise ValueError(
            f"{name} of chance must be a number between 0 and 1, such as 0.99, got"
            f" {_validate.quote(value)}"
        )


def wanted(value: Any) -> Wanted | None:
    """What users give as `constraints`, checked."""
    if value is None or isinstance(value, Wanted):
        return value
    raise ValueError(
        "constraints must be phenes.chance(0.99), phenes.chance(stress=0.99, gap=0.9) or"
        f" phenes.on_average(), got {_validate.quote(value)}"
    )


def from_described(data: Any) -> Wanted | None:
    """The reverse of `Wanted.described`; None stays None."""
    if data is None:
        return None
    joint, each = data["joint"], dict(data["each"])
    if joint is None and not each:
        return on_average()
    return chance(joint, **each)


def columns(value: Any, wish: Wanted, known: tuple[str, ...], n: int) -> tuple[Any, FloatArray]:
    """Names and columns [n, J] of what users tell: a mapping of columns by name, or an array.

    known: the names so far; empty before the first.
    """
    expected = known or wish.names
    by_name = _validate.mapping(value)
    if by_name is None and hasattr(value, "columns"):  # a data frame
        by_name = {str(name): value[name] for name in value.columns}
    if by_name is not None:
        names = expected or tuple(map(str, by_name))
        check_names(tuple(map(str, by_name)), names)
        parts = [_validate.numbers(f"constraint {name}", by_name[name], True) for name in names]
        parts = [np.atleast_1d(part) for part in parts]
        for name, part in zip(names, parts, strict=True):
            if part.shape != (n,):
                raise ValueError(
                    f"constraint {name} must have one value for each of the {n} theta, got shape"
                    f" {part.shape}"
                )
        return names, np.stack(parts, axis=1)
    array = _validate.numbers("constraints", value, True)
    array = array[:, None] if array.ndim == 1 and n != 1 else np.atleast_2d(array)
    if array.ndim != 2 or len(array) != n or not array.shape[1]:
        raise ValueError(
            "constraints must be a mapping of names to values, or an array with a row for each of"
            f" the {n} theta, got shape {array.shape}"
        )
    names = expected or tuple(NAMELESS.format(k) for k in range(array.shape[1]))
    if len(names) != array.shape[1]:
        raise ValueError(
            f"constraints must have {len(names)} columns, for {', '.join(names)}, got"
            f" {array.shape[1]}"
        )
    return names, array


def check_names(given: tuple[str, ...], expected: tuple[str, ...]) -> None:
    """Refuse names that are not those expected, in any order."""
    if not given:
        raise ValueError("constraints must have at least one name and value, got none")
    if sorted(given) != sorted(expected):
        raise ValueError(
            f"constraints must be named {', '.join(expected)}, as before or in chance, got"
            f" {', '.join(given)}"
        )
