"""Far from the optimum: CMA-ES on the realised points, whitened by their marginal covariance.

Active, with cumulative step-size control. The step size is part of the covariance. Under neutral
selection the whitened points are N(0, I) whatever the noise is, so that the textbook constants
hold. Equations are those of N. Hansen's tutorial (arXiv 1604.00772).
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from phenes.adaptive import tuning
from phenes.adaptive.marginal import Marginal

Inside = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Rates:
    """Weights and learning rates for populations of one size."""

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
    """Weights of a population of n, with the learning rates for `evaluated` of them.

    What a model says of the others is not new.
    """
    positive, negative = _raw(n)
    mu_eff = _effective(positive)
    known = _effective(_raw(evaluated)[0])
    mu_eff_neg = _effective(negative)
    c_s = (known + 2) / (dim + known + 5)  # (55)
    damping = 1 + 2 * max(0.0, math.sqrt((known - 1) / (dim + 1)) - 1) + c_s  # (55)
    c_c = (4 + known / dim) / (dim + 4 + 2 * known / dim)  # (56)
    # a diagonal has d numbers to learn, not d^2 / 2 (separable CMA-ES)
    faster = (dim + 2) / 3 if diagonal else 1.0
    c_1 = min(0.5, faster * 2 / ((dim + 1.3) ** 2 + known))  # (57)
    gained = faster * 2 * (known - 2 + 1 / known + 0.25)
    c_mu = min(1 - c_1, gained / ((dim + 2) ** 2 + known))  # (58)
    alpha = min(
        1 + c_1 / max(c_mu, tuning.TINY),  # (50)
        1 + 2 * mu_eff_neg / (mu_eff + 2),  # (51)
        (1 - c_1 - c_mu) / max(dim * c_mu, tuning.TINY),  # (52)
    )
    bad = max(float(-negative.sum()), tuning.TINY)
    weights = positive / positive.sum() + max(alpha, 0.0) * negative / bad  # (53)
    return Rates(weights, max(1, int(np.sum(positive > 0))), mu_eff, c_s, damping, c_c, c_1, c_mu)


def _raw(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Logarithms of ranks, best first: the positive and the negative part (49)."""
    raw = math.log((n + 1) / 2) - np.log(np.arange(1, n + 1))
    return np.maximum(raw, 0.0) if n > 1 else np.ones(1), np.minimum(raw, 0.0)


def _effective(weights: np.ndarray) -> float:
    """Number of equal weights with the same variance (8)."""
    return float(weights.sum() ** 2 / max(float(np.sum(weights**2)), tuning.TINY))


@dataclass(frozen=True)
class Paths:
    """Evolution paths: s without unit in y's axes, c in units of y."""

    s: np.ndarray
    c: np.ndarray
    age: int = 0


def no_paths(dim: int) -> Paths:
    return Paths(np.zeros(dim), np.zeros(dim))


@dataclass(frozen=True)
class Update:
    """Mean, covariance (not yet put above the noise) and paths after a generation."""

    mean: np.ndarray
    cov: np.ndarray
    paths: Paths
    growth: float = 1.0  # of the step size, which is part of cov
    share: float = 0.0  # of cov that is new


@dataclass(frozen=True)
class Population:
    """Realised points y [n, d] and their values f [n]; a value that is not finite is the worst.

    evaluated: how many of the values are not a model's. paired: the points are mirror images of
    each other, two by two.
    """

    y: np.ndarray
    f: np.ndarray
    evaluated: int
    paired: bool = False


