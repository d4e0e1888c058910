"""Ratios of means over batches, with the standard error that the jackknife gives them."""

from collections.abc import Callable

import numpy as np

from phenes_lab.bench.estimators.rows import Ratio


def jackknife(
    statistic: Callable[..., float], *batches: np.ndarray, theory: float | None = None
) -> Ratio:
    """The statistic of all batches, with the standard error from leaving each out in turn."""
    n = len(batches[0])
    without = np.array([statistic(*(np.delete(b, i, axis=0) for b in batches)) for i in range(n)])
    se = np.sqrt((n - 1) * np.mean((without - without.mean()) ** 2))
    return Ratio(float(statistic(*batches)), float(se), theory)


def ratio_of_means(a: np.ndarray, b: np.ndarray) -> float:
    return a.mean() / b.mean()


def relative_bias(g: np.ndarray, reference: np.ndarray) -> float:
    return _squared_mean(g - reference) / _squared_mean(reference)


def _squared_mean(g: np.ndarray) -> float:
    """|E g|^2, without the variance that |mean g|^2 carries."""
    return np.sum(g.mean(axis=0) ** 2) - np.sum(g.var(axis=0, ddof=1)) / len(g)
