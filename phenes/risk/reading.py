"""What users give as an objective: a risk, a function that makes one, or text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from phenes import _validate
from phenes.risk.kinds import cvar, mean, mean_plus_std, probability_below, quantile, std
from phenes.risk.risk import Risk

MAKERS: dict[str, Callable[..., Risk]] = {
    "mean": mean,
    "std": std,
    "quantile": quantile,
    "cvar": cvar,
    "probability_below": probability_below,
    "mean_plus_std": mean_plus_std,
}
ALONE = ("mean", "std")  # functions that need no argument, and so no call
EXAMPLE = "phenes.risk.cvar(0.9), quantile(0.95), probability_below(limit), mean_plus_std(k), std()"


def as_risk(objective: Any) -> Risk:
    """The risk that a user has given.

    Parameters
    ----------
    objective : Risk, callable or None
        A risk; `phenes.risk.mean` or `phenes.risk.std` itself; None for the mean.

    Returns
    -------
    Risk

    Raises
    ------
    ValueError
        If it is none of these.
    """
    if objective is None:
        return mean()
    if isinstance(objective, Risk):
        return objective
    for name, maker in MAKERS.items():
        if objective is maker and name in ALONE:
            return maker()
        if objective is maker:
            raise ValueError(f"objective needs a number: phenes.risk.{name}(...), got {name}")
    raise ValueError(
        f"objective must be a risk, such as {EXAMPLE}, got {_validate.quote(objective)}"
    )


def parse(text: str) -> Risk:
    """A risk as the command line and files have it.

    Parameters
    ----------
    text : str
        Such as "cvar(0.9)" or "std".

    Returns
    -------
    Risk

    Raises
    ------
    ValueError
        If it names no risk.

    Examples
    --------
    >>> from phenes import risk
    >>> risk.parse("cvar(0.9)") == risk.cvar(0.9)
    True
    """
    found = re.fullmatch(r"\s*(\w+)\s*(?:\(\s*([^()]*?)\s*\))?\s*", text)
    name, inside = (found[1], found[2] or "") if found else ("", "")
    if name not in MAKERS or (not inside) != (name in ALONE):
        words = ", ".join(f"{each}" if each in ALONE else f"{each}(NUMBER)" for each in MAKERS)
        raise ValueError(f"objective must be one of {words}, got {_validate.quote(text)}")
    try:
        numbers = [float(inside)] if inside else []
    except ValueError:
        raise ValueError(
            f"objective must have a number in it, got {_validate.quote(text)}"
        ) from None
    return MAKERS[name](*numbers)


def from_described(data: Mapping[str, Any] | None) -> Risk:
    """The reverse of `Risk.described`.

    Parameters
    ----------
    data : mapping or None
        The name and the parameters; None for the mean.

    Returns
    -------
    Risk

    Raises
    ------
    ValueError
        If it describes no risk.
    """
    if data is None:
        return mean()
    given = dict(data)
    name = given.pop("name", None)
    if name not in MAKERS:
        raise ValueError(f"a risk must be one of {', '.join(MAKERS)}, got {_validate.quote(name)}")
    try:
        return MAKERS[name](**given)
    except TypeError as error:
        raise ValueError(f"the risk {name} has other parameters: {error}") from None
