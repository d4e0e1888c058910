"""Weighted samples: quantiles and their averages, and what draws say of them whatever the law."""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import math

import numpy as np
from scipy import special

from phenes._validate import FloatArray

SIDE = 0.025  # probability beyond each end of an interval


def uniform(f: FloatArray, w: FloatArray | None) -> FloatArray:
    """Weights that sum to one, equal by default, (n,)."""
    return np.full(f.size, 1 / f.size) if w is None else w / w.sum()


def spread(f: FloatArray, w: FloatArray) -> float:
    """Standard deviation of a weighted sample."""
    mean = float(w @ f)
    return math.sqrt(max(float(w @ (f - mean) ** 2), 0.0))


def quantile_of(f: FloatArray, w: FloatArray, p: float) -> float:
    """The least value that at least a share p of the weight does not exceed."""
    order = np.argsort(f, kind="stable")
    below = np.cumsum(w[order])
    return float(f[order[min(int(np.searchsorted(below, p * (1 - 1e-12))), f.size - 1)]])


def band_mean(f: FloatArray, w: FloatArray, low: float, high: float) -> float:
    """The average of the quantiles of probabilities `low` to `high`."""
    order = np.argsort(f, kind="stable")
    edges = np.clip(np.concatenate([[0.0], np.cumsum(w[order])]), low, high)
    edges[-1] = high  # the sum of the weights is one up to rounding
    return float(np.diff(edges) @ f[order]) / (high - low)


def band_weights(f: FloatArray, low: float, high: float) -> FloatArray:
    """What each of equally likely values counts in `band_mean`, along the last axis."""
    n = f.shape[-1]
    edges = np.clip(np.arange(n + 1) / n, low, high)
    ranked = np.diff(edges) / (high - low)
    out = np.empty(f.shape)
    order = np.argsort(f, axis=-1, kind="stable")
    np.put_along_axis(out, order, np.broadcast_to(ranked, f.shape), axis=-1)
    return out


def share_bounds(count: int, n: int) -> tuple[float, float]:
    """Clopper-Pearson interval of a probability of which `count` of n draws are."""
    low = float(special.betaincinv(count, n - count + 1, SIDE)) if count else 0.0
    high = float(special.betaincinv(count + 1, n - count, 1 - SIDE)) if count < n else 1.0
    return low, high


def quantile_bounds(f: FloatArray, level: float) -> tuple[float, float]:
    """Order statistics between which the quantile lies: how many are below it is binomial."""
    n = f.size
    ranked = np.concatenate([[-np.inf], np.sort(f), [np.inf]])
    cumulated = special.bdtr(np.arange(n + 1), n, level)  # at most k are below the quantile
    low = int(np.searchsorted(cumulated, SIDE, side="right"))
    high = int(np.searchsorted(cumulated, 1 - SIDE)) + 1
    return float(ranked[low]), float(ranked[high])
