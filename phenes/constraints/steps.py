"""Constraints that take few values: pass or fail, scrap, a number that never changes.

They say on which side of a limit a row is, not how far from it.
"""

from __future__ import annotations

import numpy as np

from phenes._validate import FloatArray

MOSTLY = 0.5  # share of the rows, or of those that violate, whose value is that of another row
# share of the standard deviation of a constraint from which on two of its values are apart: of a
# number that was rounded the next one is nearer
APART = 0.25


def few_values(point: FloatArray, c: FloatArray) -> bool:
    """Whether rows at different x share their values, which are apart from all others.

    Parameters
    ----------
    point : ndarray, shape (n, d)
        Where the rows were realised.
    c : ndarray, shape (n,)
        A constraint there; NaN where it is not known.

    Returns
    -------
    bool
    """
    known = np.isfinite(c)
    point, c = point[known], c[known]
    if c.size < 2:
        return False
    value, first, group = np.unique(c, return_index=True, return_inverse=True)
    elsewhere = np.any(point != point[first[group]], axis=1)
    shared = np.isin(group, group[elsewhere])
    over = c > 0
    if shared.mean() <= MOSTLY and not (over.any() and shared[over].mean() > MOSTLY):
        return False
    steps = np.concatenate([[np.inf], np.diff(value), [np.inf]])
    alone = np.minimum(steps[:-1], steps[1:]) > APART * float(c.std())
    return bool(alone[np.unique(group[shared])].any())


def middle(c: FloatArray) -> float:
    """The middle between the largest value that holds and the least that violates; 0 without both.

    Of 0 and 1 for good and bad, a model would have all that is good at the limit itself, and half
    of it beyond.

    Parameters
    ----------
    c : ndarray, shape (n,)
        A constraint that jumps.

    Returns
    -------
    float
    """
    good, bad = c <= 0, c > 0
    if not (good.any() and bad.any()):
        return 0.0
    return float(c[good].max() + c[bad].min()) / 2
