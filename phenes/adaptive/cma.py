"""Far from the optimum: CMA-ES (active, cumulative step-size control) on the realised points,
whitened by their marginal covariance.

The step size is part of the covariance. Under neutral selection the whitened points are N(0, I)
whatever the noise is, so that the textbook constants hold.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from phenes.adaptive.normal import Normal

Inside = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Rates:
    """Weights and learning rates for populations of one size, after N. Hansen's tutorial (arXiv
    1604.00772).
    """

    weights: np.ndarray  # [n], best first
    mu: int  # number of positive weights, which sum to one
    mu_eff: float
    c_s: float
    damping: float
    c_c: float
    c_1: float
    c_mu: float


@functools.lru_cache(maxsize=64)
def rates(dim: int, n: int, evaluated: int, diagonal: bool) -> Rates:
    """Weights of a population of n; rates for the number that was evaluated: what a model says of
    the others is not new.
    """
    positive, negative = _raw(n)
    mu_eff, known = _effective(positive), _effective(_raw(evaluated)[0])
    mu_eff_neg = _effective(negative)
    c_s = (known + 2) / (dim + known + 5)
    damping = 1 + 2 * max(0.0, math.sqrt((known - 1) / (dim + 1)) - 1) + c_s
    c_c = (4 + known / dim) / (dim + 4 + 2 * known / dim)
    # a diagonal has d numbers to learn, not d^2 / 2 (separable CMA-ES)
    faster = (dim + 2) / 3 if diagonal else 1.0
    c_1 = min(0.5, faster * 2 / ((dim + 1.3) ** 2 + known))
    c_mu = min(1 - c_1, faster * 2 * (known - 2 + 1 / known + 0.25) / ((dim + 2) ** 2 + known))
    alpha = min(
        1 + c_1 / max(c_mu, 1e-300),
        1 + 2 * mu_eff_neg / (mu_eff + 2),
        (1 - c_1 - c_mu) / max(dim * c_mu, 1e-300),
    )
    weights = positive / positive.sum() + max(alpha, 0.0) * negative / max(
        float(-negative.sum()), 1e-300
    )
    return Rates(weights, max(1, int(np.sum(positive > 0))), mu_eff, c_s, damping, c_c, c_1, c_mu)


def _raw(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Logarithms of ranks, best first: the positive and the negative part."""
    raw = math.log((n + 1) / 2) - np.log(np.arange(1, n + 1))
    return np.maximum(raw, 0.0) if n > 1 else np.ones(1), np.minimum(raw, 0.0)


def _effective(weights: np.ndarray) -> float:
    return float(weights.sum() ** 2 / max(float(np.sum(weights**2)), 1e-300))


@dataclass
class Paths:
    """Evolution paths: p_s without unit in y's axes, p_c in units of y."""

    s: np.ndarray
    c: np.ndarray
    age: int = 0


def update(
    normal: Normal,
    paths: Paths,
    y: np.ndarray,
    f: np.ndarray,
    longest: float,
    evaluated: int | None = None,
    paired: bool = False,
    inside: Inside | None = None,
) -> None:
    """One generation: moves mean, covariance and paths; call `normal.settle` afterwards.

    Realised points y [n, d] and their values f [n], where not finite is worst. No whitened point
    counts as longer than `longest`.
    evaluated: how many of the values are not a model's; all by default. paired: the points are
    mirror images of each other, two by two.
    inside: where a box that cuts into the search lets a mean be. Points lie on one side of the mean
    then: what the selected say is how they differ from all, and what counts as a step is what the
    box leaves of it.
    """
    order = np.argsort(np.where(np.isfinite(f), f, np.inf), kind="stable")
    d, n = y.shape[1], y.shape[0]
    k = rates(d, n, evaluated or n, normal.diagonal)
    z = normal.whiten(y[order])
    length = np.sqrt(np.sum(z**2, axis=1))
    # nobody draws points this far out: they were told without being asked, and may pull only this
    # hard
    z *= np.minimum(1.0, longest / np.maximum(length, 1e-300))[:, None]
    w = np.where(np.isfinite(f[order]), k.weights, np.minimum(k.weights, 0.0))
    total = w[: k.mu].sum()
    if total <= 0:
        return
    w[: k.mu] /= total
    step = w[: k.mu] @ z[: k.mu]
    if inside is not None:
        step = normal.whiten(inside(normal.mean + normal.unwhiten(step - z.mean(axis=0))))
    mu_eff = _neutral(k.mu_eff, n, paired, inside is not None)
    paths.age += 1
    turned = step if normal.basis is None else normal.basis @ step
    paths.s = (1 - k.c_s) * paths.s + math.sqrt(k.c_s * (2 - k.c_s) * mu_eff) * turned
    norm = float(np.linalg.norm(paths.s))
    expected = math.sqrt(d) * (1 - 1 / (4 * d) + 1 / (21 * d * d))
    calm = norm / math.sqrt(1 - (1 - k.c_s) ** (2 * paths.age)) < (1.4 + 2 / (d + 1)) * expected
    move = normal.unwhiten(step)
    paths.c = (1 - k.c_c) * paths.c + calm * math.sqrt(k.c_c * (2 - k.c_c) * mu_eff) * move
    normal.mean = normal.mean + move
    _reshape(normal, paths, z, w, k, calm)
    growth = math.exp(min(1.0, k.c_s / k.damping * (norm / expected - 1)))
    normal.cov = normal.cov * growth**2
    paths.c = paths.c * growth


def _neutral(mu_eff: float, n: int, paired: bool, centred: bool) -> float:
    """One over the variance of a step under neutral selection, which has to be 1 in the paths
    whatever the points are.

    Of a pair it is (w_i - w_j)^2 instead of w_i^2 + w_j^2: the mean of 2 w_i w_j over all pairs
    that there could be is missing. Without this the step size would shrink for no reason.
    """
    variance = 1 / mu_eff
    if paired and n > 2:
        variance -= (1 - variance) / (n - 1)
    elif centred:
        variance -= 1 / n
    return 1 / max(variance, 1e-9)


def _reshape(
    normal: Normal, paths: Paths, z: np.ndarray, w: np.ndarray, k: Rates, calm: bool
) -> None:
    """Rank-one and rank-mu update; bad points push variance away, each as if it were of average
    length.
    """
    d = z.shape[1]
    scaled = np.where(w < 0, w * d / np.maximum(np.sum(z**2, axis=1), 1e-300), w)
    keep = 1 - k.c_1 - k.c_mu * w.sum() + (0.0 if calm else k.c_1 * k.c_c * (2 - k.c_c))
    if normal.diagonal:
        normal.cov = (
            keep * normal.cov + k.c_1 * paths.c**2 + k.c_mu * (scaled @ z**2) * normal.root**2
        )
        return
    r = normal.unwhiten(z)
    normal.cov = (
        keep * normal.cov + k.c_1 * np.outer(paths.c, paths.c) + k.c_mu * (r.T * scaled) @ r
    )
