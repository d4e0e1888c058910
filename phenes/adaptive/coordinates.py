"""Coordinates y in which the noise is simple: variances c of 0 or 1, and no correlations.

x = width * Q D y, with an orthogonal Q and a diagonal D.
"""

from dataclasses import dataclass

import numpy as np

from phenes.adaptive import tuning


@dataclass(frozen=True)
class Coordinates:
    """The map between x and y, the noise of y, and the bounds of theta."""

    width: np.ndarray  # [d], units of x: the width of the start
    turn: np.ndarray | None  # [d, d], Q; None: the identity
    scale: np.ndarray  # [d], D
    c: np.ndarray  # [d], variance of the noise of y
    bias: np.ndarray  # [d], E[x - theta]
    lower: np.ndarray  # [d], bounds of theta; -inf: none
    upper: np.ndarray
    # [d], standard deviations in x of declared noise that is not measured: F is smooth at this
    # scale; 0 if not known
    smooth: np.ndarray
    # [d], least standard deviations of theta in x, below which coordinates of which only whole
    # numbers are evaluated would stand still; 0: none
    least: np.ndarray

    @property
    def dim(self) -> int:
        return self.width.size

    @property
    def full(self) -> bool:
        return self.dim <= tuning.LARGEST_MATRIX

    @property
    def noisy(self) -> bool:
        return bool(np.any(self.c > 0))

    @property
    def bounded(self) -> bool:
        return bool(np.any(np.isfinite(self.lower)) or np.any(np.isfinite(self.upper)))

    def to_y(self, x: np.ndarray) -> np.ndarray:
        """Rows x [n, d] (or one vector) in y."""
        u = x / self.width
        return (u if self.turn is None else u @ self.turn) / self.scale

    def to_x(self, y: np.ndarray) -> np.ndarray:
        u = y * self.scale
        return (u if self.turn is None else u @ self.turn.T) * self.width

    def intend(self, y: np.ndarray) -> np.ndarray:
        """The theta within the bounds that aims at y, rows or one vector."""
        return np.clip(self.to_x(y) - self.bias, self.lower, self.upper)

    def inside(self, y: np.ndarray) -> np.ndarray:
        """y, or the nearest point that the bounds of theta allow to aim at."""
        theta = self.to_x(y) - self.bias
        clipped = np.clip(theta, self.lower, self.upper)
        return y if np.array_equal(theta, clipped) else self.to_y(clipped + self.bias)

    def cuts(self, mean: np.ndarray, cov: np.ndarray) -> bool:
        """Whether the bounds cut into a search with this mean and covariance of theta (in y)."""
        if not self.bounded:
            return False
        theta = self.to_x(mean) - self.bias
        std = self.std_x(cov)
        return bool(np.any(theta - std < self.lower) or np.any(theta + std > self.upper))

    def noise_matrix(self) -> np.ndarray:
        """Covariance of the noise of y, in the shape of the search's: [d, d] or [d]."""
        return np.diag(self.c) if self.full else self.c

    def start(self) -> np.ndarray:
        """Covariance in y of a search as wide as `width` in x: [d, d], or [d] if not full."""
        if self.turn is None:
            return np.diag(self.scale**-2.0) if self.full else self.scale**-2.0
        root = self.turn / self.scale
        return root.T @ root

    def widened(self, cov: np.ndarray, least: np.ndarray) -> np.ndarray:
        """A covariance of x (in y) whose theta has at least these standard deviations [d] in x."""
        if not least.any():
            return cov
        full = cov.ndim == 2
        std = self.std_x(cov - (np.diag(self.c) if full else self.c))
        lack = np.maximum(least**2 - std**2, 0.0)
        if not full:
            return cov + lack / (self.width * self.scale) ** 2
        axes = self.to_y(np.eye(self.dim))  # rows: images of the unit vectors of x
        return cov + (axes.T * lack) @ axes

    def within_box(self, cov: np.ndarray) -> np.ndarray:
        """A covariance of x (in y) whose search is no wider than the box in any coordinate of x.

        A search that is wider sees the corners of the box only. Correlations stay as they are.
        """
        widest = tuning.WIDEST_IN_BOX * (self.upper - self.lower)
        if not np.isfinite(widest).any():
            return cov
        full = cov.ndim == 2
        noise = np.diag(self.c) if full else self.c
        std = self.std_x(cov - noise)
        if np.all(std <= widest):
            return cov
        share = np.minimum(widest / np.maximum(std, tuning.TINY), 1.0)
        if not full:
            return (cov - noise) * share**2 + noise
        shrink = self.to_y(self.to_x(np.eye(self.dim)) * share)
        return shrink.T @ (cov - noise) @ shrink + noise

    def std_x(self, cov: np.ndarray) -> np.ndarray:
        """Standard deviations in x of a covariance in y."""
        if cov.ndim == 1:
            return np.sqrt(np.maximum(cov, 0.0)) * self.scale * self.width
        matrix = cov * np.outer(self.scale, self.scale)
        variances = (
            np.diag(matrix)
            if self.turn is None
            else np.sum((self.turn @ matrix) * self.turn, axis=1)
        )
        return np.sqrt(np.maximum(variances, 0.0)) * self.width


def make_coordinates(
    cov: np.ndarray,
    width: np.ndarray,
    bias: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    smooth: np.ndarray | None = None,
    least: np.ndarray | None = None,
) -> Coordinates:
    """Coordinates for noise of covariance `cov` ([d] variances or [d, d])."""
    turn = None
    if cov.ndim == 2 and (
        width.size > tuning.LARGEST_MATRIX or np.count_nonzero(cov - np.diag(np.diag(cov))) == 0
    ):
        cov = np.diag(cov)
    if cov.ndim == 1:
        noise = cov / width**2
    else:
        matrix = cov / np.outer(width, width)
        noise, turn = np.linalg.eigh((matrix + matrix.T) / 2)
    noise = np.where(noise > tuning.SMALLEST_NOISE**2, noise, 0.0)
    return Coordinates(
        width=width,
        turn=turn,
        scale=np.sqrt(np.where(noise > 0, noise, 1.0)),
        c=(noise > 0).astype(float),
        bias=bias,
        lower=lower,
        upper=upper,
        smooth=np.zeros(width.size) if smooth is None else smooth,
        least=np.zeros(width.size) if least is None else least,
    )
