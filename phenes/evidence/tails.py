"""Rare violations by lines: the probability that one of several functions is positive.

They are cheap, and it is known to many digits.

Draws alone see one violation in a thousand with an error of a third, whatever they cost. Here each
draw is a line through the law of x along the direction in which a function changes most, and the
normal law along the line is integrated exactly (line sampling: Koutsourelakis, Pradlwarter and
Schueller, 2004). Any direction is right on average; the better it is, the less the lines differ. So
each function has its own, and counts where it is the largest: of two limits at an angle the lines
along one say little of the other. The lines are quasi-random.
"""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
from scipy import special

from phenes._validate import FloatArray
from phenes.evidence.law import Law

LINES = 256  # draws of the law across the directions, shared by the functions
LEAST_LINES = 64  # of each of them
FARTHEST, STEP = 6.0, 0.5  # of the points along a line, in standard deviations
# lines are spread wider by this share, in up to FEW coordinates; in more, weights would degenerate
WIDER, FEW = 0.3, 10
SLOPES = 32  # places whose slopes say in which direction a function changes


def violating(law: Law, limits: Callable[[FloatArray], FloatArray]) -> float:
    """P(the largest of limits(x) > 0) under a law; limits: x (m, d) -> (m, J)."""
    if not law.noisy.any():
        return float(limits(law.centre[None]).max() > 0)
    if not law.exact:
        return float(np.mean(limits(law.x(law.draws)).max(axis=1) > 0))
    along = directions(law, limits)
    lines = max(LINES // len(along), LEAST_LINES)
    return sum(_violating_most(law, limits, k, one, lines) for k, one in enumerate(along))


def _violating_most(
    law: Law,
    limits: Callable[[FloatArray], FloatArray],
    k: int,
    along: FloatArray,
    lines: int,
) -> float:
    """P(limit k is positive, and the largest), by lines along its own direction."""
    t = np.arange(-FARTHEST, FARTHEST + STEP, STEP)
    z = _matched(sobol_normal(law.theta.size, lines) * law.noisy, int(law.noisy.sum()))
    z = z - (z @ along)[:, None] * along
    # rare violations lie far out: lines are spread wider than the law, and weighed
    wide = 1 + WIDER * min(1.0, math.sqrt(FEW / z.shape[1]))
    weight = np.exp(-0.5 * (wide**2 - 1) * np.sum(z**2, axis=1))
    points = wide * z[:, None, :] + t[:, None] * along
    found = limits(law.x(points.reshape(-1, z.shape[1])))
    others = np.delete(found, k, axis=1)
    least = np.minimum(found[:, k], found[:, k] - np.max(others, axis=1, initial=-np.inf))
    above = _above(least.reshape(len(z), t.size), t)
    return float(weight @ above / weight.sum())


def _matched(z: FloatArray, coordinates: int) -> FloatArray:
    """Draws (n, d) with exactly the mean and covariance of the law, if they are enough for that."""
    if len(z) < 4 * coordinates or coordinates < z.shape[1]:
        return z
    centred = z - z.mean(axis=0)
    root = np.linalg.cholesky(centred.T @ centred / len(z))
    return np.linalg.solve(root, centred.T).T


def directions(law: Law, limits: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """The unit vectors (J, d), whitened, along which the functions change most, up or down.

    Each is the first eigenvector of the mean outer product of the slopes: of a band, which is
    violated on both sides, the mean of the slopes would be zero.
    """
    axes = np.eye(law.theta.size)[law.noisy]
    z = sobol_normal(law.theta.size, SLOPES) * law.noisy
    both = np.stack([z + axes[:, None], z - axes[:, None]])  # (2, axes, SLOPES, d)
    found = limits(law.x(both.reshape(-1, law.theta.size)))
    up, down = found.T.reshape(-1, *both.shape[:-1]).swapaxes(0, 1)
    return np.array([_steepest(slopes) @ axes for slopes in up - down])


def _steepest(slopes: FloatArray) -> FloatArray:
    """The direction (d,) of most of the slopes (d, n); the first axis if there are none."""
    if not np.isfinite(slopes).all() or not slopes.any():
        return np.eye(len(slopes))[0]
    return np.linalg.eigh(slopes @ slopes.T)[1][:, -1]


@functools.lru_cache(maxsize=8)
def sobol_normal(dim: int, n: int) -> FloatArray:
    """Standard normal rows (n, d) of a Sobol sequence, always the same.

    Not mirrored, unlike `phenes.gp.draws`: what is odd along a line is integrated anyway, and of
    what is even a mirror image says nothing new.
    """
    from scipy.stats import qmc  # takes a while to import: here if anywhere

    found = qmc.Sobol(dim, scramble=True, rng=np.random.default_rng(dim))
    z = special.ndtri(found.random(1 << (n - 1).bit_length()))
    z.flags.writeable = False
    return z


def _above(h: FloatArray, t: FloatArray) -> FloatArray:
    """Normal probability of t where h (n, k), joined by straight lines, is positive, (n,)."""
    low, high = h[:, :-1], h[:, 1:]
    left, right = np.broadcast_to(t[:-1], low.shape), np.broadcast_to(t[1:], low.shape)
    crosses = (low > 0) != (high > 0)
    share = np.where(crosses, low / np.where(crosses, low - high, 1.0), 0.0)
    root = left + share * (right - left)
    begin = np.where(crosses & (low <= 0), root, left)
    end = np.where(crosses & (low > 0), root, right)
    inside = (low > 0) | (high > 0)
    # tails on the side where their probability keeps its digits
    mass = np.where(
        begin > 0,
        special.ndtr(-begin) - special.ndtr(-end),
        special.ndtr(end) - special.ndtr(begin),
    )
    ends = special.ndtr(t[0]) * ((h[:, 0] > 0) + 0.0 + (h[:, -1] > 0))
    return np.sum(np.where(inside, mass, 0.0), axis=1) + ends
