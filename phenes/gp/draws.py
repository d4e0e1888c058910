"""Quasi-random draws of a normal law, by which a risk is averaged over a model."""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import functools

import numpy as np
from scipy import special

from phenes._validate import FloatArray


@functools.lru_cache(maxsize=8)
def quasi_normal(dim: int, n: int) -> FloatArray:
    """Standard normal rows (n, d), always the same; n is a power of two.

    Half of them are a Sobol sequence and half their mirror images: what is odd averages to zero
    exactly, so that a symmetric f has its optimum where it is.
    """
    from scipy.stats import qmc  # takes a while to import: here if anywhere

    sobol = qmc.Sobol(dim, scramble=True, rng=np.random.default_rng(dim))
    z = special.ndtri(sobol.random(n // 2))
    both = np.stack([z, -z], axis=1).reshape(
        n, dim
    )  # pairs side by side: any even part is mirrored
    both = both / np.sqrt(np.mean(both**2, axis=0))
    both.flags.writeable = False
    return both


def gaussian_offsets(cov: FloatArray | None, bias: FloatArray, n: int) -> FloatArray:
    """Draws (n, d) of x - theta ~ N(bias, cov), cov (d,) or (d, d); one row if nothing varies."""
    if cov is None:
        return bias[None].copy()
    z = quasi_normal(bias.size, n)
    if cov.ndim == 1:
        return bias + z * np.sqrt(cov)
    value, vector = np.linalg.eigh(cov)
    return bias + (z * np.sqrt(np.maximum(value, 0.0))) @ vector.T
