"""Back from a wall: places between a proposal that fails and the start, by a few draws each.

A search that follows ranks may end beside a wall, where half of its draws fail: the others are
selected all the same, and a model of their values leads further. Nearer to the start fewer fail,
and E f may be better with what a failure costs. How far back is best nobody knows beforehand, so
places at distances that grow by a factor are compared by successive halving: the better half of
them gets draws again, until one is left.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from phenes._validate import FloatArray
from phenes.evidence.estimate import Estimate
from phenes.evidence.law import Law

DRAWS = 3  # at each place, before the worse half of them is left out
MOST_PLACES = 12  # distances that then grow by less than a half for a way of a hundred deviations
FEWEST_PLACES = 2
SHARE = 0.25  # largest share of a reserve that is spent
NEAREST = 1.0  # standard deviations of the noise between the proposal and the first place


def affordable(reserve: int) -> int:
    """How many places a reserve of evaluations is enough for; 0 if for hardly any."""
    for count in range(MOST_PLACES, FEWEST_PLACES - 1, -1):
        if _draws(count) <= SHARE * reserve:
            return count
    return 0


def _draws(count: int) -> int:
    """Evaluations until one of so many places is left."""
    return 0 if count < FEWEST_PLACES else DRAWS * count + _draws(-(-count // 2))


def way_back(law: Law, start: FloatArray, count: int) -> FloatArray:
    """Places (count, d) from law.theta to the middle of the way to the start, nearest first."""
    far = float(np.linalg.norm(law.z(start) - law.z(law.theta))) / 2
    if far <= 0:
        return np.empty((0, start.size))
    shares = np.geomspace(min(NEAREST, far), far, count) / (2 * far)
    return law.theta + shares[:, None] * (start - law.theta)


@dataclass
class Retreat:
    """Asks for draws at places until one of them is left.

    Parameters
    ----------
    places : list of ndarray, shape (d,)
        All of them.
    left : list of ndarray, shape (d,)
        Those that are still compared.
    each : int
        Draws that each of those has at the end of this round.
    """

    places: list[FloatArray]
    left: list[FloatArray] = field(default_factory=list[FloatArray])
    each: int = DRAWS

    def __post_init__(self) -> None:
        self.left = list(self.places)

    def next(self, evidence: Callable[[FloatArray], Estimate]) -> tuple[FloatArray, int] | None:
        """Where draws are missing, and how many; None when at most one place is left."""
        while len(self.left) >= FEWEST_PLACES:
            missing = self._missing(evidence)
            if missing:
                return missing[0]
            known = sorted((evidence(theta) for theta in self.left), key=_value)
            better = [each.theta for each in known[: -(-len(known) // 2)]]
            self.left = [theta for theta in self.left if any(theta is each for each in better)]
            self.each += DRAWS
        return None

    def ask(self, n: int, evidence: Callable[[FloatArray], Estimate]) -> FloatArray:
        """Rows (n, d): what is missing anywhere, the same again if that is less."""
        rows = [theta for theta, count in self._missing(evidence) for _ in range(count)]
        return np.resize(np.array(rows or self.left), (n, self.places[0].size))

    def _missing(self, evidence: Callable[[FloatArray], Estimate]) -> list[tuple[FloatArray, int]]:
        """Places that lack draws of this round, and how many."""
        missing = [(theta, self.each - evidence(theta).draws) for theta in self.left]
        return [(theta, count) for theta, count in missing if count > 0]


def _value(known: Estimate) -> float:
    return known.fun if np.isfinite(known.fun) else np.inf
