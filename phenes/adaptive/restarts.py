"""When to start again, where, with how many; and which run has the better answer."""

import math
from dataclasses import dataclass

import numpy as np

from phenes.adaptive import run as runs
from phenes.adaptive.space import Space
from phenes.adaptive.state import Run

LARGEST = 20_000  # population of a restart, unless the user's own is of that order


def default_popsize(space: Space) -> int:
    """The textbook's, with noise as well: the models do the averaging. Of 10, 18 and 30 at d = 10,
    10 was best.
    """
    return 4 + int(3 * math.log(space.dim))


@dataclass
class Plan:
    """Shares of the budget between refining the answer and challenging it by small and large
    restarts (BIPOP).
    """

    small: int  # population of the first run and of small restarts
    large: int = 0  # large restarts so far
    started: int = 0
    is_large: bool = False  # the current challenger
    counted: int = 0  # evaluations of the current challenger in the sums below
    spent_small: int = 0
    spent_large: int = 0
    refined: int = -1  # evaluations of the incumbent when it finished; -1: not yet
    in_vain: int = 0  # challengers in a row that were no better
    at_same: int = 0  # those in a row that ended where the incumbent is
    same: int = 0  # challengers that ended where the incumbent is, and elsewhere
    elsewhere: int = 0

    def spent(self, challenger: Run) -> None:
        """Counts what the challenger has used since the last time."""
        new = challenger.evaluations - self.counted
        self.counted = challenger.evaluations
        if self.is_large:
            self.spent_large += new
        else:
            self.spent_small += new

    def judged(self, better: bool, same: bool) -> None:
        self.in_vain = 0 if better else self.in_vain + 1
        self.at_same = self.at_same + 1 if same else 0
        self.same, self.elsewhere = self.same + same, self.elsewhere + (not same)
        self.refined = -1 if better else self.refined

    def refine(self, incumbent: Run) -> bool:
        """True if the incumbent is due for more evaluations.

        Its share is one half to begin with, more as restarts end at the same place, less as they
        end elsewhere: where nothing else is to be found, the answer deserves them.
        """
        if self.refined < 0:
            self.refined = incumbent.evaluations
        if incumbent.phase != "newton":
            return False
        # one other place is proof enough that there are others
        same = 0 if self.elsewhere else self.same
        share = (same + 2) / (same + self.elsewhere + 4)
        return (1 - share) * (incumbent.evaluations - self.refined) < share * (
            self.spent_small + self.spent_large
        )

    @property
    def pointless(self) -> bool:
        """Three challengers in a row came to the same place, or nine in a row (as many as BIPOP's
        default) to no better one.
        """
        return self.at_same >= 3 or self.in_vain >= 9


def challenge(
    plan: Plan, space: Space, x0: np.ndarray, value_noise: float, rng: np.random.Generator
) -> Run:
    """A new run from elsewhere: large if large ones have had less of the budget."""
    plan.started += 1
    plan.counted = 0
    plan.is_large = plan.spent_large <= plan.spent_small
    boxed = np.isfinite(space.lower) & np.isfinite(space.upper)
    if plan.is_large:
        # textbook of BIPOP: each large population is twice the one before, as far as memory is to
        # be bounded
        popsize, width = (
            min(round(3.3 * plan.small) * 2**plan.large, max(LARGEST, 4 * plan.small)),
            3.0,
        )
        plan.large += 1
    else:
        # also narrow ones: a wide search falls into the same basin again
        popsize, width = plan.small, 3 * 10 ** (-2 * rng.random())
    theta = x0 + 2 * space.width * rng.standard_normal(space.dim)
    theta = np.where(
        boxed,
        rng.uniform(np.where(boxed, space.lower, 0.0), np.where(boxed, space.upper, 1.0)),
        theta,
    )
    return runs.start(
        space, np.clip(theta, space.lower, space.upper) + space.bias, width, popsize, value_noise
    )


def decided(challenger: Run, incumbent: Run) -> bool:
    """True if it has ended, or is in its final phase and clearly worse or at the same place: what
    is left to gain there is small.
    """
    if challenger.finished or challenger.phase != "newton" or not np.isfinite(challenger.value):
        return bool(challenger.finished)
    worse = (
        challenger.value - incumbent.value
        > 3 * math.hypot(challenger.error, incumbent.error) + challenger.promise
    )
    return worse or same_place(challenger, incumbent)


def better(challenger: Run, incumbent: Run) -> bool:
    """Lower by more than one joint standard error."""
    if not np.isfinite(challenger.value):
        return False
    if not np.isfinite(incumbent.value):
        return True
    return challenger.value < incumbent.value - math.hypot(challenger.error, incumbent.error)


def same_place(challenger: Run, incumbent: Run) -> bool:
    """Means closer than half of what noise and search spread there, and values that agree to
    rounding or within five standard errors.
    """
    apart = abs(challenger.value - incumbent.value)
    agree = apart <= max(
        5 * math.hypot(challenger.error, incumbent.error), 1e-9 * abs(incumbent.value)
    )
    wide = np.maximum(np.linalg.norm(challenger.normal.root), np.linalg.norm(incumbent.normal.root))
    size = np.linalg.norm(incumbent.normal.mean)
    return bool(
        agree
        and np.linalg.norm(challenger.normal.mean - incumbent.normal.mean)
        <= wide / 2 + 1e-6 * (1 + size)
    )
