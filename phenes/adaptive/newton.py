"""Newton steps on a fitted model: early ones on the way, and the final, value-based ones at the
noise floor.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from phenes.adaptive.quadratic import Fit

# Of a point (along the columns of turn) and curvatures: the best point by that model which the box
# allows.
Confine = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Step:
    """What a model advises, along the columns of its `turn`: where to go (whitened) and by what to
    multiply the variances.
    """

    move: np.ndarray
    factors: np.ndarray
    length: float  # of the step before it was shortened, in the largest coordinate
    # decrease that the model promises, over what errors of the model alone would promise
    signal: float


def edge_of(fit: Fit) -> float:
    """Curvatures below this may be errors: the largest eigenvalue of a symmetric matrix of noise
    (Wigner), or the largest of d numbers.
    """
    d = fit.g.size
    spread = 2 * math.sqrt(d) if fit.turn is not None else math.sqrt(4 * math.log(2 * d))
    return fit.residual * spread / math.sqrt(fit.n)


def _descend(fit: Fit, curvature: np.ndarray, radius: float) -> np.ndarray:
    """-g / (curvature + lambda), with the lambda that keeps the length within the radius."""
    step = -fit.g / curvature
    low, high = 0.0, float(np.linalg.norm(fit.g)) / radius
    if np.linalg.norm(step) <= radius:
        return step
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (
            (middle, high)
            if np.linalg.norm(fit.g / (curvature + middle)) > radius
            else (low, middle)
        )
    return -fit.g / (curvature + high)


def _signal(fit: Fit, curvature: np.ndarray, step: np.ndarray) -> float:
    """Each component of the gradient has the variance residual^2 / (n - p) or so: under no gradient
    this is 1 on average.
    """
    spare = max(fit.n - fit.features, 1)
    promised = float(-2 * fit.g @ step - curvature @ step**2)
    return promised / max(float(fit.residual**2 / spare * np.sum(1 / curvature)), 1e-300)


def _floored(fit: Fit, edge: float) -> np.ndarray:
    """Curvatures that are safe to divide by."""
    return np.maximum(fit.h, max(edge, 1e-12 * float(np.abs(fit.h).max()), 1e-300))


def early(fit: Fit, excess: np.ndarray, confine: Confine, growing: bool) -> Step:
    """On the way: far, within the trust region, and the shape of the search made that of the
    inverse Hessian.

    `excess` [d]: variance of the search over that of the noise, along the columns of turn.
    `growing`: it may become wider where the curvature is not clear.
    """
    d = fit.g.size
    edge = edge_of(fit)
    curvature = _floored(fit, edge)
    full = confine(-fit.g / curvature, curvature)
    # the model is known where the points are, and they are about sqrt d away
    radius = 1.5 * math.sqrt(d)
    move = confine(np.clip(_descend(fit, curvature, radius), -3, 3), curvature)
    resolved = fit.h > 3 * edge
    factors = np.full(
        d, 2.0 if growing and np.linalg.norm(fit.g) > 3 * fit.residual / math.sqrt(fit.n) else 1.0
    )
    if resolved.any():
        # those at the floor cannot shrink: counted here they would inflate the others for ever
        free = resolved & (excess > 0.5)
        level = np.exp(np.mean(np.log(fit.h[free if free.any() else resolved])))
        near = np.linalg.norm(full) < math.sqrt(d)
        shrink = min(max(10 * (1 - fit.r2), 0.1), 1.0) if near else 1.0
        factors[resolved] = np.clip(level / fit.h[resolved], 0.1, 10) * shrink
    if np.linalg.norm(full) > radius:
        factors = np.maximum(factors, 1.0) * np.where(resolved, 2.0, 1.0)
    return Step(move, factors, float(np.abs(full).max()), _signal(fit, curvature, full))


def final(fit: Fit, noise_free: bool, confine: Confine) -> Step:
    """At the floor: one standard deviation at most, two with a good model, which also widens the
    search where its curvature is not clear.

    `noise_free`: no noise on the inputs is known, so what is not explained may be noise of the
    values. If it looks like that (as large near the mean as far out, or more than half of all), the
    search widens until it sees over it: half of the variance explained.
    """
    edge = edge_of(fit)
    curvature = _floored(fit, edge)
    full = confine(-fit.g / curvature, curvature)
    length = float(np.abs(full).max())
    factors = np.ones(fit.g.size)
    if noise_free and fit.r2 < 0.9 and (fit.outer < 1.3 or fit.r2 < 0.5):
        if fit.r2 < 0.5:
            factors[fit.h < fit.residual * math.sqrt(2 / fit.g.size)] = 4.0 if fit.r2 < 0.2 else 1.5
    elif length <= 1:
        factors[fit.h > 3 * edge] = 0.3
        if fit.r2 > 0.9:
            factors[fit.h < edge] = 1.5
    elif fit.r2 > 0.9:
        # came here too early: the way is longer than the search is wide
        factors[np.abs(full) > 1] = 2.0
    far = 2.0 if fit.r2 > 0.9 else 1.0
    return Step(
        confine(np.clip(full, -far, far), curvature), factors, length, _signal(fit, curvature, full)
    )
