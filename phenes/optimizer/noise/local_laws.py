"""The law of x around a theta, as evidence needs it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from phenes._validate import FloatArray
from phenes.evidence import Law
from phenes.evidence.law import gaussian_law, sampled_law

SIMULATED = 4096  # draws of a law that is known by draws only


class GaussianAt(NamedTuple):
    """Moments of x - theta; rests_on: how many draws they rest on (infinity: declared)."""

    bias: FloatArray
    cov: FloatArray
    rests_on: float


class LocalLaws:
    """The laws at the theta that were asked for, until the rows or the noise change.

    law_of(theta): moments or draws [n, d] of x around theta. scale(): units of coordinates without
    noise, [d].
    """

    def __init__(
        self,
        law_of: Callable[[FloatArray], GaussianAt | FloatArray],
        scale: Callable[[], FloatArray],
    ):
        self._law_of, self._scale = law_of, scale
        self._known: dict[bytes, Law] = {}

    def forget(self) -> None:
        """What was known may have changed."""
        self._known.clear()

    def at(self, theta: FloatArray) -> Law:
        """The law of x at theta (d,)."""
        key = theta.tobytes()
        if key not in self._known:
            known = self._law_of(theta)
            if isinstance(known, GaussianAt):
                self._known[key] = gaussian_law(theta, *known, scale=self._scale())
            else:
                self._known[key] = sampled_law(theta, known, self._scale())
        return self._known[key]

    def draws_at(self, theta: FloatArray) -> FloatArray | None:
        """Draws [n, d] of x - theta where only these say the law, else None."""
        known = self._law_of(theta)
        return known - theta if isinstance(known, np.ndarray) else None
