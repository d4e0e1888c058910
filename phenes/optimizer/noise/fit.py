"""The noise as measurements show it: fitted to x - theta, or tested against the declaration."""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from phenes._validate import FloatArray

# largest dimension in which correlations are estimated: O(d^2) memory, and an eigendecomposition
# per fit
FULL = 200


class Learnt(NamedTuple):
    """The noise estimated from the residuals x - theta.

    `structure` is "none", "isotropic", "diagonal" or "low-rank" (with `rank` shared directions).
    """

    structure: str
    rank: int
    bias: FloatArray
    std: FloatArray
    cov: FloatArray  # [d], or [d, d] for shared errors
    samples: int
    measured: NDArray[np.bool_]  # whether each coordinate was ever measured

    def __str__(self) -> str:
        if not self.measured.any():
            return "no input was measured"
        low, high = self.std[self.measured].min(), self.std[self.measured].max()
        spread = f"{low:.3g}" if high - low < 5e-3 * high else f"{low:.3g} to {high:.3g}"
        shared = f" with {self.rank} shared direction{'s' * (self.rank > 1)}" if self.rank else ""
        largest = np.abs(self.bias).max()
        bias = f"bias up to {largest:.3g}" if largest > 0 else "no bias"
        never = int(np.sum(~self.measured))
        gaps = f", {never} coordinate{'s' * (never > 1)} never measured" if never else ""
        return (
            f"{self.structure} noise{shared}: standard deviation {spread}, {bias} (from"
            f" {self.samples} measured inputs{gaps})"
        )


class Residuals:
    """Running sums of x - theta, and of products where all coordinates were measured."""

    def __init__(self, dim: int):
        self.single, self.sum, self.square = np.zeros(dim), np.zeros(dim), np.zeros(dim)
        self.complete, self.total = 0, np.zeros(dim)
        self.products = np.zeros((dim, dim)) if dim <= FULL else None

    @property
    def samples(self) -> int:
        return int(self.single.max())

    def add(self, r: FloatArray) -> None:
        """Rows of x - theta; NaN was not measured."""
        seen = ~np.isnan(r)
        whole = r[seen.all(axis=1)]
        r = np.where(seen, r, 0.0)
        self.single += seen.sum(axis=0)
        self.sum += r.sum(axis=0)
        self.square += (r * r).sum(axis=0)
        if self.products is not None:
            self.complete += len(whole)
            self.total += whole.sum(axis=0)
            self.products += whole.T @ whole

    def mean(self) -> FloatArray:
        return self.sum / np.maximum(self.single, 1)

    def variances(self) -> FloatArray:
        return np.maximum(self.square / np.maximum(self.single, 1) - self.mean() ** 2, 0.0)

    def learn(self) -> Learnt:
        """The simplest of isotropic, diagonal and low-rank that fits, by BIC.

        With a bias only where it is significant.
        """
        n, seen, var = max(self.samples, 1), self.single > 1, self.variances()
        bias = self.mean()
        bias = np.where(np.abs(bias) > 4 * np.sqrt(var / np.maximum(self.single, 1)), bias, 0.0)
        if not np.any(var > 0):
            return Learnt("none", 0, bias, np.zeros_like(var), np.zeros_like(var), n, seen)
        d, common = int(seen.sum()), float(np.mean(var[seen]))
        gain = 0.5 * n * (d * np.log(common) - np.log(np.maximum(var[seen], 1e-12 * common)).sum())
        # twice the penalty of BIC, which trusts small samples too much
        diagonal = gain > (d - 1) * np.log(n)
        own = np.where(seen, var if diagonal else common, 0.0)
        shared, rank = self._shared(np.sqrt(own))
        if shared is not None:
            return Learnt("low-rank", rank, bias, np.sqrt(np.diag(shared)), shared, n, seen)
        return Learnt("diagonal" if diagonal else "isotropic", 0, bias, np.sqrt(own), own, n, seen)

    def _shared(self, std: FloatArray) -> tuple[FloatArray | None, int]:
        """Probabilistic principal components of the standardised residuals, their number by BIC."""
        d, n = std.size, self.complete
        if self.products is None or d == 1 or n < 2 or not np.all(std > 0):
            return None, 0
        mean = self.total / n
        value, vector = np.linalg.eigh(
            (self.products / n - np.outer(mean, mean)) / np.outer(std, std)
        )
        value, vector = np.maximum(value[::-1], 1e-9), vector[:, ::-1]

        def cost(k: int) -> float:
            rest = value[k:].mean()
            log_likelihood = -0.5 * n * (np.log(value[:k]).sum() + (d - k) * np.log(rest))
            return -log_likelihood + (d * k - k * (k - 1) / 2) * np.log(n)

        costs = [cost(k) for k in range(min(d - 1, max(n // 10, 1)) + 1)]
        rank = int(np.argmin(costs))
        if rank == 0:
            return None, 0
        rest = value[rank:].mean()
        factor = vector[:, :rank] * np.sqrt(np.maximum(value[:rank] - rest, 0.0))
        cov = factor @ factor.T + rest * np.eye(d)
        return cov * np.outer(std, std), rank


def misfit(residuals: Residuals, expected_bias: FloatArray, expected_var: FloatArray) -> str | None:
    """One sentence if the residuals contradict the declared Gaussian noise.

    At one chance in a million for all coordinates together.
    """
    n = np.maximum(residuals.single, 2)
    judged = (residuals.single >= 30) & ((expected_var > 0) | (residuals.variances() > 0))
    if not judged.any():
        return None
    bias, var, scale = (
        residuals.mean() - expected_bias,
        residuals.variances(),
        np.maximum(expected_var, 1e-300),
    )
    chance = 1e-6 / bias.size
    power = n * var / scale
    tail = np.where(
        judged,
        2
        * np.minimum(
            special.gammaincc((n - 1) / 2, power / 2), special.gammainc((n - 1) / 2, power / 2)
        ),
        1.0,
    )
    # of several misfits report the clearest
    worst = int(np.argmin(tail / (1 + np.abs(np.log(np.maximum(power / n, 1e-300))))))
    if tail[worst] < chance:
        return (
            f"the declared noise does not fit: coordinate {worst} of x - theta has standard"
            f" deviation {np.sqrt(var[worst]):.3g} over {int(n[worst])} measurements, declared"
            f" {np.sqrt(expected_var[worst]):.3g}; noise='learn' estimates it from the data"
        )
    z = np.where(judged, np.abs(bias) / np.sqrt(np.maximum(var, 1e-300) / n), 0.0)
    worst = int(np.argmax(z))
    if z[worst] > -special.ndtri(chance / 2):
        return (
            f"the declared noise does not fit: coordinate {worst} of x - theta is off by"
            f" {bias[worst]:.3g} on average over {int(n[worst])} measurements; noise='learn'"
            " estimates it from the data"
        )
    return None
