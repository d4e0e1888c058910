"""The judge of restarts: which of two descents has the better answer, and are they one place?"""

import math

import numpy as np

from phenes.adaptive import tuning
from phenes.adaptive.descent import Descent


def _joint_error(challenger: Descent, incumbent: Descent) -> float:
    return math.hypot(challenger.state.claim.error, incumbent.state.claim.error)


def decided(challenger: Descent, incumbent: Descent) -> bool:
    """Has it ended, or is it in its refinement and clearly worse, or at the same place?

    What is left to gain there is small.
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
    """Is the challenger's value lower by more than one joint standard error?"""
    new = challenger.state.claim.value
    old = incumbent.state.claim.value
    if not np.isfinite(new):
        return False
    if not np.isfinite(old):
        return True
    return new < old - _joint_error(challenger, incumbent)


def same_place(challenger: Descent, incumbent: Descent) -> bool:
    """Are the means closer than half of what noise and search spread there, with one value?

    Values agree to rounding or within five standard errors.
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
