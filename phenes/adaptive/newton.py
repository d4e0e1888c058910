"""Newton steps on a fitted model: early ones on the way, final ones at the noise floor."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from phenes.adaptive import tuning
from phenes.adaptive.model.features import dear
from phenes.adaptive.model.quadratic import Fit

# (gradient, positive curvatures), both along the columns of turn -> the minimiser of that model
# within the bounds, and whether they changed it.
Confine = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, bool]]


@dataclass(frozen=True)
class Advice:
    """What a model advises, along the columns of its `turn` (whitened)."""

    move: np.ndarray  # of the mean
    factors: np.ndarray  # by which to multiply the variances
    length: float  # of the step before it was shortened, in the largest coordinate
    # predicted decrease over the decrease that errors of the model alone would predict
    signal: float


def edge_of(fit: Fit) -> float:
    """Curvatures below this may be errors.

    The largest eigenvalue of a symmetric matrix of noise (Wigner), or the largest of d numbers.
    """
    d = fit.g.size
    if not fit.crossed:
        return fit.residual * math.sqrt(4 * math.log(2 * d) / fit.n)
    # products that are not known yet are part of the residual: there is no more curvature in them
    return fit.residual * 2 * math.sqrt(d / max(fit.n, d * (d - 1) / 2))


def _descend(fit: Fit, curvature: np.ndarray, radius: float) -> np.ndarray:
    """-g / (curvature + lambda), with the lambda that keeps the length within the radius."""
    step = -fit.g / curvature
    if np.linalg.norm(step) <= radius:
        return step
    low = 0.0
    high = float(np.linalg.norm(fit.g)) / radius
    for _ in range(tuning.BISECTIONS):
        middle = (low + high) / 2
        if np.linalg.norm(fit.g / (curvature + middle)) > radius:
            low = middle
        else:
            high = middle
    return -fit.g / (curvature + high)


def regularised(g: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Curvatures h + lambda, positive, with the least lambda for a step -g / them within 1."""
    size = float(np.abs(h).max())
    low = max(0.0, -float(h.min()))
    high = low + float(np.linalg.norm(g))
    least = max(tuning.LEAST_CURVATURE * size, tuning.TINY)

    def length(extra: float) -> float:
        return float(np.linalg.norm(g / np.maximum(h + extra, least)))

    if length(low) <= 1:
        return np.maximum(h + low, least)
    for _ in range(tuning.BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if length(middle) > 1 else (low, middle)
    return np.maximum(h + high, least)


def _shortened(step: np.ndarray, longest: float) -> np.ndarray:
    """A part of a step to a point within the bounds, which are convex: it stays within them."""
    return step * min(1.0, longest / max(float(np.abs(step).max()), tuning.TINY))


def _signal(fit: Fit, curvature: np.ndarray, step: np.ndarray) -> float:
    """The promised decrease over that of errors: 1 on average where there is no gradient.

    Each component of the gradient has the variance residual^2 / (n - p) or so.
    """
    spare = max(fit.n - fit.features, 1)
    promised = float(-2 * fit.g @ step - curvature @ step**2)
    return promised / max(float(fit.residual**2 / spare * np.sum(1 / curvature)), tuning.TINY)


def _floored(fit: Fit, edge: float) -> np.ndarray:
    """Curvatures that are safe to divide by."""
    least = tuning.LEAST_CURVATURE * float(np.abs(fit.h).max())
    common = common_curvature(fit, edge)
    return np.maximum(fit.h, max(min(edge, common) if common > 0 else edge, least, tuning.TINY))


def common_curvature(fit: Fit, edge: float) -> float:
    """The median of the curvatures that are not clear one by one, if it is; else 0.

    In many dimensions a median is known long before its terms. Along axes that are not those of f
    curvatures are averages of its own and much alike; those of a model with products are not.
    """
    unclear = fit.h[fit.h <= tuning.CLEAR_CURVATURE * edge]
    if unclear.size == 0 or fit.crossed or not dear(fit.h.size):
        return 0.0
    median = float(np.median(unclear))
    error = fit.residual * math.sqrt(math.pi / (fit.n * unclear.size))
    return median if median > tuning.CLEAR_CURVATURE * error else 0.0


def early(fit: Fit, excess: np.ndarray, confine: Confine, growing: bool) -> Advice:
    """An early step: within the trust region, with the search shaped like the inverse Hessian.

    `excess` [d]: variance of the search over that of the noise, along the columns of turn.
    `growing`: it may become wider where the curvature is not clear.
    """
    d = fit.g.size
    edge = edge_of(fit)
    curvature = _floored(fit, edge)
    full, blocked = confine(fit.g, curvature)
    # the trust region: samples lie at a distance of about sqrt d, beyond it the model extrapolates
    radius = tuning.TRUST_RADIUS * math.sqrt(d)
    longest = tuning.LONGEST_COORDINATE
    if blocked:
        part = radius / max(float(np.linalg.norm(full)), tuning.TINY)
        move = _shortened(min(part, 1.0) * full, longest)
    else:
        move = np.clip(_descend(fit, curvature, radius), -longest, longest)
    resolved = fit.h > tuning.CLEAR_CURVATURE * edge
    sloping = np.linalg.norm(fit.g) > tuning.CLEAR_SLOPE * fit.residual / math.sqrt(fit.n)
    # beyond the bounds a wider search would see nothing
    grows = growing and sloping and not blocked and common_curvature(fit, edge) == 0
    factors = np.full(d, tuning.EARLY_GROWTH if grows else 1.0)
    if resolved.any():
        near = bool(np.linalg.norm(full) < math.sqrt(d))
        factors[resolved] = _shape(fit, excess, resolved, near)
    if np.linalg.norm(full) > radius:
        factors = np.maximum(factors, 1.0) * np.where(resolved, tuning.EARLY_GROWTH, 1.0)
    return Advice(move, factors, float(np.abs(full).max()), _signal(fit, curvature, full))


def _shape(fit: Fit, excess: np.ndarray, resolved: np.ndarray, near: bool) -> np.ndarray:
    """Factors of the variances along clear curvatures: towards the inverse Hessian."""
    # directions at the noise floor cannot shrink: averaged in, they would inflate the others
    free = resolved & (excess > tuning.FREE_EXCESS)
    level = np.exp(np.mean(np.log(fit.h[free if free.any() else resolved])))
    shrink = 1.0
    if near:
        unexplained = tuning.SHRINK_PER_UNEXPLAINED * (1 - fit.r2)
        shrink = min(max(unexplained, tuning.MOST_SHRUNK), 1.0)
    most = tuning.MOST_RESHAPED
    return np.clip(level / fit.h[resolved], 1 / most, most) * shrink


def wide(fit: Fit, confine: Confine, last: bool) -> Advice:
    """A step on a trend: at most one standard deviation, narrower where the minimum is known.

    It is known along axes of clear curvature. `last`: the search becomes as narrow as the error of
    the minimum, for which curvature that is not clear counts as what errors make.
    """
    edge = edge_of(fit)
    curvature = _floored(fit, edge)
    full, blocked = confine(fit.g, curvature)
    errors = fit.blur / curvature
    longest = tuning.FINAL_LONGEST
    move = _shortened(full, longest) if blocked else np.clip(full, -longest, longest)
    if last:
        factors = np.clip(errors, tuning.TREND_NARROWEST, 1.0) ** 2
    else:
        known = (fit.h > tuning.TREND_CLEAR * edge) & (np.abs(full) < 1)
        factors = np.where(known, tuning.TREND_SHRINK, 1.0)
    return Advice(move, factors, float(np.abs(full).max()), _signal(fit, curvature, full))


def final(fit: Fit, noise_free: bool, confine: Confine) -> Advice:
    """A step at the noise floor: at most one standard deviation, two with a good model.

    A good model also widens the search where its curvature is not clear. `noise_free`: no noise on
    the inputs is known, so what is not explained may be noise of the values. If it looks like that
    (as large near the mean as far out, or more than half of all), the search widens until it sees
    over it: half of the variance explained.
    """
    edge = edge_of(fit)
    curvature = _floored(fit, edge)
    full, blocked = confine(fit.g, curvature)
    length = float(np.abs(full).max())
    good = fit.r2 > tuning.GOOD_R2
    blind = fit.r2 < tuning.BLIND_R2
    factors = np.ones(fit.g.size)
    if noise_free and fit.r2 < tuning.GOOD_R2 and (fit.outer < tuning.NOISE_LIKE or blind):
        if blind:
            unseen = fit.h < fit.residual * math.sqrt(2 / fit.g.size)
            very = fit.r2 < tuning.VERY_BLIND_R2
            factors[unseen] = tuning.BLIND_GROWTH if very else tuning.WEAK_GROWTH
    elif length <= 1:
        factors[fit.h > tuning.CLEAR_CURVATURE * edge] = tuning.FINAL_SHRINK
        if good and not blocked:
            factors[fit.h < edge] = tuning.UNCLEAR_GROWTH
    elif good:
        # the refinement began too early: the step is longer than the search is wide
        factors[np.abs(full) > 1] = tuning.LATE_GROWTH
    far = tuning.FINAL_LONGEST_GOOD if good else tuning.FINAL_LONGEST
    move = _shortened(full, far) if blocked else np.clip(full, -far, far)
    return Advice(move, factors, length, _signal(fit, curvature, full))
