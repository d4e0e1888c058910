"""What is searched: a space, or a vector with its first steps and bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from phenes import _validate
from phenes._validate import FloatArray
from phenes.space import Space

if TYPE_CHECKING:
    from phenes.space import Lattice

DIGITS = 1e-12  # by which coordinates may differ that are the same value by name


class Setup(NamedTuple):
    """The start, the first steps and the bounds as vectors; noise as `noise_model` takes it."""

    x0: FloatArray
    sigma0: FloatArray
    lower: FloatArray
    upper: FloatArray
    noise: Any
    space: Space | None = None
    lattice: Lattice | None = None  # None: all coordinates are real numbers

    @property
    def parameters(self) -> int:
        """How many numbers or options are chosen: a choice is one, though it has many columns."""
        return self.x0.size if self.space is None else len(self.space.parameters)


def make_setup(space: Any, sigma0: Any, noise: Any, x0: Any, bounds: Any) -> Setup:
    """The setup of what users give; space: a Space, or where to start if x0 does not say it."""
    if isinstance(space, Space):
        return _named(space, sigma0, noise, x0, bounds)
    if space is not None and x0 is not None:
        raise ValueError(
            "x0 must be given once, or beside a Space, got"
            f" {_validate.quote(space)} and {_validate.quote(x0)}"
        )
    start: Any = space if x0 is None else x0
    if start is None or _validate.mapping(start) is not None or isinstance(start, type):
        raise ValueError(
            "a space or x0 must say what is searched, such as"
            f" phenes.Space(width=phenes.Real(50, 300)) or [0.0, 0.0], got {_validate.quote(start)}"
        )
    if sigma0 is None:
        raise ValueError(
            "sigma0 must be given with x0: the standard deviation of the first steps, such as 0.5"
        )
    centre, width = _validate.start(start, sigma0)
    lower, upper = _validate.bounds(bounds, centre)
    _fits(noise, upper - lower)
    return Setup(centre, width, lower, upper, noise)


def _fits(noise: Any, ranges: FloatArray) -> None:
    """Refuse standard deviations, one or one for each coordinate, as large as the box."""
    if isinstance(noise, int | float):
        std = np.full(ranges.size, float(noise))
    elif (
        isinstance(noise, list | tuple | np.ndarray) and np.shape(cast(Any, noise)) == ranges.shape
    ):
        std = _validate.numbers("noise", noise)
    else:  # a matrix, a law, "learn" or nothing
        return
    _validate.finite("noise", std)
    wide = std >= ranges
    if np.any(wide):
        k = int(np.argmax(wide))
        raise ValueError(
            f"noise must be smaller than the range of {ranges[k]:g} between the bounds of"
            f" coordinate {k}, got {std[k]:g}"
        )


def _named(space: Space, sigma0: Any, noise: Any, x0: Any, bounds: Any) -> Setup:
    for name, value in (("sigma0", sigma0), ("bounds", bounds)):
        if value is not None:
            raise ValueError(
                f"{name} must not be given with a space, whose ranges say it, got"
                f" {_validate.quote(value)}"
            )
    if noise is not None:
        if space.noise is not None:
            raise ValueError(
                f"noise must be given once, in the space or beside it, got {_validate.quote(noise)}"
                " too"
            )
        space = Space(space.parameters, noise=noise)
    lattice = space.lattice
    return Setup(
        space.start(x0),
        space.sigma0.copy(),
        space.lower.copy(),
        space.upper.copy(),
        space.noise,
        space,
        None if lattice.plain else lattice,
    )


def encode_told(
    space: Space, theta: Any, realised: Any, pending: FloatArray
) -> tuple[FloatArray, FloatArray | None]:
    """theta and the realised x, as users have them by name, as vectors [n, d].

    pending (m, d): theta that were handed out, and come back as the same vectors.
    """
    found = np.array([space.encode(each) for each in space.rows(theta)]).reshape(-1, space.dim)
    intended = _as_handed_out(found, pending)
    if realised is None:
        return intended, None
    measured = _measured(space, realised)
    if len(measured) != len(intended):
        raise ValueError(
            f"realised must have one point for each of the {len(intended)} theta, got"
            f" {len(measured)}"
        )
    pairs = zip(measured, intended, strict=True)
    x = np.array([space.realised(each, at) for each, at in pairs]).reshape(-1, space.dim)
    return intended, x


def _as_handed_out(theta: FloatArray, pending: FloatArray) -> FloatArray:
    """Rows (n, d) as those of `pending` (m, d) that they are but for the last digits.

    The logarithm of a value by name is not always the coordinate that it was made of, and what was
    handed out is known by its digits.
    """
    found, left = theta.copy(), np.ones(len(pending), bool)
    for row in found:
        away = np.max(np.abs(row - pending) / np.maximum(np.abs(pending), 1.0), axis=1, initial=0)
        away = np.where(left, away, np.inf)
        if left.any() and away.min() <= DIGITS:
            left[np.argmin(away)] = False  # others that are as near are other evaluations
            row[:] = pending[np.argmin(away)]
    return found


def _measured(space: Space, realised: Any) -> list[Any]:
    """Points, None in a list for those of which nothing was measured."""
    if isinstance(realised, list | tuple):
        given = cast(list[Any], realised)
        if any(each is None for each in given):
            return [None if each is None else space.rows(each)[0] for each in given]
    return list(space.rows(realised))
