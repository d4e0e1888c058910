"""A second opinion: where a Gaussian process of the rows near an answer would put it.

Who asks matters little, who recommends much: an evolution strategy collects rows around an optimum
and recommends its mean, though the same rows say more exactly where the least E f is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phenes._threads import one_thread
from phenes._validate import FloatArray
from phenes.constraints import Requirement
from phenes.gp import tuning
from phenes.gp.answer import Draws, best_known
from phenes.gp.constrained import Limits, best_within
from phenes.gp.coverage import covering, enough_rows
from phenes.gp.model import Model
from phenes.gp.region import Region
from phenes.gp.surrogate import Surrogate


class Opinion(NamedTuple):
    """theta (d,): the other answer. gain: by how much its E f is lower, error: of that."""

    theta: FloatArray
    gain: float
    error: float
    surrogate: Surrogate

    @property
    def better(self) -> bool:
        """Whether it is lower by a standard error."""
        return self.gain > self.error


@one_thread
def second_opinion(
    theta: FloatArray,
    x: FloatArray,
    f: FloatArray,
    answer: FloatArray,
    bias: FloatArray,
    cov: FloatArray,
    draws: Draws,
    wanted: tuple[Requirement, ...] = (),
    c: FloatArray | None = None,
) -> Opinion | None:
    """The least E f near the rows by a Gaussian process of them.

    Parameters
    ----------
    theta, x : ndarray, shape (n, d)
        What was intended and realised.
    f : ndarray, shape (n,)
        Values; NaN where the evaluation failed.
    answer : ndarray, shape (d,)
        The first opinion.
    bias : ndarray, shape (d,)
        Mean of x - theta.
    cov : ndarray, shape (d,) or (d, d)
        Variances or covariance of x - theta.
    draws : callable
        theta (d,) -> draws (s, d) of x - theta if the law is not Gaussian, else None.
    wanted : tuple of Requirement, optional
        What is wanted of constraints, which the answer has to meet.
    c : ndarray, shape (n, J), optional
        The constraints at x.

    Returns
    -------
    Opinion or None
        None if there is too little to go by.
    """
    variances = cov if cov.ndim == 1 else np.diag(cov)
    distance = np.sum((x - answer - bias) ** 2 / np.maximum(variances, tuning.TINY), axis=1)
    chosen = covering(distance, answer.size, enough_rows(answer.size))
    theta, x, f = theta[chosen], x[chosen], f[chosen]
    if np.isfinite(f).sum() < tuning.LEAST_FOR_OPINION * (answer.size + 1):
        return None
    region = _around(theta, x)
    model = Model(answer.size, region.covariance(cov), bias / region.width)
    model.add(region.to_u(theta), region.to_u(x), f, np.ones(x.shape, bool))
    if model.fitted is None:
        return None

    def drawn(u: FloatArray) -> FloatArray | None:
        found = draws(region.to_theta(u))
        return None if found is None else found / region.width

    limits = None
    if c is not None:
        limits = Limits(wanted, c.shape[1], model.noise, model.bias)
        limits.add(region.to_u(theta), region.to_u(x), c[chosen], np.ones(x.shape, bool))
    if limits is not None and limits.ready:
        best = best_within(model, limits, region)
    else:
        best = best_known(model, region, drawn)
    gain, error = model.belief.difference(region.inside(region.to_u(answer)), best)
    return Opinion(region.to_theta(best), gain, error, Surrogate(model.fitted, region))


def _around(theta: FloatArray, x: FloatArray) -> Region:
    """Units of the rows; the answer stays among the theta that were tried."""
    both = np.concatenate([theta, x])
    origin = both.min(axis=0)
    width = np.maximum(np.ptp(both, axis=0), tuning.TINY)
    low, high = (theta.min(axis=0) - origin) / width, (theta.max(axis=0) - origin) / width
    return Region(origin, width, low, high, low, high)
