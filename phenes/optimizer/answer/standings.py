"""Which theta of a run meet its constraints, as far as is known."""

from collections.abc import Callable
from typing import Any

from phenes._validate import FloatArray
from phenes.constraints import Requirement
from phenes.evidence import Estimate, Observations
from phenes.evidence.limits import Limits
from phenes.evidence.standing import Place
from phenes.optimizer.noise.local_laws import LocalLaws

MOST_STANDINGS = 64  # theta whose constraints are remembered


class Standings:
    """The constraints of a run where it has been. limits: None if there are none."""

    def __init__(self, limits: Limits | None, seen: Observations, laws: LocalLaws):
        self._limits, self._seen, self._laws = limits, seen, laws
        self._known: dict[Any, Place] = {}

    @property
    def constrained(self) -> bool:
        """Whether there are constraints, whose names are known by now."""
        return self._limits is not None and bool(self._seen.limits)

    def at(self, theta: FloatArray, exact: bool) -> Place:
        """What is known of the constraints at theta. exact: one evaluation says all."""
        assert self._limits is not None
        key = (theta.tobytes(), self._seen.count + self._seen.dropped, exact)
        if key not in self._known:
            if len(self._known) > MOST_STANDINGS:
                self._known.clear()
            self._known[key] = self._limits.place(self._seen, self._laws.at(theta), exact)
        return self._known[key]

    def admissible(self, known: list[Estimate], exact: bool) -> list[Estimate]:
        """Those that meet the constraints; if none does, the one that violates them least.

        Those of which it may be claimed, else those of which it is expected.
        """
        if not self.constrained:
            return known
        places = [self.at(each.theta, exact) for each in known]
        met = [each for each, at in zip(known, places, strict=True) if at.met]
        expected = [each for each, at in zip(known, places, strict=True) if at.expected]
        least = min(range(len(known)), key=lambda k: places[k].badness)
        return met or expected or [known[least]]

    def safer(
        self, theta: FloatArray, inside: Callable[[FloatArray], FloatArray], exact: bool
    ) -> FloatArray:
        """The nearest theta that meets the constraints with a margin."""
        assert self._limits is not None
        strictness = self.at(theta, exact).strictness
        return self._limits.safer(self._seen, self._laws.at, theta, inside, strictness)

    def kept_draws(self, most: int) -> int:
        """Draws of the answer that constraints need which no model supports, if at most `most`."""
        return 0 if self._limits is None else self._limits.kept_draws(self._seen, most)

    def wanted(self) -> tuple[tuple[Requirement, ...], FloatArray | None]:
        """What is wanted of the constraints, and their values [n, J]."""
        if self._limits is None or not self._seen.limits:
            return (), None
        return self._limits.wanted.requirements(self._seen.limits), self._seen.c
