"""What is known of F(theta) = E f(x), x ~ p_theta, given values of f at realised x."""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from phenes._validate import FloatArray
from phenes.gp import tuning
from phenes.gp.cloud import Cloud
from phenes.gp.kernel import Kernel, safe_cholesky
from phenes.gp.likelihood import matrix


class Slopes(NamedTuple):
    """Mean and standard deviation of F at one theta, with their derivatives (d,)."""

    mean: float
    sd: float
    mean_slope: FloatArray
    sd_slope: FloatArray


class Posterior:
    """F given rows. Mean by generalised least squares, whose error is part of every variance.

    Parameters
    ----------
    kernel : Kernel
        Covariance of f, relative to its variance.
    eta : float
        Variance of noise on the values, relative to the variance of f.
    rows : Cloud
        Where the values are known, and how well.
    y : ndarray, shape (n,)
        Values.
    noise : ndarray, shape (d,) or (d, d), or None
        Variances or covariance of x - theta.
    bias : ndarray, shape (d,), optional
        Mean of x - theta; zero by default.
    level : float, optional
        The mean of f, if it is known.

    Attributes
    ----------
    mean, variance : float
        Of f before the values.
    dual : ndarray, shape (n,)
        What multiplies covariances with the rows in a prediction, besides the mean.
    """

    def __init__(
        self,
        kernel: Kernel,
        eta: float,
        rows: Cloud,
        y: FloatArray,
        noise: FloatArray | None,
        bias: FloatArray | None = None,
        *,
        level: float | None = None,
    ):
        self.kernel, self.eta, self.rows, self.y, self.noise = kernel, eta, rows, y, noise
        self.bias = np.zeros(rows.points.shape[1]) if bias is None else bias
        self._factor = safe_cholesky(matrix(kernel, rows, eta))
        n = y.size
        centre = float(y.mean()) if level is None else level
        scale = float(y.std()) or 1.0
        # of a mean that is known nothing is left to learn
        ones = np.full(n, 1.0 if level is None else 0.0)
        both = np.stack([(y - centre) / scale, ones], axis=1)
        solved = cho_solve((self._factor, True), both, check_finite=False)
        self._ones = solved[:, 1]
        self._information = float(self._ones.sum()) if level is None else np.inf
        mean = float(solved[:, 0].sum()) / self._information
        self.dual: FloatArray = scale * (solved[:, 0] - mean * self._ones)
        self.mean = centre + scale * mean
        q = float((both[:, 0] - mean) @ (solved[:, 0] - mean * self._ones)) + 1.0
        self.variance = scale**2 * q / (n + 1)

    def _realised(self, theta: FloatArray) -> Cloud:
        """The law of x at theta (m, d)."""
        return Cloud(theta + self.bias, self.noise)

    def believing(self, theta: FloatArray, unknown: FloatArray | None) -> Posterior:
        """The posterior if evaluations under way had the values that are expected of them now.

        theta (m, d). unknown, (d,) or (d, d): covariance of what will not be measured of their x;
        None if all of it will.
        """
        n, m = len(self.rows), len(theta)
        dim = theta.shape[1]
        full = self.rows.full or (unknown is not None and unknown.ndim == 2)
        cov = np.zeros((n + m, dim, dim) if full else (n + m, dim))
        for index, part in self.rows.parts:
            if part.cov is not None:
                cov[index] = part.cov
        if unknown is not None:
            cov[n:] = np.diag(unknown) if full and unknown.ndim == 1 else unknown
        points = np.concatenate([self.rows.points, theta + self.bias])
        y = np.concatenate([self.y, self.at(theta)[0]])
        rows = Cloud(points, cov, each=True) if np.any(cov) else Cloud(points)
        believed = Posterior(self.kernel, self.eta, rows, y, self.noise, self.bias)
        believed.variance = self.variance  # what is believed is no evidence
        return believed

    def at(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of F, (m,) each, at theta (m, d)."""
        return self.of(self._realised(theta))

    def of(self, cloud: Cloud) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the average of f over each row of a cloud, (m,) each."""
        k = self.kernel.covariance(cloud, self.rows)
        return self.predicted(k), self._error(cloud, k)

    def _error(self, cloud: Cloud, k: FloatArray) -> FloatArray:
        """Standard deviation of the average of f over each row of a cloud, (m,); k (m, n)."""
        half = solve_triangular(self._factor, k.T, lower=True, check_finite=False)
        lack = 1 - k @ self._ones
        variance = self.kernel.averaged(cloud) - np.sum(half**2, axis=0)
        variance += lack**2 / self._information
        return np.sqrt(self.variance * np.maximum(variance, 0.0))

    def explained(
        self, theta: FloatArray, believed: Posterior | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Mean, standard deviation and `doubt` of F at theta (m, d), (m,) each.

        believed: `believing` some evaluations, which says how much is uncertain then; its first
        rows are these. Covariances with the rows, most of the work, are made once for all three.
        """
        sure = self if believed is None else believed
        cloud = self._realised(theta)
        near, beyond = self.kernel.local(cloud, sure.rows), self.kernel.beyond(cloud, sure.rows)
        n = len(self.rows)
        own = np.ascontiguousarray(near[:, :n])
        mean = self.predicted(own + beyond[:, :n])
        return mean, sure._error(cloud, near + beyond), self._doubt(own)

    def predicted(self, k: FloatArray) -> FloatArray:
        """What is expected where the covariance with the rows is k, (n,) or (m, n)."""
        return self.mean + k @ self.dual

    def weights(self, k: FloatArray) -> FloatArray:
        """By how much each value moves what is `predicted`, (n,): the prediction is linear."""
        solved = cho_solve((self._factor, True), k, check_finite=False)
        return solved + (1 - float(k @ self._ones)) / self._information * self._ones

    def joint(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean (m,) and covariance (m, m) of F at theta (m, d)."""
        cloud = self._realised(theta)
        k = self.kernel.covariance(cloud, self.rows)
        half = solve_triangular(self._factor, k.T, lower=True, check_finite=False)
        lack = 1 - k @ self._ones
        cov = self.kernel.covariance(cloud, cloud) - half.T @ half
        cov += np.outer(lack, lack) / self._information
        return self.mean + k @ self.dual, self.variance * cov

    def slopes(self, theta: FloatArray, believed: Posterior | None = None) -> Slopes:
        """Mean and standard deviation of F at one theta (d,), and their derivatives.

        believed: as for `explained`.
        """
        sure = self if believed is None else believed
        at = self._realised(theta[None])
        k, dk = self.kernel.at(at, sure.rows)
        sd, rise = sure._error_slope(at, k, dk)
        n = len(self.rows)
        mean = self.mean + float(k[:n] @ self.dual)
        return Slopes(mean, sd, self.dual @ dk[:n], rise)

    def _error_slope(self, at: Cloud, k: FloatArray, dk: FloatArray) -> tuple[float, FloatArray]:
        """Standard deviation of F at one blurred theta, and its derivatives."""
        solved = cho_solve((self._factor, True), k, check_finite=False)
        lack = 1 - float(k @ self._ones)
        own = self._own + float(self.kernel.averaged_quadratic(at)[0])
        variance = own - float(k @ solved)
        variance += lack**2 / self._information
        rise = -2 * solved @ dk - 2 * lack / self._information * (self._ones @ dk)
        rise = rise + self.kernel.averaged_slope(at)
        sd = math.sqrt(max(self.variance * variance, tuning.TINY))
        return sd, self.variance * rise / (2 * sd)

    @functools.cached_property
    def _own(self) -> float:
        """Prior variance of F, relative to that of f, without the quadratic part."""
        return self.kernel.averaged_stationary(self.noise)

    def averaged_over(self, theta: FloatArray, draws: FloatArray) -> FloatArray:
        """Mean of E f(theta + draw), draws (s, d) of x - theta of any law, at theta (m, d)."""
        cloud = (theta[:, None, :] + draws[None, :, :]).reshape(-1, theta.shape[1])
        k = self.kernel.covariance(Cloud(cloud), self.rows)
        return (self.mean + k @ self.dual).reshape(len(theta), len(draws)).mean(axis=1)

    def functional(self, points: FloatArray, w: FloatArray) -> float:
        """Standard deviation of the sum of f at exact points (s, d) with weights w (s,)."""
        used = w != 0
        k = w[used] @ self.kernel.covariance(Cloud(points[used]), self.rows)
        own = self.kernel.weighed_own(points[used], w[used])[0]
        return float(self.functionals(k[None], w[None], np.array([own]))[0])

    def functionals(self, k: FloatArray, w: FloatArray, own: FloatArray) -> FloatArray:
        """Standard deviations (m,) of sums of f, with weights w (m, s).

        k (m, n): their covariances with the rows. own (m,): their variances before any value.
        """
        half = solve_triangular(self._factor, k.T, lower=True, check_finite=False)
        lack = w.sum(axis=1) - k @ self._ones
        variance = own - np.sum(half**2, axis=0) + lack**2 / self._information
        return np.sqrt(self.variance * np.maximum(variance, 0.0))

    def functional_slopes(
        self, points: FloatArray, w: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """`functional`, its slope (d,) as all points move alike, and that of k (n, d)."""
        k, dk = self.kernel.weighed(points, w, self.rows)
        solved = cho_solve((self._factor, True), k, check_finite=False)
        lack = float(w.sum()) - float(k @ self._ones)
        own, rise = self.kernel.weighed_own(points, w)
        variance = own - float(k @ solved) + lack**2 / self._information
        rise = rise - 2 * solved @ dk - 2 * lack / self._information * (self._ones @ dk)
        sd = math.sqrt(max(self.variance * variance, tuning.TINY))
        return sd, self.variance * rise / (2 * sd), dk

    def responses(self, k: FloatArray) -> FloatArray:
        """`weights` of many predictions, (m, n), where the covariance with the rows is k (m, n)."""
        solved = cho_solve((self._factor, True), k.T, check_finite=False).T
        return solved + np.outer(1 - k @ self._ones, self._ones) / self._information

    def leave_one_out(self) -> tuple[FloatArray, FloatArray]:
        """f less what all other rows predict of it, and the error that they expect, (n,) each."""
        inverse = cho_solve((self._factor, True), np.eye(len(self.rows)), check_finite=False)
        inverse -= np.outer(self._ones, self._ones) / self._information
        precision = np.maximum(np.diag(inverse), tuning.TINY)
        return self.dual / precision, np.sqrt(self.variance / precision)

    @functools.cached_property
    def _misfits(self) -> FloatArray:
        """Squared residuals of leaving one out, in units of their expectation, (n,)."""
        residual, error = self.leave_one_out()
        return (residual / error) ** 2

    def doubt(self, theta: FloatArray) -> FloatArray:
        """By how much the rows near theta (m, d) miss what the others predict of them, (m,).

        1 where the model keeps its promises; a function that is rougher here than elsewhere has
        larger residuals here, and its standard deviations are too small by this factor.
        """
        return self.doubt_of(self._realised(theta))

    def doubt_of(self, cloud: Cloud) -> FloatArray:
        """The same of the average of f over each row of a cloud, (m,)."""
        return self._doubt(self.kernel.local(cloud, self.rows))

    def _doubt(self, k: FloatArray) -> FloatArray:
        """`doubt` where the local covariance with the rows is k (m, n), (m,)."""
        return np.sqrt(np.maximum((1 + k @ self._misfits) / (1 + k.sum(axis=1)), 1.0))
