"""What a front is of: two risks, of one value that f returns or of one each of two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from phenes import _validate
from phenes._validate import FloatArray
from phenes.risk import Risk, as_risk, mean, std

TWO = 2
EXAMPLE = "[phenes.risk.mean(), phenes.risk.std()]"


class Objective(NamedTuple):
    """A risk of one of the values that f returns.

    Attributes
    ----------
    risk : Risk
        Of values as minimised.
    column : int
        Which of the values.
    label : str
        What it is, in a few words.
    shift, slope : float
        shift + slope v is what the user sees of a value v as minimised.
    ends : tuple of float
        Between which values, as the user sees them, it can lie at all.
    """

    risk: Risk
    column: int
    label: str
    shift: float
    slope: float
    ends: tuple[float, float]

    def shown(self, values: FloatArray) -> FloatArray:
        """Values as the user sees them.

        Parameters
        ----------
        values : ndarray
            As minimised.

        Returns
        -------
        ndarray
        """
        return self.shift + self.slope * values


class Wished(NamedTuple):
    """What was asked for before f has said how many values it has.

    Attributes
    ----------
    risks : tuple of Risk or None
        Two; None: mean and standard deviation of one value, or the means of two.
    signs : tuple of float
        -1 for each value that is maximised, else 1.
    """

    risks: tuple[Risk, Risk] | None
    signs: tuple[float, float]

    @property
    def needs_noise(self) -> bool:
        """Whether something else than means was asked for."""
        return self.risks is not None and any(risk != mean() for risk in self.risks)

    def of(self, names: tuple[str, ...]) -> tuple[Objective, Objective]:
        """The objectives of an f whose values have these names.

        Parameters
        ----------
        names : tuple of str
            One or two; an empty name is that of f itself.

        Returns
        -------
        tuple of Objective

        Raises
        ------
        ValueError
            If f has one value, and both objectives are the same, or its two signs differ.
        """
        alone = len(names) == 1
        risks = self.risks or (mean(), std() if alone else mean())
        if alone and risks[0] == risks[1]:
            raise ValueError(
                f"objectives must differ where f returns one number, got {risks[0]} twice; for two"
                " numbers let f return them as a tuple"
            )
        if alone and self.signs[0] != self.signs[1]:
            raise ValueError(
                "maximize must be True or False where f returns one number, got one of each"
            )
        first, second = (
            _objective(risk, self.signs[0 if alone else k], names[0 if alone else k], k, alone)
            for k, risk in enumerate(risks)
        )
        return first, second


def _objective(risk: Risk, sign: float, name: str, k: int, alone: bool) -> Objective:
    label = risk.label(sign)
    if name:
        label = label.replace("f(x)", name)
    column = 0 if alone else k
    return Objective(risk.minimised(sign), column, label, *risk.shown(sign), risk.ends)


def wished(objectives: Any, maximize: Any) -> Wished:
    """What users give as `objectives` and `maximize`, checked.

    Parameters
    ----------
    objectives : sequence of two Risk, or None
        See `front`.
    maximize : bool or sequence of two bool
        See `front`.

    Returns
    -------
    Wished

    Raises
    ------
    ValueError
        If there are not two, or one is no risk.
    """
    return Wished(_risks(objectives), _signs(maximize))


def _risks(objectives: Any) -> tuple[Risk, Risk] | None:
    if objectives is None:
        return None
    if isinstance(objectives, str | Risk) or not isinstance(objectives, Sequence):
        raise ValueError(
            f"objectives must be two risks, such as {EXAMPLE}, got {_validate.quote(objectives)}"
        )
    given = cast("Sequence[Any]", objectives)
    if len(given) != TWO:
        raise ValueError(f"objectives must be two risks, such as {EXAMPLE}, got {len(given)}")
    first, second = (as_risk(each) for each in given)
    return first, second


def _signs(maximize: Any) -> tuple[float, float]:
    given: list[Any] = [maximize, maximize]
    if isinstance(maximize, tuple | list):
        given = list(cast("Sequence[Any]", maximize))
        if len(given) != TWO:
            raise ValueError(
                "maximize must be True or False, or one of them for each of the two numbers that f"
                f" returns, got {len(given)}"
            )
    first, second = (-1.0 if _validate.flag("maximize", each) else 1.0 for each in given)
    return first, second


def as_minimised(f: FloatArray, signs: tuple[float, float]) -> FloatArray:
    """Values (n, c) with the sign of what is minimised; rows with one that is not finite are NaN.

    Parameters
    ----------
    f : ndarray, shape (n, c)
        As f returned them.
    signs : tuple of float
        As of `Wished`.

    Returns
    -------
    ndarray, shape (n, c)
    """
    out = f * np.array(signs[: f.shape[1]])
    out[~np.all(np.isfinite(f), axis=1)] = np.nan
    return out
