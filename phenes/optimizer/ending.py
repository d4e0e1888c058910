"""When a search ends and its verification begins: at the budget, converged, lost, or at the target.

A search is lost where f fails for long. What it had found before is verified all the same.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from phenes._validate import FloatArray
from phenes.evidence.verification import surely_beats
from phenes.optimizer.answer.trust import Trust
from phenes.optimizer.engines import Search

# the target is not tested again before so many times the evaluations of the last try
NEXT_TARGET = 1.3
PATIENCE = 20  # populations without any value after which a search is taken to be lost
CONFIDENCE = 2.0  # standard errors by which the target must be passed


@dataclass
class Progress:
    """How far a run is.

    batches: how often values were told. barren: evaluations since the last finite value, of the
    search. worked: whether there ever was one.
    """

    budget: int
    nfev: int = 0
    generation: int = 0
    batches: int = 0
    barren: int = 0
    worked: bool = False


class Wishes(NamedTuple):
    """What the user asked for. whole: populations are batches of a lab.

    sign, shift: shift + sign v is the target if v is it as minimised; sign is -1 to maximise.
    """

    target: float | None
    sign: float
    verify: int | None
    popsize: int | None
    whole: bool = False
    shift: float = 0.0

    def reached(self, fun: float, se: float) -> bool:
        """Whether E f = fun ± se, as minimised, passes the target with confidence."""
        if self.target is None:
            return False
        return fun + CONFIDENCE * se <= self.sign * (self.target - self.shift)


class Ending:
    """reason: why the verification began, "budget", "converged", "failing" or "target"; else empty.

    barren: evaluations without a value by which the search was found to be lost.
    """

    def __init__(self, search: Search, trust: Trust, progress: Progress, wishes: Wishes):
        self.search, self.trust, self.progress, self.wishes = search, trust, progress, wishes
        self.reason = ""
        self.barren = 0
        self._next_target = 0

    @property
    def reserve(self) -> int:
        """Evaluations that are kept for the verification."""
        wishes = self.wishes
        return self.trust.reserve(self.progress.budget, wishes.verify, wishes.popsize, wishes.whole)

    def due(self, pending: int) -> bool:
        """Whether the verification is to begin now. pending: rows under way.

        A verification that has found the search to be wrong is given up if there is budget left.
        """
        if not self.reserve:
            self.reason = "target" if self._seems_reached() else ""
            return False
        if self.trust.verification is not None:
            self._review(pending)
        if self.trust.verification is not None:
            return False
        self.reason = self._why(self.progress.nfev + pending)
        return bool(self.reason)

    def begin(self, pending: int, path: FloatArray) -> None:
        """Start the verification. path [k, d]: means of the search along the way."""
        by_budget = self.reason == "budget"
        if by_budget:
            self.search.conclude()
        left = max(self.progress.budget - self.progress.nfev - pending, 1)
        reserve = left if by_budget else min(self.reserve, left)
        self.trust.begin(self.search.mean, reserve, path, self.search.inside)

    def reasons(self) -> dict[str, Any]:
        """Target and convergence, once they are verified, or if nothing is verified."""
        verification = self.trust.verification
        found: dict[str, Any] = {}
        if self._lost and not (self.reserve and self.progress.worked):
            self.barren = self.progress.barren
            found["failing"] = self._said
        if (verification is not None and verification.done) or not self.reserve:
            if self.reason == "failing":
                found["failing"] = self._said
            if self.reason == "target" and self._target_holds():
                found["target"] = self.wishes.target
            if self.progress.generation and self.search.converged:
                found["converged"] = self.search.converged
        return found

    @property
    def _lost(self) -> bool:
        """Whether nothing but failures has come for long."""
        return self.progress.barren >= PATIENCE * max(self.search.popsize, 1)

    @property
    def _said(self) -> str:
        return f"no finite value in the last {self.barren} evaluations"

    def _review(self, pending: int) -> None:
        """Give the verification up if the budget was raised, or if it did not hold."""
        progress, verification = self.progress, self.trust.verification
        assert verification is not None
        late = progress.nfev + pending >= progress.budget - self.reserve
        if self.reason == "budget":
            if not late:
                self.trust.verification = None
        elif verification.done and progress.nfev < progress.budget and not self._stands():
            self.trust.verification = None
            self.reason = ""

    def _why(self, used: int) -> str:
        if used >= self.progress.budget - self.reserve:
            return "budget"
        if self._lost and self.progress.worked:
            self.barren = self.progress.barren
            return "failing"
        if self.progress.generation and self.search.converged:
            return "converged"
        again = self.progress.nfev >= self._next_target
        return "target" if again and self._seems_reached() else ""

    def _stands(self) -> bool:
        """Whether a verification before the end of the budget stands; otherwise search goes on."""
        if self.reason == "target":
            holds = self._target_holds()
            if not holds:
                self._next_target = int(NEXT_TARGET * self.progress.nfev)
            return holds
        trust, verification = self.trust, self.trust.verification
        assert verification is not None
        found = trust.recommend(self.search.mean).estimate
        confirmed = (
            trust.exact
            or np.array_equal(found.theta, verification.proposal)
            or not surely_beats(found, trust.claim(verification.proposal))
        )
        if confirmed or self.progress.budget - self.progress.nfev < 2 * self.reserve:
            return True
        self.search.restart(found.theta)
        return False

    def _seems_reached(self) -> bool:
        """Whether the target is reached by the model of the search."""
        return bool(self.progress.generation) and self.wishes.reached(*self.trust.model())

    def _target_holds(self) -> bool:
        """Whether the target is reached by the evidence."""
        if not self.reserve:
            return self._seems_reached()
        known = self.trust.recommend(self.search.mean).estimate
        return self.wishes.reached(known.fun, known.se)
