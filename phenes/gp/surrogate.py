"""The model as a control variate: what each row says of E f, by a model of all others."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from phenes._threads import one_thread
from phenes._validate import FloatArray
from phenes.gp import tuning
from phenes.gp.cloud import Cloud
from phenes.gp.coverage import enough_rows
from phenes.gp.draws import gaussian_offsets
from phenes.gp.fit import Fitted
from phenes.gp.posterior import Posterior
from phenes.gp.region import Region
from phenes.gp.warp import UNCHANGED
from phenes.risk import Reference, Risk, mean


class LeftOut(NamedTuple):
    """What rows say of E f at a theta, each with a model of all others.

    values (n,): E f by the model without the row, plus what that model misses at the row. rest
    (n,): what it misses. error: standard error of the model of all rows. alone (n,): standard
    error of each value, by the model. scatter: standard deviation of the model over the law of x,
    if its draws were given. elsewhere (m,): what the model expects at other points.
    """

    values: FloatArray
    rest: FloatArray
    error: float
    alone: FloatArray
    scatter: float
    elsewhere: FloatArray


class Surrogate:
    """A kernel that was fitted during a run, and the values that it is to explain.

    Its hyperparameters are those of the search. The values are given by the caller, which has all
    observations.

    Parameters
    ----------
    fitted : Fitted
        Parameters of the kernel, in units of the region.
    region : Region
        Units of theta and x.
    """

    name = "process"

    def __init__(self, fitted: Fitted, region: Region):
        self._fitted, self._region = fitted, region
        self.most_rows = enough_rows(region.dim)
        self._known: tuple[bytes, Posterior] | None = None

    @one_thread
    def leave_one_out(
        self,
        points: FloatArray,
        f: FloatArray,
        theta: FloatArray,
        cov: FloatArray,
        draws: FloatArray,
        exact: bool,
        others: FloatArray,
    ) -> LeftOut:
        """What each row says of E f(x) at theta.

        Without row i the prediction is that in which f_i is replaced by what all others predict of
        it: with the prediction linear in f, weights a, and r_i the residual of leaving row i out,
        it is lower by a_i r_i. No second fit is needed.

        Parameters
        ----------
        points : ndarray, shape (n, d)
            Realised x.
        f : ndarray, shape (n,)
            Values there.
        theta : ndarray, shape (d,)
            Mean of x.
        cov : ndarray, shape (d,) or (d, d)
            Variances or covariance of x.
        draws : ndarray, shape (s, d)
            Draws of x; none if nothing but the moments matters.
        exact : bool
            Whether the law is Gaussian with these moments; otherwise it is its draws.
        others : ndarray, shape (m, d)
            Realised x that the model does not learn from.

        Returns
        -------
        LeftOut
        """
        region = self._region
        if self._fitted.warp is not None:
            return self._averaged(points, f, theta, cov, draws, exact, others)
        posterior = self._posterior(region.to_u(points), f)
        at = region.to_u(theta)[None]
        blurred = Cloud(at, region.covariance(cov))
        doubt = float(posterior.doubt_of(blurred)[0])
        error = doubt * float(posterior.of(blurred)[1][0])
        each = posterior.kernel.covariance(Cloud(region.to_u(draws)), posterior.rows)
        scatter = float(np.std(posterior.predicted(each))) if len(draws) else 0.0
        if exact:
            each = posterior.kernel.covariance(blurred, posterior.rows)
        k = each.mean(axis=0)
        rest, expected = posterior.leave_one_out()
        values = posterior.predicted(k) + (1 - posterior.weights(k)) * rest
        there = posterior.kernel.covariance(Cloud(region.to_u(others)), posterior.rows)
        elsewhere = posterior.predicted(there)
        return LeftOut(values, rest, error, doubt * expected, scatter, elsewhere)

    def _averaged(
        self,
        points: FloatArray,
        f: FloatArray,
        theta: FloatArray,
        cov: FloatArray,
        draws: FloatArray,
        exact: bool,
        others: FloatArray,
    ) -> LeftOut:
        """`leave_one_out` on another scale of the values: E f = E h + E (f(h) - h).

        The first part is in closed form, the second by draws: it is zero where f is below the
        level of the scale, as around an optimum.
        """
        warp = self._fitted.warp
        assert warp is not None
        plain = Surrogate(self._fitted._replace(warp=None), self._region)
        h = warp.compress(f)
        below = plain.leave_one_out(points, h, theta, cov, draws, exact, others)
        if exact:
            draws = gaussian_offsets(cov if np.any(cov) else None, theta, tuning.CLAIM_DRAWS)
        above, _ = self.of_risk(points, f, draws, mean(), others)
        posterior = self._posterior(self._region.to_u(points), h)
        at = Cloud(self._region.to_u(draws))
        k = posterior.kernel.covariance(at, posterior.rows)
        there = posterior.predicted(k)
        # what the same draws say of E h, without each row and with all of them
        without = there.mean() - posterior.responses(k).mean(axis=0) * below.rest
        values = above.values - without + below.values - below.rest
        scatter = float(np.std(warp.expand(there) - there))
        error = math.hypot(above.error, scatter / math.sqrt(len(draws)))
        return above._replace(values=values, error=error, scatter=below.scatter)

    @one_thread
    def of_risk(
        self,
        points: FloatArray,
        f: FloatArray,
        draws: FloatArray,
        risk: Risk,
        others: FloatArray,
    ) -> tuple[LeftOut, Reference]:
        """What each row says of a risk of f(x), linearised where the model has it.

        With g the linearisation, each row gives the mean of g over the draws by the model without
        the row, plus what g of that model misses at the row. The model of all rows is as uncertain
        of the risk as of the sum of f over the draws with the derivatives of the risk.

        Parameters
        ----------
        points : ndarray, shape (n, d)
            Realised x.
        f : ndarray, shape (n,)
            Values there.
        draws : ndarray, shape (s, d)
            Draws of x.
        risk : Risk
            Of values as minimised.
        others : ndarray, shape (m, d)
            Realised x that the model does not learn from.

        Returns
        -------
        tuple of LeftOut and Reference
            What it would say of E g(f), and g.
        """
        warp = self._fitted.warp or UNCHANGED
        h = warp.compress(f)
        posterior = self._posterior(self._region.to_u(points), h)
        at = self._region.to_u(draws)
        k = posterior.kernel.covariance(Cloud(at), posterior.rows)
        there = posterior.predicted(k)
        expected = warp.expand(there)
        reference = risk.reference(expected, smooth=False)

        def g(h: FloatArray) -> FloatArray:
            return reference.values(warp.expand(h))

        rest, own = posterior.leave_one_out()
        without = g(there[:, None] - posterior.responses(k) * rest).mean(axis=0)
        missed = g(h) - g(h - rest)
        doubt = float(np.mean(posterior.doubt_of(Cloud(at))))
        slopes = risk.tangent(expected)[1] * warp.steepness(there)
        error = doubt * posterior.functional(at, slopes)
        # a function that is rougher than the kernel says changes more when a row is left out
        error = max(error, float(np.linalg.norm(without - g(there).mean())))
        # f varies by what the model is unsure of as well, to both sides of what it expects
        sd = doubt * posterior.of(Cloud(at))[1]
        bent = (g(there + sd) + g(there - sd)) / 2 - g(there)
        error = math.hypot(error, float(bent.mean()))
        alone = doubt * own * slopes.max() * len(slopes)
        k = posterior.kernel.covariance(Cloud(self._region.to_u(others)), posterior.rows)
        elsewhere = warp.expand(posterior.predicted(k))
        scatter = float(np.std(reference.values(expected)))
        return LeftOut(without + missed, missed, error, alone, scatter, elsewhere), reference

    def _posterior(self, u: FloatArray, f: FloatArray) -> Posterior:
        """The posterior of these values; the same as for another theta a moment ago, as a rule."""
        key = u.tobytes() + f.tobytes()
        if self._known is None or self._known[0] != key:
            kernel, eta = self._fitted.kernel, self._fitted.eta
            self._known = (key, Posterior(kernel, eta, Cloud(u), f, None))
        return self._known[1]
