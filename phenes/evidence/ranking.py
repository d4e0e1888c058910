"""Many theta in order, from what was already observed.

Without new evaluations, and biased by design: it chooses who is worth a race.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from phenes._validate import FloatArray
from phenes.evidence.decay import decay
from phenes.evidence.law import Law
from phenes.evidence.observations import Observations

# observations that are used: the newest half of that many, the rest evenly from before
ROWS = 400
ENOUGH = 8.0  # effective rows behind the value of a theta
WIDER = np.sqrt(2.0)  # the noise is taken wider by this factor until there are enough
WIDENINGS = 14


def rank(
    seen: Observations,
    law: Law,
    price: float,
    pool: FloatArray,
    own: NDArray[np.intp],
    merit: Callable[[FloatArray], FloatArray] = lambda f: f,
) -> FloatArray:
    """Upper bounds (two standard errors) on E f at the theta in `pool` [k, d].

    Infinite where too little was seen. own [k]: the row that a theta was taken from, or -1; its
    luck is not counted. Failures count for more than their price. merit: what stands for f.
    """
    rows = _thinned(seen.count)
    if not seen.walled:
        rows = rows[np.isfinite(seen.f[rows])]
    shift = law.centre - law.theta
    z, aim, at = law.z(seen.point[rows]), law.z(seen.theta[rows] + shift), law.z(pool + shift)
    f = seen.f[rows]
    finite = f[np.isfinite(f)]
    f = merit(np.where(np.isnan(f), 2 * price - np.median(finite) if finite.size else price, f))
    mixture, here = _squared(z, aim), _squared(z, at)
    here[np.equal.outer(rows, own)] = np.inf
    scaled = np.empty_like(mixture)
    bound, open_ = np.full(len(pool), np.inf), np.ones(len(pool), bool)
    for k in range(WIDENINGS):
        if not open_.any():
            break
        width = WIDER ** (2 * k)
        log_mixture = _logsumexp(np.divide(mixture, -2 * width, out=scaled))
        weight = decay(np.minimum(-here[:, open_] / (2 * width) - log_mixture[:, None], 0.0))
        total = weight.sum(axis=0)
        effective = total**2 / np.maximum(np.sum(weight**2, axis=0), 1e-300)
        done = (effective >= ENOUGH) & (total > 1e-9)
        mean = weight.T @ f / np.maximum(total, 1e-300)
        spread = np.sqrt(np.maximum(weight.T @ f**2 / np.maximum(total, 1e-300) - mean**2, 0.0))
        which = np.flatnonzero(open_)[done]
        bound[which] = (mean + 2 * spread / np.sqrt(np.maximum(effective - 1, 1.0)))[done]
        open_[which] = False
    return bound


def _thinned(count: int) -> NDArray[np.intp]:
    if count <= ROWS:
        return np.arange(count)
    newest = np.arange(count - ROWS // 2, count)
    return np.concatenate([np.linspace(0, count - ROWS // 2 - 1, ROWS // 2).astype(int), newest])


def _squared(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.maximum(np.sum(a**2, axis=1)[:, None] + np.sum(b**2, axis=1) - 2 * a @ b.T, 0.0)


def _logsumexp(a: FloatArray) -> FloatArray:
    """log(sum(exp(a))) of each row; a is overwritten."""
    top = a.max(axis=1)
    a -= top[:, None]
    return top + np.log(np.sum(decay(a), axis=1))
