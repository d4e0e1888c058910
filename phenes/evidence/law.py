"""The law of x around one theta, in coordinates in which its covariance is the identity."""

import functools
from dataclasses import dataclass

import numpy as np

from phenes._validate import BoolArray, FloatArray

BLOCK = 2**14  # numbers that fit into the cache
SIMULATED = 4096  # draws by which the reach of a Gaussian law is explored; they cost no evaluations


@dataclass(frozen=True)
class Law:
    """z = (x - centre) whiten, where x ~ p_theta.

    Parameters
    ----------
    theta : ndarray, shape (d,)
        What is intended.
    centre : ndarray, shape (d,)
        Mean of x.
    whiten : ndarray, shape (d, d) or (d,)
        From x - centre to coordinates of unit variance; a vector if diagonal.
    noisy : ndarray of bool, shape (d,)
        Which whitened coordinates vary; the others are in units of the search.
    draws : ndarray, shape (n, d)
        Rows z from the law, simulated.
    exact : bool
        Is the law Gaussian, with known moments and densities, or known by draws only?
    rests_on : float
        How many draws its moments rest on; infinity if they were declared.
    """

    theta: FloatArray
    centre: FloatArray
    whiten: FloatArray  # [d, d], or [d] if diagonal
    noisy: BoolArray
    draws: FloatArray
    exact: bool = True
    rests_on: float = np.inf

    def z(self, x: FloatArray) -> FloatArray:
        """Whitened coordinates.

        Parameters
        ----------
        x : ndarray, shape (..., d)
            Realised inputs.

        Returns
        -------
        ndarray, shape (..., d)
        """
        r = x - self.centre
        return r * self.whiten if self.whiten.ndim == 1 else r @ self.whiten

    def squared(self, x: FloatArray, shift: FloatArray | None = None) -> FloatArray:
        """Squared lengths of `z`, block by block: of many rows in many coordinates no copy is made.

        Parameters
        ----------
        x : ndarray, shape (n, d)
            Realised inputs.
        shift : ndarray, shape (d,), optional
            What is added to each.

        Returns
        -------
        ndarray, shape (n,)
        """
        found = np.empty(len(x))
        step = max(BLOCK // self.theta.size, 1)
        for k in range(0, len(x), step):
            rows = x[k : k + step]
            z = self.z(rows if shift is None else rows + shift)
            found[k : k + step] = np.sum(z * z, axis=1)
        return found

    def x(self, z: FloatArray) -> FloatArray:
        """The reverse of `z`.

        Parameters
        ----------
        z : ndarray, shape (..., d)
            Whitened coordinates.

        Returns
        -------
        ndarray, shape (..., d)
        """
        if self.whiten.ndim == 1:
            return self.centre + z / self.whiten
        return self.centre + z @ np.linalg.inv(self.whiten)

    @property
    def cov(self) -> FloatArray:
        """Variances or covariance of x, shape (d,) or (d, d)."""
        if self.whiten.ndim == 1:
            return self.noisy / self.whiten**2
        root = np.linalg.inv(self.whiten)
        return root.T @ (self.noisy[:, None] * root)

    @property
    def weighs(self) -> bool:
        """Whether the law has a density from which importance weights can be computed.

        Where only draws are known, the density of the normal law with the same moments stands in.
        """
        return bool(self.noisy.all())


def gaussian_law(
    theta: FloatArray,
    bias: FloatArray,
    cov: FloatArray,
    rests_on: float = np.inf,
    *,
    scale: FloatArray,
) -> Law:
    """x ~ N(theta + bias, cov), cov [d] or [d, d]; scale [d]: units without noise."""
    whiten, noisy = _whitening(cov, scale)
    z = _simulated(theta.size)
    z = z if noisy.all() else z * noisy
    return Law(theta, theta + bias, whiten, noisy, z, True, rests_on)


@functools.lru_cache(maxsize=2)
def _simulated(dim: int) -> FloatArray:
    """Standard normal rows, always the same, kept for the next theta."""
    z = np.random.default_rng(dim).standard_normal((SIMULATED, dim))
    z.flags.writeable = False
    return z


def sampled_law(theta: FloatArray, x: FloatArray, scale: FloatArray) -> Law:
    """A law that is known by draws x at theta only."""
    centre = x.mean(axis=0)
    cov = np.atleast_2d(np.cov(x.T))
    whiten, noisy = _whitening(cov, scale)
    law = Law(theta, centre, whiten, noisy, np.empty((0, theta.size)), False, len(x))
    return Law(theta, centre, whiten, noisy, law.z(x), False, len(x))


def _whitening(cov: FloatArray, scale: FloatArray) -> tuple[FloatArray, BoolArray]:
    """The map to coordinates of unit variance (columns), and which of these vary."""
    if cov.ndim == 1:
        noisy = cov > 0
        return 1 / np.where(noisy, np.sqrt(np.where(noisy, cov, 1.0)), scale), noisy
    value, vector = np.linalg.eigh(cov / np.outer(scale, scale))
    noisy = value > 1e-12 * max(value[-1], 0.0)
    return (vector / scale[:, None]) / np.sqrt(np.where(noisy, value, 1.0)), noisy