def update(
    marginal: Marginal,
    paths: Paths,
    told: Population,
    inside: Inside | None = None,
    k: Rates | None = None,
) -> Update:
    """One generation of CMA-ES.

    With positive weights only, c_1 = 0 and infinite damping this is the natural gradient of the
    marginal: sum_i w_i r_i for the mean and sum_i w_i (r_i r_i' - cov), times c_mu, for the
    covariance, r_i = y_i - mean.

    inside: where bounds that cut into the search let a mean be. Points lie on one side of the mean
    then: what the selected say is how they differ from all, and what counts as a step is what the
    bounds leave of it. k: rates other than the tutorial's.
    """
    n, d = told.y.shape
    k = rates(d, n, told.evaluated, marginal.diagonal) if k is None else k
    z, w = ranked(marginal, told, k)
    total = w[: k.mu].sum()
    if total <= 0:
        return Update(marginal.mean, marginal.cov, paths)
    w[: k.mu] /= total
    step = w[: k.mu] @ z[: k.mu]
    if inside is not None:
        middle = marginal.mean + marginal.unwhiten(step - z.mean(axis=0))
        step = marginal.whiten(inside(middle))
    mu_eff = _neutral(k.mu_eff, n, told.paired, inside is not None)
    age = paths.age + 1
    turned = step if marginal.basis is None else marginal.basis @ step
    path_s = (1 - k.c_s) * paths.s + math.sqrt(k.c_s * (2 - k.c_s) * mu_eff) * turned  # (43)
    norm = float(np.linalg.norm(path_s))
    calm = is_calm(norm, k.c_s, age, d)
    move = marginal.unwhiten(step)
    pull = calm * math.sqrt(k.c_c * (2 - k.c_c) * mu_eff)
    path_c = (1 - k.c_c) * paths.c + pull * move  # (45)
    stalled = 0.0 if calm else k.c_1 * k.c_c * (2 - k.c_c)
    cov = reshaped(marginal, path_c, z, w, k, stalled)
    growth = math.exp(min(1.0, k.c_s / k.damping * (norm / expected_length(d) - 1)))  # (44)
    paths = Paths(path_s, path_c * growth, age)
    return Update(marginal.mean + move, cov * growth**2, paths, growth, k.c_1 + k.c_mu)


def ranked(marginal: Marginal, told: Population, k: Rates) -> tuple[np.ndarray, np.ndarray]:
    """Whitened points z [n, d], best first, and their weights w [n]."""
    order = np.argsort(np.where(np.isfinite(told.f), told.f, np.inf), kind="stable")
    z = marginal.whiten(told.y[order])
    length = np.sqrt(np.sum(z**2, axis=1))
    # no draw lies this far out: such points were injected by the caller, and their length is
    # clipped
    longest = np.sqrt(z.shape[1]) + tuning.LONGEST_BEYOND
    z *= np.minimum(1.0, longest / np.maximum(length, tuning.TINY))[:, None]
    return z, np.where(np.isfinite(told.f[order]), k.weights, np.minimum(k.weights, 0.0))


def expected_length(dim: int) -> float:
    """E |N(0, I)|, up to O(d^-5/2)."""
    return math.sqrt(dim) * (1 - 1 / (4 * dim) + 1 / (21 * dim * dim))


def is_calm(norm: float, c_s: float, age: int, dim: int) -> bool:
    """h_sigma: False while the path of the step size is so long that p_c has to wait."""
    settled = math.sqrt(1 - (1 - c_s) ** (2 * age))
    return norm / settled < (1.4 + 2 / (dim + 1)) * expected_length(dim)


def _neutral(mu_eff: float, n: int, paired: bool, centred: bool) -> float:
    """One over the variance of a step under neutral selection, which has to be 1 in the paths.

    Of a pair it is (w_i - w_j)^2 instead of w_i^2 + w_j^2: the mean of 2 w_i w_j over all pairs
    that there could be is missing. Without this the step size would shrink for no reason.
    """
    variance = 1 / mu_eff
    if paired and n > 2:
        variance -= (1 - variance) / (n - 1)
    elif centred:
        variance -= 1 / n
    return 1 / max(variance, tuning.LEAST_NEUTRAL)


def reshaped(
    marginal: Marginal,
    path: np.ndarray,
    z: np.ndarray,
    w: np.ndarray,
    k: Rates,
    stalled: float = 0.0,
) -> np.ndarray:
    """The covariance after the rank-one and the rank-mu update (47).

    cov + c_1 (path path' - cov) + c_mu sum_i w_i (r_i r_i' - cov), r = unwhiten(z). Negative
    weights push variance away, each as if its point were of average length (46). `stalled`: what
    is kept in addition while the path waits.
    """
    d = z.shape[1]
    scaled = np.where(w < 0, w * d / np.maximum(np.sum(z**2, axis=1), tuning.TINY), w)
    keep = 1 - k.c_1 - k.c_mu * w.sum() + stalled
    if marginal.diagonal:
        spread = k.c_mu * (scaled @ z**2) * marginal.root**2
        return keep * marginal.cov + k.c_1 * path**2 + spread
    r = marginal.unwhiten(z)
    return keep * marginal.cov + k.c_1 * np.outer(path, path) + k.c_mu * (r.T * scaled) @ r
