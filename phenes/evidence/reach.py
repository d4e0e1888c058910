"""Which part of the law of x around a theta no evaluation has met.

Draws at a theta show what is frequent there. What is rare, and decides a tail, lies to some side
of them: behind an edge that none has crossed, whatever a smooth model says of it. Evaluations
beside theta have crossed it as well, since f is exact wherever x is. So for every direction it is
known how far into the law evaluations reach, and how much of the law lies beyond.
"""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
from scipy import special

from phenes._validate import FloatArray
from phenes.evidence.law import Law
from phenes.gp.draws import quasi_normal

DIRECTIONS = 512  # that are looked into
# times the root of the number of coordinates, in standard deviations: what is farther away says
# nothing of an edge here, which it may lie behind or beside
WITHIN = 3.0
# share of what may be unmet beyond which an evaluation is aimed: half of them land closer
AIM = 0.25
AT_ONCE = 4096  # rows, of which many directions take no more than some megabytes


class Unmet(NamedTuple):
    """The largest share of a law that lies beyond all evaluations in one direction.

    direction (d,): a unit vector of whitened coordinates.
    """

    share: float
    direction: FloatArray


def unmet(law: Law, points: FloatArray) -> Unmet:
    """What evaluations at points (n, d) have not met of a law.

    Parameters
    ----------
    law : Law
        Of x at a theta.
    points : ndarray, shape (n, d)
        Realised x, of evaluations at any theta.

    Returns
    -------
    Unmet
        Share 0 without noise: there is one x.
    """
    dim, noisy = law.theta.size, np.flatnonzero(law.noisy)
    direction = np.zeros(dim)
    if not noisy.size:
        return Unmet(0.0, direction)
    z, along = law.z(points)[:, noisy], _directions(noisy.size)
    z = z[np.linalg.norm(z, axis=1) <= WITHIN * math.sqrt(noisy.size)]
    farthest = np.full(len(along), -np.inf)
    for first in range(0, len(z), AT_ONCE):
        reached = z[first : first + AT_ONCE] @ along.T
        farthest = np.maximum(farthest, reached.max(axis=0))
    if law.exact:
        beyond = special.ndtr(-farthest)
    else:
        beyond = np.mean(law.draws[:, noisy] @ along.T > farthest, axis=0)
    worst = int(np.argmax(beyond))
    direction[noisy] = along[worst]
    return Unmet(float(beyond[worst]), direction)


def aimed(law: Law, direction: FloatArray, share: float) -> FloatArray:
    """The theta (d,) whose x lies, on average, beyond all but a part of this share of the law.

    Parameters
    ----------
    law : Law
        Of x at the theta from which it is aimed.
    direction : ndarray, shape (d,)
        Of `Unmet`.
    share : float
        Of the law that may stay unmet.

    Returns
    -------
    ndarray, shape (d,)
    """
    far = -float(special.ndtri(AIM * share))
    return law.theta + law.x(far * direction) - law.centre


@functools.lru_cache(maxsize=4)
def _directions(dim: int) -> FloatArray:
    """Unit vectors (n, d), with the axes among them."""
    if dim == 1:
        return np.array([[1.0], [-1.0]])
    spread = quasi_normal(dim, DIRECTIONS)
    spread = spread[np.linalg.norm(spread, axis=1) > 0]
    axes = np.eye(dim)
    found = np.concatenate([axes, -axes, spread / np.linalg.norm(spread, axis=1)[:, None]])
    found.flags.writeable = False
    return found
