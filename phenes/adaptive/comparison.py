"""Compares descents for restarts: which answer is better, and whether the places are the same."""

import math

import numpy as np

from phenes.adaptive import tuning
from phenes.adaptive.descent import Descent


def _joint_error(challenger: Descent, incumbent: Descent) -> float:
    return math.hypot(challenger.state.claim.error, incumbent.state.claim.error)


def decided(challenger: Descent, incumbent: Descent) -> bool:
    """Whether the challenger has ended, or is being refined and clearly worse or at the same place.

    A refinement has little left to gain.
    """
    phase = challenger.state.phase
    value = challenger.state.claim.value
    if phase.over or not phase.refines or not np.isfinite(value):
        return phase.over
    margin = tuning.CLEARLY_WORSE * _joint_error(challenger, incumbent)
    promise = challenger.policies.refinement.promise
    worse = value - incumbent.state.claim.value > margin + promise
    return worse or same_place(challenger, incumbent)


def better(challenger: Descent, incumbent: Descent) -> bool:
    """Whether the challenger's value is lower by more than one joint standard error.

    A mean is not below all that it is a mean of: what is claimed below the best value that was seen
    is extrapolated, by a model far from its samples.
    """
    new = challenger.state.claim.value
    old = incumbent.state.claim.value
    best = challenger.state.archive.best()
    if not np.isfinite(new) or (best is not None and new < best[1] - challenger.state.claim.error):
        return False
    if not np.isfinite(old):
        return True
    return new < old - _joint_error(challenger, incumbent)


def same_place(challenger: Descent, incumbent: Descent) -> bool:
    """Whether the two values agree and the two means are closer than half of the spread of x there.

    Values agree up to rounding or within five standard errors. The spread is that of noise and
    search together.
    """
    value = incumbent.state.claim.value
    ours = incumbent.state.marginal
    theirs = challenger.state.marginal
    apart = abs(challenger.state.claim.value - value)
    error = tuning.SAME_VALUE * _joint_error(challenger, incumbent)
    agree = apart <= max(error, tuning.SAME_ROUNDING * abs(value))
    wide = np.maximum(np.linalg.norm(theirs.root), np.linalg.norm(ours.root))
    rounding = tuning.SAME_PLACE_ROUNDING * (1 + np.linalg.norm(ours.mean))
    distance = np.linalg.norm(theirs.mean - ours.mean)
    return bool(agree and distance <= wide * tuning.SAME_PLACE + rounding)
