"""Theta that may be better than the one that leads a verification."""

from collections.abc import Callable

import numpy as np

from phenes._validate import FloatArray, IntArray
from phenes.evidence import Estimate, Law, Observations
from phenes.evidence.ranking import rank
from phenes.evidence.verification import RIVALS

# numbers of candidates for rivals: best realised points, means along the way
BEST_POINTS, PATH_POINTS = 100, 200
APART = 1.0  # least distance of rivals, in standard deviations of the noise


def candidates(
    seen: Observations,
    law: Law,
    earlier: FloatArray,
    path: FloatArray,
    inside: Callable[[FloatArray], FloatArray],
) -> tuple[FloatArray, IntArray]:
    """Theta [n, d] that may be rivals, and the row that each is the realised point of, or -1.

    earlier [k, d]: those of verifications before. path [m, d]: means of the search along the way.
    """
    good = np.flatnonzero(np.isfinite(seen.f))
    best = good[np.argsort(seen.f[good], kind="stable")[:BEST_POINTS]]
    thin = (
        path[np.unique(np.geomspace(1, max(len(path), 1), PATH_POINTS).astype(int) - 1)]
        if len(path)
        else path
    )
    pool = np.concatenate([earlier, thin, inside(seen.point[best] - (law.centre - law.theta))])
    return pool, np.concatenate([np.full(len(earlier) + len(thin), -1), best])


def rivals(
    seen: Observations,
    law: Law,
    price: float,
    leader: Estimate,
    entrants: list[FloatArray],
    pool: tuple[FloatArray, IntArray],
    merit: Callable[[FloatArray], FloatArray],
) -> list[FloatArray]:
    """Those of a pool that are ranked below the upper bound of the leader, the best first.

    A standard deviation apart from all entrants and each other. law: of x at the leader's theta.
    """
    theta, own = pool
    bound = rank(seen, law, price, theta, own, merit)
    limit = leader.upper if np.isfinite(leader.upper) else np.inf
    chosen: list[FloatArray] = []
    for k in np.argsort(bound, kind="stable"):
        if not bound[k] < limit or len(chosen) == RIVALS:
            break
        apart = [np.linalg.norm(law.z(theta[k]) - law.z(other)) for other in [*entrants, *chosen]]
        if min(apart) > APART:
            chosen.append(theta[k])
    return chosen
