"""Whether a model resolves a limit: a smooth one through values that jump is sure of itself.

A model between a row that holds and one that violates says where in between the limit is. Where the
constraint jumps on the way it may be anywhere there, and no error of the model says so.
"""

from __future__ import annotations

import numpy as np

from phenes._validate import BoolArray, FloatArray
from phenes.constraints import steps
from phenes.evidence.observations import Observations
from phenes.gp.limits import LimitModel
from phenes.gp.posterior import Posterior

# share of the standard deviation of a constraint from which on the step between what holds and what
# violates is a gap: no row shows how the constraint goes from one to the other
GAP = 0.5
# share of such a gap that a model may miss of rows that are left out, on average: a plane or a
# quadratic that is exact elsewhere is believed there, too
MISSED = 0.04


def jumping(seen: Observations, rows: int | None = None) -> BoolArray:
    """Which constraints take few values, (J,): pass or fail, scrap, steps, or always the same.

    rows: how many, from the first on; all by default.
    """
    return np.array([steps.few_values(seen.point[:rows], c) for c in seen.c[:rows].T], bool)


def between_steps(seen: Observations) -> FloatArray:
    """Constraints (n, J) whose limit lies in the middle of a jump, where they jump."""
    c = seen.c.copy()
    for k in np.flatnonzero(jumping(seen)):
        c[:, k] -= steps.middle(c[:, k])
    return c


def unresolved(seen: Observations, model: LimitModel | None) -> BoolArray:
    """Limits that no model resolves, (J,): they jump, or do so for all that rows show."""
    jump = jumping(seen)
    if model is None:
        return jump
    return jump | np.array([_between_rows(one.posterior) for one in model.parts])


def _between_rows(known: Posterior | None) -> bool:
    """Whether no row lies near the limit, and the model is not one that could do without."""
    if known is None or not known.y.min() <= 0 < known.y.max():
        return False
    gap = float(known.y[known.y > 0].min() - known.y[known.y <= 0].max())
    missed = float(np.sqrt(np.mean(known.leave_one_out()[0] ** 2)))
    return gap > GAP * float(known.y.std()) and missed > MISSED * gap
