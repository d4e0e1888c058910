"""The exponential of what may be far below zero, such as the logarithm of a weight."""

import numpy as np

from phenes._validate import FloatArray

# Below this, exp leaves the normal numbers (at -708), and NumPy takes fifteen times as long for it.
LEAST = -700.0


def decay(exponent: FloatArray) -> FloatArray:
    """exp(exponent), computed in its place; 1e-304 in place of anything less."""
    np.maximum(exponent, LEAST, out=exponent)
    return np.exp(exponent, out=exponent)
