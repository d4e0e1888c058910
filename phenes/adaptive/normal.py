"""The search distribution in y: theta ~ N(mean, cov - c), so that the realised ones are N(mean,
cov).
"""

from dataclasses import dataclass, field

import numpy as np

# Relative floor of the eigenvalues without noise: beyond a condition of 1e14 the decomposition
# itself is rounding error.
LARGEST_CONDITION = 1e14

# Variances below this are nothing, and must still have a square root and an inverse.
SMALLEST = 1e-200


@dataclass
class Normal:
    """Mean [d] and marginal covariance ([d, d], or [d] if diagonal) with its decomposition cov =
    basis diag(root^2) basis'.
    """

    mean: np.ndarray
    cov: np.ndarray
    basis: np.ndarray | None = None  # None: the identity
    root: np.ndarray = field(default_factory=lambda: np.empty(0))
    # [d, d] or [d]: push push' = cov - c
    push: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def diagonal(self) -> bool:
        return self.cov.ndim == 1

    @property
    def log_width(self) -> float:
        """Logarithm of the geometric mean of the widths."""
        return float(np.mean(np.log(self.root)))

    def settle(self, c: np.ndarray) -> None:
        """Puts the covariance back above the noise and decomposes it."""
        if self.diagonal:
            self.cov = np.maximum(
                self.cov, np.maximum(c, max(self.cov.max(), SMALLEST) / LARGEST_CONDITION)
            )
            self.root, self.push = np.sqrt(self.cov), np.sqrt(np.maximum(self.cov - c, 0.0))
            return
        self.cov = (self.cov + self.cov.T) / 2
        if np.ptp(c) == 0:  # the same eigenvectors with and without the noise: one decomposition
            values, self.basis = np.linalg.eigh(self.cov)
            values = np.maximum(values, max(c[0], max(values[-1], SMALLEST) / LARGEST_CONDITION))
            self.cov = (self.basis * values) @ self.basis.T
            self.root, self.push = np.sqrt(values), self.basis * np.sqrt(values - c[0])
            return
        values, vectors = np.linalg.eigh(self.cov - np.diag(c))
        self.push = vectors * np.sqrt(np.maximum(values, 0.0))
        self.cov = self.push @ self.push.T + np.diag(c)
        values, self.basis = np.linalg.eigh(self.cov)
        self.root = np.sqrt(np.maximum(values, max(values[-1], SMALLEST) / LARGEST_CONDITION))

    def whiten(self, y: np.ndarray) -> np.ndarray:
        """z of y - mean: N(0, 1) if y was drawn from this marginal; columns are the principal
        axes.
        """
        r = y - self.mean
        return (r if self.basis is None else r @ self.basis) / self.root

    def unwhiten(self, z: np.ndarray) -> np.ndarray:
        """The vector in y that is z in principal axes."""
        r = z * self.root
        return r if self.basis is None else r @ self.basis.T

    def draw(self, noise: np.ndarray) -> np.ndarray:
        """Intended points in y for standard normal rows."""
        return self.mean + (noise * self.push if self.push.ndim == 1 else noise @ self.push.T)

    def search(self, c: np.ndarray) -> np.ndarray:
        """Covariance of theta."""
        return self.cov - (c if self.diagonal else np.diag(c))

    def rescale(self, turn: np.ndarray | None, factors: np.ndarray) -> None:
        """Multiplies the variances along the directions `turn` (columns, in principal axes) by
        `factors`.
        """
        if self.diagonal:
            self.cov = self.cov * factors
            return
        axes = np.eye(self.mean.size) if turn is None else turn
        half = (axes * np.sqrt(factors)) * self.root[:, None]
        half = half if self.basis is None else self.basis @ half
        self.cov = half @ half.T

    def whitened(self, c: np.ndarray) -> np.ndarray:
        """Covariance of the noise in whitened coordinates: [d] if it is diagonal there, else [d,
        d].
        """
        if self.basis is None or np.ptp(c) == 0:
            return c / self.root**2
        axes = self.basis / self.root
        return (axes.T * c) @ axes

    def excess(self, c: np.ndarray) -> np.ndarray:
        """Variance of the search over that of the noise along the principal axes; infinite where
        there is no noise.
        """
        noise = c if self.basis is None else (self.basis**2).T @ c
        with np.errstate(divide="ignore"):
            return np.where(noise > 0, self.root**2 / np.where(noise > 0, noise, 1.0), np.inf) - 1
