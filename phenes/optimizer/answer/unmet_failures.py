"""What failures that no draw at the answer has met may change of the mean of f there.

Where f falls towards a border beyond which it fails, answers lie near that border. A model of f
knows nothing of it: it averages over all x, also those that have no value. Draws that all have
values do not exclude that a share of the others fails.
"""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false

import math

import numpy as np
from scipy import special

from phenes._validate import FloatArray

# failures added to those of the draws, and draws: the share that is believed of few [Jeffreys]
FAILURES, DRAWS = 0.5, 1.0


def change_of_mean(f: FloatArray) -> float:
    """A standard error: by how much the mean of f(x) changes if those x have no value.

    They are taken to be a tail of the law beyond a plane, towards which f changes alike: with a
    share p of a normal law beyond z, the mean of the rest is lower by phi(z) / (1 - p) standard
    deviations. That is the largest change that a share p can make.

    Parameters
    ----------
    f : ndarray, shape (n,)
        Values of draws at the answer, none of which failed.

    Returns
    -------
    float
        Zero of fewer than two draws: there is no claim by them.
    """
    if f.size < 2:
        return 0.0
    return float(np.std(f, ddof=1)) * shift(FAILURES / (f.size + DRAWS))


def shift(share: float) -> float:
    """By how many standard deviations the mean changes if this share of x, a tail, has no value.

    Parameters
    ----------
    share : float
        Between 0 and 1, both excluded.

    Returns
    -------
    float
    """
    z = float(special.ndtri(1 - share))
    density = math.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)
    return density / (1 - share)
