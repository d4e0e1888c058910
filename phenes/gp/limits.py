"""Constraints on the realised x, each a Gaussian process of the rows around one place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phenes._threads import one_thread
from phenes._validate import FloatArray
from phenes.gp import tuning
from phenes.gp.cloud import Cloud
from phenes.gp.coverage import covering, enough_rows
from phenes.gp.fit import Fitted, refine
from phenes.gp.kernel import matern, squared_exponential
from phenes.gp.likelihood import prior
from phenes.gp.posterior import Posterior


class One(NamedTuple):
    """A constraint. level: its value if all rows have the same, and no posterior."""

    posterior: Posterior | None
    level: float


class LimitModel:
    """What is known of constraints at any x near some rows.

    Parameters
    ----------
    x : ndarray, shape (n, d)
        Realised inputs.
    c : ndarray, shape (n, J)
        Constraints there; NaN where they are not known.
    centre : ndarray, shape (d,)
        Mean of the law of x that matters.
    variances : ndarray, shape (d,)
        Its variances.
    known : tuple of Fitted or None, optional
        Kernels of an earlier model, by which the fit begins.

    Attributes
    ----------
    fitted : tuple of Fitted or None
        The kernels, in units of the rows.
    """

    @one_thread
    def __init__(
        self,
        x: FloatArray,
        c: FloatArray,
        centre: FloatArray,
        variances: FloatArray,
        known: tuple[Fitted | None, ...] = (),
    ):
        dim = x.shape[1]
        distance = np.sum((x - centre) ** 2 / np.maximum(variances, tuning.TINY), axis=1)
        most = max(enough_rows(dim), tuning.LIMIT_ROWS * (dim + 1))
        self.origin = x.min(axis=0) if len(x) else centre
        self.width = np.maximum(np.ptp(x, axis=0), tuning.TINY) if len(x) else np.ones(dim)
        parts = [self._one(x, c[:, k], distance, most, known[k : k + 1]) for k in range(c.shape[1])]
        self.parts = tuple(one for one, _ in parts)
        self.fitted = tuple(kernel for _, kernel in parts)

    def _one(
        self,
        x: FloatArray,
        c: FloatArray,
        distance: FloatArray,
        most: int,
        known: tuple[Fitted | None, ...],
    ) -> tuple[One, Fitted | None]:
        finite = np.flatnonzero(np.isfinite(c))
        rows = finite[covering(distance[finite], x.shape[1], most)]
        y = c[rows]
        if y.size < tuning.LEAST_ROWS or np.ptp(y) == 0:
            return One(None, float(y[0]) if y.size else np.nan), None
        cloud = Cloud((x[rows] - self.origin) / self.width)
        fitted = _fit(cloud, y, known[0] if known else None)
        return One(Posterior(fitted.kernel, fitted.eta, cloud, y, None), 0.0), fitted

    @property
    def ready(self) -> bool:
        """Whether each constraint has values to learn from."""
        return all(one.posterior is not None or np.isfinite(one.level) for one in self.parts)

    @one_thread
    def at(self, x: FloatArray, sure: bool = False) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the constraints, (m, J) each, at realised x (m, d).

        sure: only the mean is needed; the other is zero.
        """
        cloud = Cloud((x - self.origin) / self.width)
        mean, sd = np.empty((len(x), len(self.parts))), np.zeros((len(x), len(self.parts)))
        for k, one in enumerate(self.parts):
            if one.posterior is None:
                mean[:, k] = one.level
            elif sure:
                covariance = one.posterior.kernel.covariance(cloud, one.posterior.rows)
                mean[:, k] = one.posterior.predicted(covariance)
            else:
                mean[:, k], own = one.posterior.of(cloud)
                sd[:, k] = own * one.posterior.doubt_of(cloud)
        return mean, sd

    @one_thread
    def averaged(self, centre: FloatArray, cov: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of E c, (J,) each, under a normal law of x, exactly.

        centre (d,), cov (d,) or (d, d).
        """
        over = cov / (self.width**2 if cov.ndim == 1 else np.outer(self.width, self.width))
        cloud = Cloud(((centre - self.origin) / self.width)[None], over if np.any(over) else None)
        mean, sd = np.empty(len(self.parts)), np.zeros(len(self.parts))
        for k, one in enumerate(self.parts):
            if one.posterior is None:
                mean[k] = one.level
            else:
                found, own = one.posterior.of(cloud)
                mean[k], sd[k] = found[0], own[0] * one.posterior.doubt_of(cloud)[0]
        return mean, sd


def _fit(cloud: Cloud, y: FloatArray, known: Fitted | None) -> Fitted:
    """The kernel that explains the values best; one that is known is followed."""
    dim = cloud.points.shape[1]
    if known is not None:
        return refine(known.shape, known.parameters, cloud, y, tuning.FOLLOW_STEPS)
    shapes = [matern(False)]
    if dim <= tuning.MOST_PRODUCTS:
        shapes.append(squared_exponential(True))
    found = [refine(each, prior(each, dim).mean, cloud, y, tuning.CHOICE_STEPS) for each in shapes]
    return min(found, key=lambda each: each.cost)
