"""What a search minimises in place of f: one number of what was told of each evaluation.

Rows keep what was told, always. What the evolution strategy compares, and what its models are
fitted to, is a merit of it, which changes as more is known: nothing told is lost when it does.
"""

from __future__ import annotations

import numpy as np

from phenes._validate import FloatArray
from phenes.evidence.estimate import balance_weights
from phenes.evidence.law import Law
from phenes.evidence.observations import Observations
from phenes.optimizer.penalty import Penalty
from phenes.risk import Reference, Risk, mean

# Share of the spread of f by which thresholds, means or spreads must differ for all rows to get
# new values: smaller changes move no rank that counts, and each costs a look at all rows.
NOTABLE = 0.1
# The reference is looked at again when there are so many times as many rows: it costs a look at
# all of them.
GROWTH = 1.05
# Rows in the part of the law that counts, by their weights, that a reference rests on; with less
# it rests on the newest rows, of the search as wide as it is.
ENOUGH = 4.0
NEWEST = 40  # rows


class Merit:
    """The merit of a run.

    Parameters
    ----------
    risk : Risk
        What is minimised over theta, of values as minimised.
    penalty : Penalty, optional
        What violating constraints costs, where they are told after the value.
    """

    def __init__(self, risk: Risk, penalty: Penalty | None = None):
        self.risk, self.penalty = risk, penalty
        self.reference: Reference | None = None  # None: nothing is known yet, and f counts
        self._next = 0

    @property
    def plain(self) -> bool:
        """Whether the merit is f itself."""
        return self.risk == mean() and self.penalty is None

    @property
    def functional(self) -> Risk | None:
        """The risk, None if that is the mean."""
        return None if self.risk == mean() else self.risk

    def values(self, told: FloatArray) -> FloatArray:
        """The merit of rows, (n,), from what was told of them; NaN where the evaluation failed.

        told: values (n,), or rows (n, 1 + J) with the constraints after the value.
        """
        if told.ndim == 1:
            return self.of_values(told)
        valued = np.column_stack([self.of_values(told[:, 0]), told[:, 1:]])
        return valued[:, 0] if self.penalty is None else self.penalty.merit(valued)

    def of_values(self, f: FloatArray) -> FloatArray:
        """The part of the risk, of values (n,)."""
        return f if self.reference is None else self.reference.values(f)

    def update(self, seen: Observations, law: Law) -> bool:
        """Learn from all rows where the search is now; whether the merit has changed notably."""
        rows = seen.count + seen.dropped
        if self.functional is None or rows < self._next:
            return False
        f, weights = self._sample(seen, law)
        if f.size < 2:
            return False
        self._next = int(GROWTH * rows) + 1
        new = self.risk.reference(f, weights)
        if self.reference is not None and self.reference.near(new, NOTABLE):
            return False
        self.reference = new
        return True

    def _sample(self, seen: Observations, law: Law) -> tuple[FloatArray, FloatArray]:
        """Values and weights of the law of f where the search is, or of the newest rows."""
        f = seen.f
        weights = np.where(np.isfinite(f), balance_weights(seen, law), 0.0)
        least = ENOUGH / self.risk.tail
        if weights.sum() ** 2 < least * np.sum(weights**2) or not weights.any():
            good = np.flatnonzero(np.isfinite(f))[-max(NEWEST, int(least)) :]
            return f[good], np.ones(good.size)
        used = weights > 0
        return f[used], weights[used]
