"""One-sided 95 % bounds: of a probability (Clopper and Pearson), and of a mean (Student)."""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import math

import numpy as np
from scipy import special

from phenes._validate import FloatArray

SURE = 0.95  # of every bound


def lower(successes: int, draws: int) -> float:
    """The probability is at least this, at 95 %."""
    if not successes:
        return 0.0
    return float(special.betaincinv(successes, draws - successes + 1, 1 - SURE))


def upper(successes: float, draws: float, sure: float = SURE) -> float:
    """The probability is at most this, at 95 % or another confidence."""
    if successes >= draws:
        return 1.0
    return float(special.betaincinv(successes + 1, draws - successes, sure))


def needed(level: float, violated: int = 0) -> int:
    """Draws, so many of them violating, after which `lower` reaches a probability."""
    n = math.ceil(math.log(1 - SURE) / math.log(level))
    if not violated:
        return n
    low, high = n, n
    while lower(high - violated, high) < level:
        low, high = high, 2 * high + violated
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if lower(middle - violated, middle) >= level else (middle, high)
    return high


def of_mean(values: FloatArray, sure_below: float = SURE) -> tuple[float, float, float]:
    """The mean, and what it is at least, at 95 % or another confidence, and at most, at 95 %."""
    n = values.size
    if not n:
        return np.nan, -np.inf, np.inf
    mean = float(values.mean())
    if n < 2 or not np.isfinite(mean):
        return mean, -np.inf, np.inf
    error = float(values.std(ddof=1)) / math.sqrt(n)
    low, high = (float(special.stdtrit(n - 1, sure)) * error for sure in (sure_below, SURE))
    return mean, mean - low, mean + high
