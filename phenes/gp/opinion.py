"""A second opinion: where a Gaussian process of the rows near an answer would put it.

Which method asks matters little, which one recommends matters much: an evolution strategy collects
rows around an optimum and recommends its mean, though a model of the same rows locates the least
E f more precisely.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phenes._threads import one_thread
from phenes._validate import FloatArray, IntArray
from phenes.constraints import Requirement
from phenes.gp import tuning
from phenes.gp.answer import Draws, best_known
from phenes.gp.constrained import Limits, best_within
from phenes.gp.coverage import covering, enough_rows
from phenes.gp.model import Model
from phenes.gp.region import Region
from phenes.gp.surrogate import Surrogate
from phenes.risk import Risk


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
    risk: Risk | None = None,
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
    risk : Risk, optional
        What is minimised in place of E f.

    Returns
    -------
    Opinion or None
        None if there is too little to go by.
    """
    chosen = _near(x - answer - bias, cov)
    theta, x, f = theta[chosen], x[chosen], f[chosen]
    made = _model(theta, x, f, bias, cov)
    if made is None:
        return None
    model, region = made

    def drawn(u: FloatArray) -> FloatArray | None:
        found = draws(region.to_theta(u))
        return None if found is None else found / region.width

    model.at_risk(risk, drawn(region.inside(region.to_u(answer))))
    limits = None
    if c is not None:
        limits = Limits(wanted, c.shape[1], model.noise, model.bias)
        limits.add(region.to_u(theta), region.to_u(x), c[chosen], np.ones(x.shape, bool))
    if limits is not None and limits.ready:
        best = best_within(model, limits, region)
    else:
        best = best_known(model, region, drawn)
    gain, error = model.belief.difference(region.inside(region.to_u(answer)), best)
    assert model.fitted is not None
    return Opinion(region.to_theta(best), gain, error, Surrogate(model.fitted, region))


class LocalBelief(NamedTuple):
    """E f by a Gaussian process of the rows near an answer."""

    model: Model
    region: Region

    @property
    def lower(self) -> FloatArray:
        """Least of the theta that it rests on, (d,)."""
        return self.region.to_theta(self.region.low)

    @property
    def upper(self) -> FloatArray:
        """Greatest of the theta that it rests on, (d,)."""
        return self.region.to_theta(self.region.high)

    @one_thread
    def at(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """E f at theta (m, d) and its standard error, (m,) each."""
        return self.model.in_units(*self.model.belief.at(self.region.to_u(theta)))


@one_thread
def local_belief(
    theta: FloatArray,
    x: FloatArray,
    f: FloatArray,
    answer: FloatArray,
    bias: FloatArray,
    cov: FloatArray,
) -> LocalBelief | None:
    """What the rows near an answer say of E f around it.

    Parameters
    ----------
    theta, x : ndarray, shape (n, d)
        What was intended and realised.
    f : ndarray, shape (n,)
        Values; NaN where the evaluation failed.
    answer : ndarray, shape (d,)
        Where.
    bias : ndarray, shape (d,)
        Mean of x - theta.
    cov : ndarray, shape (d,) or (d, d)
        Variances or covariance of x - theta.

    Returns
    -------
    LocalBelief or None
        None if there is too little to go by.
    """
    chosen = _near(x - answer - bias, cov)
    made = _model(theta[chosen], x[chosen], f[chosen], bias, cov)
    return None if made is None else LocalBelief(*made)


def _near(away: FloatArray, cov: FloatArray) -> IntArray:
    """The rows that a model around the mean of x is made of; away (n, d): from there."""
    variances = cov if cov.ndim == 1 else np.diag(cov)
    distance = np.sum(away**2 / np.maximum(variances, tuning.TINY), axis=1)
    return covering(distance, away.shape[1], enough_rows(away.shape[1]))


def _model(
    theta: FloatArray, x: FloatArray, f: FloatArray, bias: FloatArray, cov: FloatArray
) -> tuple[Model, Region] | None:
    """The Gaussian process of some rows, in units of theirs; None if there are too few."""
    dim = bias.size
    if np.isfinite(f).sum() < tuning.LEAST_FOR_OPINION * (dim + 1):
        return None
    region = _around(theta, x)
    model = Model(dim, region.covariance(cov), bias / region.width, compresses=True)
    model.add(region.to_u(theta), region.to_u(x), f, np.ones(x.shape, bool))
    return None if model.fitted is None else (model, region)


def _around(theta: FloatArray, x: FloatArray) -> Region:
    """Units of the rows; the answer stays among the theta that were tried."""
    both = np.concatenate([theta, x])
    origin = both.min(axis=0)
    ranges = np.ptp(both, axis=0)
    width = np.where(ranges > 0, ranges, 1.0)
    low, high = (theta.min(axis=0) - origin) / width, (theta.max(axis=0) - origin) / width
    return Region(origin, width, low, high, low, high)
