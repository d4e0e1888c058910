"""A squared exponential averaged over Gaussian inputs: lengths L, and what is added to them."""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from phenes._validate import FloatArray
from phenes.gp.cloud import Cloud


class Whitening:
    """Coordinates in which (scale + spread) is the identity.

    scale [d]: variances of the kernel; spread: what is added, [d] or [d, d]. log_factor:
    log |I + spread / scale|^-1/2.
    """

    def __init__(self, scale: FloatArray, spread: FloatArray | None):
        self._root: FloatArray | None = None
        self._std = np.sqrt(scale)
        self.log_factor = 0.0
        if spread is not None and spread.ndim == 1:
            self._std = np.sqrt(scale + spread)
            self.log_factor = 0.5 * float(np.sum(np.log(scale / (scale + spread))))
        elif spread is not None:
            root: FloatArray = np.linalg.cholesky(spread + np.diag(scale)).astype(np.float64)
            self._root = root
            logs = np.log(np.diag(root))
            self.log_factor = 0.5 * float(np.sum(np.log(scale))) - float(np.sum(logs))

    def __call__(self, points: FloatArray) -> FloatArray:
        """Rows (n, d) in the white coordinates."""
        if self._root is None:
            return points / self._std
        return solve_triangular(self._root, points.T, lower=True, check_finite=False).T

    def solve(self, points: FloatArray) -> FloatArray:
        """(scale + spread)^-1 times each row, (n, d)."""
        if self._root is None:
            return points / self._std**2
        return cho_solve((self._root, True), points.T, check_finite=False).T

    def inverse_diagonal(self) -> FloatArray:
        """Diagonal of (scale + spread)^-1, (d,)."""
        if self._root is None:
            return self._std**-2.0
        return np.diag(cho_solve((self._root, True), np.eye(len(self._root))))


class Pairs:
    """One node where every pair of rows has its own spread.

    value (m, n): the expected kernel. solved (m, n, d): (scale + spread)^-1 (x - x'). slopes
    (m, n, d): derivatives of log value by the logarithm of each length.
    """

    def __init__(self, scale: FloatArray, a: Cloud, b: Cloud):
        self.scale, self.spread = scale, _pairwise(a, b)
        self.apart = a.points[:, None, :] - b.points[None, :, :]
        self._inverse: FloatArray | None = None
        if self.spread.ndim == 3:
            total = scale + self.spread
            self.solved = self.apart / total
            log = 0.5 * np.sum(np.log(scale / total), axis=2)
        else:
            inverse: FloatArray = np.linalg.inv(self.spread + np.diag(scale)).astype(np.float64)
            self._inverse = inverse
            self.solved = (inverse @ self.apart[..., None])[..., 0]
            log = 0.5 * (np.sum(np.log(scale)) + np.linalg.slogdet(inverse)[1])
        self.value = np.exp(log - 0.5 * np.sum(self.apart * self.solved, axis=2))

    @property
    def slopes(self) -> FloatArray:
        diagonal = (
            1 / (self.scale + self.spread)
            if self._inverse is None
            else np.diagonal(self._inverse, axis1=2, axis2=3)
        )
        return 1 + self.scale * (self.solved**2 - diagonal)


def _pairwise(a: Cloud, b: Cloud) -> FloatArray:
    """V_i + V_j for every pair, (m, n, d) or (m, n, d, d); 1 for m or n where all are the same."""
    full = a.full or b.full
    return _rows(a, full)[:, None] + _rows(b, full)[None, :]


def _rows(cloud: Cloud, full: bool) -> FloatArray:
    """Covariances with an axis of rows (of length 1 if they share one)."""
    dim = cloud.points.shape[1]
    if cloud.cov is None:
        return np.zeros((1, dim, dim) if full else (1, dim))
    cov = cloud.cov if cloud.each else cloud.cov[None]
    return cov[..., None] * np.eye(dim) if full and not cloud.full else cov
