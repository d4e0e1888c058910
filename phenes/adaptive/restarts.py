"""The schedule of restarts: when, where, with how many, and how the budget is shared."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from phenes.adaptive import tuning
from phenes.adaptive.coordinates import Coordinates
from phenes.adaptive.descent import Start
from phenes.adaptive.model.features import dear, features_of
from phenes.adaptive.state import State


def default_popsize(dim: int) -> int:
    """The tutorial's default, with noise as well: the models do the averaging."""
    return tuning.POPULATION_BASE + int(tuning.POPULATION_PER_LOG * math.log(dim))


class Kind(Enum):
    """How a restart looks for another basin; of those that spent the same the first is next."""

    TREND = "trend"  # at the answer, by the trend of f around it
    LARGE = "large"  # elsewhere, with a large population
    SMALL = "small"  # elsewhere, with a small one


def _nothing() -> dict[Kind, int]:
    return dict.fromkeys(Kind, 0)


@dataclass
class Spending:
    """Evaluations of restarts of each kind."""

    spent: dict[Kind, int] = field(default_factory=_nothing)
    kind: Kind = Kind.SMALL  # of the current challenger
    counted: int = 0  # evaluations of the current challenger in the sums above

    @property
    def total(self) -> int:
        return sum(self.spent.values())

    def count(self, evaluations: int) -> None:
        """Adds what the challenger has used since the last call."""
        self.spent[self.kind] += evaluations - self.counted
        self.counted = evaluations

    def next(self, kinds: Sequence[Kind]) -> Kind:
        """The kind of a new challenger: the one that has had the least of the budget."""
        self.counted = 0
        self.kind = min(kinds, key=lambda kind: self.spent[kind])
        return self.kind


@dataclass
class Verdicts:
    """How challengers ended."""

    in_vain: int = 0  # restarts in a row that were no better
    in_place: int = 0  # restarts in a row that ended where the incumbent is
    same: int = 0  # restarts that ended where the incumbent is, and elsewhere
    elsewhere: int = 0

    def add(self, better: bool, same: bool) -> None:
        self.in_vain = 0 if better else self.in_vain + 1
        self.in_place = self.in_place + 1 if same else 0
        if same:
            self.same += 1
        else:
            self.elsewhere += 1

    @property
    def pointless(self) -> bool:
        """Whether enough restarts in a row came to the same place, or to no better one."""
        return self.in_place >= tuning.POINTLESS_SAME or self.in_vain >= tuning.POINTLESS_IN_VAIN

    @property
    def share(self) -> float:
        """Share of the budget for the refinement of the answer.

        One half to begin with, more as restarts end at the same place, less as they end elsewhere:
        where nothing else is to be found, the answer deserves them.
        """
        # one restart that ended elsewhere shows that f is multimodal
        same = 0 if self.elsewhere else self.same
        prior = tuning.PRIOR_SAME + tuning.PRIOR_ELSEWHERE
        return (same + tuning.PRIOR_SAME) / (same + self.elsewhere + prior)


@dataclass(frozen=True)
class Answer:
    """What is known of the best descent."""

    theta: np.ndarray
    explained: float  # share of the variance of f around it that a quadratic explains
    value_noise: float = 0.0  # standard deviation, if noise of f was detected
    lost: bool = False  # whether all values were equal


@dataclass
class Schedule:
    """Shares of the budget between refining the answer and challenging it (BIPOP)."""

    small: int  # population of the first descent and of small restarts
    trends: bool = True  # may restarts look for a trend?
    trend: int = 0  # restarts by a trend so far ...
    large: int = 0  # ... and large ones
    started: int = 0
    refined: int = -1  # evaluations of the incumbent when it was over; -1: not yet
    spending: Spending = field(default_factory=Spending)
    verdicts: Verdicts = field(default_factory=Verdicts)

    def judged(self, better: bool, same: bool) -> None:
        """Records how a challenger ended.

        By the trend around the answer back to the answer: that says nothing of other places.
        """
        if not (same and self.spending.kind is Kind.TREND):
            self.verdicts.add(better, same)
        self.refined = -1 if better else self.refined

    def refine(self, incumbent: State) -> bool:
        """Whether an incumbent that is over is due for more evaluations."""
        if self.refined < 0:
            self.refined = incumbent.evaluations
        if not incumbent.phase.refines:
            return False
        share = self.verdicts.share
        spent = self.spending.total
        return (1 - share) * (incumbent.evaluations - self.refined) < share * spent

    def _trends(self, coords: Coordinates, answer: Answer, left: float) -> bool:
        """Whether f is rugged around the answer, at the scale of the noise of the inputs.

        And whether there is time for it: an equal share of what is left pays for the draws of a
        trend and for a descent like that of the answer. Otherwise it would take the evaluations of
        the restarts that look elsewhere.
        """
        rugged = coords.noisy and answer.explained < tuning.GOOD_R2
        paid = len(Kind) * (self._draws(coords.dim) + max(self.refined, 0)) <= left
        return self.trends and rugged and paid and not dear(coords.dim)

    def _draws(self, dim: int) -> int:
        """Draws of the next restart by a trend."""
        each = tuning.TREND_ROWS_PER_FEATURE * 2**self.trend
        return min(each, tuning.MOST_TREND_ROWS_PER_FEATURE) * features_of(dim)

    def challenge(
        self,
        coords: Coordinates,
        x0: np.ndarray,
        answer: Answer,
        rng: np.random.Generator,
        left: float = math.inf,
    ) -> Start:
        """Where the next challenger starts, with so many evaluations left."""
        self.started += 1
        if answer.lost:
            # no place is known to be better than another: single draws tell more of places than
            # populations around some of them
            theta = _elsewhere(coords, x0, rng, 0.0) + coords.bias
            return Start(theta, tuning.LOST_WIDTH, self.small, answer.value_noise, 0, "restart: ")
        trends = self._trends(coords, answer, left)
        kind = self.spending.next([kind for kind in Kind if trends or kind is not Kind.TREND])
        popsize, width, trend = self.small, tuning.TREND_WIDTH, 0
        if kind is Kind.TREND:
            trend = self._draws(coords.dim)
            self.trend += 1
        elif kind is Kind.LARGE:
            # large populations double, up to a limit that bounds memory
            most = max(tuning.LARGEST_POPULATION, tuning.LARGEST_OVER_SMALL * self.small)
            popsize = min(round(tuning.LARGE_FACTOR * self.small) * 2**self.large, most)
            width = tuning.LARGE_WIDTH
            self.large += 1
        else:
            # also narrow ones: a wide search falls into the same basin again
            width = tuning.SMALL_WIDTH * 10 ** (-tuning.SMALL_POWERS * rng.random())
        at_answer = kind is Kind.TREND
        theta = answer.theta if at_answer else _elsewhere(coords, x0, rng, tuning.START_SPREAD)
        known = answer.value_noise
        return Start(theta + coords.bias, width, popsize, known, trend, "restart: ")


def _elsewhere(
    coords: Coordinates, x0: np.ndarray, rng: np.random.Generator, spread: float
) -> np.ndarray:
    """A start for a restart: uniform between two bounds, normal around x0 otherwise."""
    bounded = np.isfinite(coords.lower) & np.isfinite(coords.upper)
    theta = x0 + spread * coords.width * rng.standard_normal(coords.dim)
    lower = np.where(bounded, coords.lower, 0.0)
    upper = np.where(bounded, coords.upper, 1.0)
    theta = np.where(bounded, rng.uniform(lower, upper), theta)
    return np.clip(theta, coords.lower, coords.upper)
