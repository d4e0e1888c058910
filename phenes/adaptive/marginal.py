"""The law of the realised x in coordinates y: N(mean, cov), where theta ~ N(mean, cov - c)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phenes.adaptive import tuning


@dataclass(frozen=True)
class Marginal:
    """Mean [d], covariance [d, d] or [d], and its decomposition cov = basis diag(root^2) basis'.

    Made by `marginal_of`. Nothing changes one: `descent` replaces it.
    """

    mean: np.ndarray
    cov: np.ndarray
    basis: np.ndarray | None  # None: the identity
    root: np.ndarray  # [d]
    push: np.ndarray  # [d, d] or [d]: push push' = cov - c

    @property
    def diagonal(self) -> bool:
        return self.cov.ndim == 1

    @property
    def log_width(self) -> float:
        """Logarithm of the geometric mean of the widths."""
        return float(np.mean(np.log(self.root)))

    def whiten(self, y: np.ndarray) -> np.ndarray:
        """z of y - mean in principal axes: N(0, I) if y was drawn from this law."""
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

    def rescaled(self, turn: np.ndarray | None, factors: np.ndarray) -> np.ndarray:
        """The covariance with variances along the columns of `turn` multiplied by `factors`."""
        if self.diagonal:
            return self.cov * factors
        axes = np.eye(self.mean.size) if turn is None else turn
        half = (axes * np.sqrt(factors)) * self.root[:, None]
        half = half if self.basis is None else self.basis @ half
        return half @ half.T

    def whitened(self, c: np.ndarray) -> np.ndarray:
        """Covariance of the noise in whitened coordinates: [d] if diagonal there, else [d, d]."""
        if self.basis is None or np.ptp(c) == 0:
            return c / self.root**2
        axes = self.basis / self.root
        return (axes.T * c) @ axes

    def carried(self, mean: np.ndarray, cov: np.ndarray, growth: float, c: float) -> Marginal:
        """The law at another mean and wider by `growth`, with its axes as they are.

        `cov` is to be decomposed later, by `marginal_of`. c: the noise, the same everywhere.
        """
        assert self.basis is not None
        root = np.maximum(self.root * growth, np.sqrt(c))
        push = self.basis * np.sqrt(np.maximum(root**2 - c, 0.0))
        return Marginal(mean, cov, self.basis, root, push)

    def excess(self, c: np.ndarray) -> np.ndarray:
        """Variance of the search over that of the noise along the principal axes, or infinite."""
        noise = c if self.basis is None else (self.basis**2).T @ c
        with np.errstate(divide="ignore"):
            return np.where(noise > 0, self.root**2 / np.where(noise > 0, noise, 1.0), np.inf) - 1


def marginal_of(mean: np.ndarray, cov: np.ndarray, c: np.ndarray) -> Marginal:
    """The law with this mean and covariance, put back above the noise c where it is below."""
    if cov.ndim == 1:
        floor = max(cov.max(), tuning.SMALLEST_VARIANCE) / tuning.LARGEST_CONDITION
        cov = np.maximum(cov, np.maximum(c, floor))
        return Marginal(mean, cov, None, np.sqrt(cov), np.sqrt(np.maximum(cov - c, 0.0)))
    cov = (cov + cov.T) / 2
    if np.ptp(c) == 0:  # the same eigenvectors with and without the noise: one decomposition
        values, basis = np.linalg.eigh(cov)
        values = np.maximum(values, max(c[0], _floor(values)))
        cov = (basis * values) @ basis.T
        return Marginal(mean, cov, basis, np.sqrt(values), basis * np.sqrt(values - c[0]))
    values, vectors = np.linalg.eigh(cov - np.diag(c))
    push = vectors * np.sqrt(np.maximum(values, 0.0))
    cov = push @ push.T + np.diag(c)
    values, basis = np.linalg.eigh(cov)
    return Marginal(mean, cov, basis, np.sqrt(np.maximum(values, _floor(values))), push)


def _floor(values: np.ndarray) -> float:
    """Least eigenvalue beside the largest, which is the last."""
    return max(values[-1], tuning.SMALLEST_VARIANCE) / tuning.LARGEST_CONDITION
