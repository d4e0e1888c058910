"""Rare violations by lines: P(h(x) > 0) of a function that is cheap, to many digits.

Draws alone see one violation in a thousand with an error of a third, whatever they cost. Here each
draw is a line through the law of x along the direction in which h rises, and the normal law along
the line is integrated exactly (line sampling: Koutsourelakis, Pradlwarter and Schueller, 2004). Any
direction is right on average; the better it is, the less the lines differ.
"""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import special

from phenes._validate import FloatArray
from phenes.evidence.law import Law

LINES = 256  # draws of the law across the direction
FARTHEST, STEP = 6.0, 0.5  # of the points along a line, in standard deviations
# lines are spread wider by this share, in up to FEW coordinates; in more, weights would degenerate
WIDER, FEW = 0.3, 10
DRAWS = 256  # by which the direction is found


def violating(law: Law, worst: Callable[[FloatArray], FloatArray]) -> float:
    """P(worst(x) > 0) under a law; worst: x (m, d) -> (m,)."""
    if not law.noisy.any():
        return float(worst(law.centre[None])[0] > 0)
    if not law.exact:
        return float(np.mean(worst(law.x(law.draws)) > 0))
    along = direction(law, worst)
    t = np.arange(-FARTHEST, FARTHEST + STEP, STEP)
    z = _matched(law.draws[:LINES], law.noisy.sum())
    z = z - (z @ along)[:, None] * along
    # rare violations lie far out: lines are spread wider than the law, and weighed
    wide = 1 + WIDER * min(1.0, math.sqrt(FEW / z.shape[1]))
    weight = np.exp(-0.5 * (wide**2 - 1) * np.sum(z**2, axis=1))
    points = wide * z[:, None, :] + t[:, None] * along
    h = worst(law.x(points.reshape(-1, z.shape[1]))).reshape(len(z), t.size)
    return float(weight @ _above(h, t) / weight.sum())


def _matched(z: FloatArray, coordinates: int) -> FloatArray:
    """Draws (n, d) with exactly the mean and covariance of the law, if they are enough for that."""
    if len(z) < 4 * coordinates or coordinates < z.shape[1]:
        return z
    centred = z - z.mean(axis=0)
    root = np.linalg.cholesky(centred.T @ centred / len(z))
    return np.linalg.solve(root, centred.T).T


def direction(law: Law, worst: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """The unit vector, whitened, along which `worst` rises on average: the plane that fits best."""
    z = law.draws[: max(DRAWS, 2 * law.theta.size)]
    h = worst(law.x(z))
    slope = np.linalg.lstsq(z - z.mean(axis=0), h - h.mean(), rcond=None)[0]
    length = float(np.linalg.norm(slope))
    if length > 0 and np.isfinite(length):
        return slope / length
    return np.eye(law.theta.size)[int(np.argmax(law.noisy))]


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
