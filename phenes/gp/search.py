"""Bayesian optimisation of F on the realised x: the search for few evaluations."""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from phenes._threads import one_thread
from phenes._validate import BoolArray, FloatArray
from phenes.constraints import Wanted
from phenes.gp import tuning
from phenes.gp.acquisition import candidates, most_promising, scores
from phenes.gp.answer import best_known
from phenes.gp.constrained import Limits, best_within, most_promising_within
from phenes.gp.fit import Fitted
from phenes.gp.model import Model
from phenes.gp.region import make_region
from phenes.gp.surrogate import Surrogate
from phenes.risk import Risk
from phenes.space import Lattice

FLAT = "model: all values are equal, so points are spread until some differ"
FAILING = "model: evaluations fail, and where is learnt"
KERNEL = "model: {}"


def _gaussian(theta: FloatArray) -> FloatArray | None:
    """The law of x - theta is its moments."""
    return None


def _sobol(dim: int, rng: np.random.Generator) -> Any:
    """A scrambled Sobol sequence; SciPy's statistics take a while to import, here if anywhere."""
    from scipy.stats import qmc

    return qmc.Sobol(dim, scramble=True, rng=rng)


def design_size(dim: int, budget: int | None) -> int:
    """Rows of the space-filling design in d coordinates, for so many evaluations (None: many)."""
    least, most = tuning.DESIGN
    each = most if budget is None else min(max(budget / tuning.DESIGN_BUDGET, least), most)
    return round(each * (dim + 1))


class BayesianSearch:
    """Minimises E f(x), x = theta + noise of known covariance, with few evaluations.

    A Gaussian process models f on the realised x, where f is exact; what is known of
    F(theta) = E f(x) follows in closed form. Points are asked where F is expected to improve most.
    The answer is the least F near a theta that was tried. Arguments are clean arrays: what users
    give is validated by `phenes.Optimizer`.

    Parameters
    ----------
    x0 : ndarray, shape (d,)
        Where the search starts.
    sigma0 : ndarray, shape (d,)
        The first region reaches four of these from x0, within the bounds.
    cov : ndarray, shape (d,) or (d, d)
        Variances or covariance of x - theta; zeros for no noise.
    seed : int
        Seed of all randomness of the search.
    bias : ndarray, shape (d,), optional
        Mean of x - theta; zero by default.
    lower, upper : ndarray, shape (d,), optional
        Bounds of theta, lower < upper; none by default.
    lattice : Lattice, optional
        Which coordinates are whole numbers, and which belong to choices; none by default.
    draws : callable, optional
        theta (d,) -> draws (s, d) of x - theta if the law is not Gaussian, else None.
    budget : int, optional
        Evaluations that there will be: with few of them, fewer are spread first.
    wanted : Wanted, optional
        What is wanted of the constraints that are told with the values.
    risk : Risk, optional
        What is minimised in place of E f(x).

    Examples
    --------
    >>> import numpy as np
    >>> world = np.random.default_rng(1)
    >>> search = BayesianSearch(np.ones(2), np.full(2, 0.5), np.full(2, 0.01), seed=0)
    >>> while search.evaluations < 30:
    ...     theta = search.ask()
    ...     x = theta + 0.1 * world.standard_normal(theta.shape)
    ...     search.tell(theta, x, np.sum(x**2, axis=1))
    >>> bool(np.abs(search.mean).max() < 0.01)
    True
    """

    converged = ""  # it goes on as long as it is asked
    challenging = False  # it never restarts

    def __init__(
        self,
        x0: FloatArray,
        sigma0: FloatArray,
        cov: FloatArray,
        *,
        seed: int,
        bias: FloatArray | None = None,
        lower: FloatArray | None = None,
        upper: FloatArray | None = None,
        lattice: Lattice | None = None,
        draws: Callable[[FloatArray], FloatArray | None] = _gaussian,
        budget: int | None = None,
        wanted: Wanted | None = None,
        risk: Risk | None = None,
    ) -> None:
        dim = x0.size
        self._lower = np.full(dim, -np.inf) if lower is None else lower
        self._upper = np.full(dim, np.inf) if upper is None else upper
        self.x0 = np.clip(x0, self._lower, self._upper)
        self.width = sigma0
        self._region = make_region(self.x0, sigma0, self._lower, self._upper, lattice)
        shift = np.zeros(dim) if bias is None else bias / self._region.width
        self._model = Model(dim, self._region.covariance(cov), shift, compresses=True)
        self._draws, self._risk = draws, risk
        self._design = design_size(dim, budget)
        self._seed = seed
        self._sobol = _sobol(dim, np.random.default_rng([seed, 1]))
        self._sobol_out = _sobol(dim, np.random.default_rng([seed, 4]))
        self._sobol_near = _sobol(dim, np.random.default_rng([seed, 5]))
        self._pending = np.empty((0, dim))
        self._answer: FloatArray | None = None
        self._known: tuple[float, float] | None = None  # the estimate there
        self._centre = self._region.to_u(self.x0)  # the last answer: where the law of x is taken
        self._events: dict[str, int] = {}
        self._shape = ""
        self._surrogate: tuple[Fitted, Surrogate] | None = None
        self._retreat = 0.0  # halvings of the box in which improvements are sought
        self._wanted = wanted
        self._limits: Limits | None = None

    @property
    def evaluations(self) -> int:
        """Number of rows that were told."""
        return self._model.rows.f.size

    @property
    def popsize(self) -> int:
        """How many points `ask` returns: what the design lacks, then a small batch."""
        if self._lacking > 0:
            return self._lacking
        return min(max(int(tuning.BATCH_SHARE * self.evaluations), 1), tuning.LARGEST_BATCH)

    @property
    def first_popsize(self) -> int:
        """The same: it has no populations that grow."""
        return self.popsize

    least = 1  # rows that are worth an update

    @property
    def _asked(self) -> int:
        """Number of points so far, told or under way."""
        return self.evaluations + len(self._pending)

    @property
    def _lacking(self) -> int:
        """Points that the space-filling design lacks."""
        return self._design - self._asked

    @one_thread
    def ask(self, n: int | None = None, beside: int = 0) -> FloatArray:
        """Intended theta to try next.

        Parameters
        ----------
        n : int, optional
            How many; `popsize` by default. What was asked and not told is taken to be under way.
        beside : int, optional
            Rows that the caller evaluates with them; they do not matter here.

        Returns
        -------
        ndarray, shape (n, d)
            Points within the bounds.
        """
        asked = [self._next() for _ in range(self.popsize if n is None else n)]
        return np.array(asked).reshape(-1, self._region.dim)

    def _next(self) -> FloatArray:
        """One more theta, which is under way from now on."""
        if self._spreads:
            u = self._filling()
        else:
            u, gain = self._improving(np.random.default_rng([self._seed, 2, self._asked]))
            if self._asked % tuning.ELSEWHERE == 0 and self._resolved(gain):
                u = self._elsewhere(np.random.default_rng([self._seed, 4, self._asked]), u)
        theta = self.inside(self._region.to_theta(u))
        self._hand_out(theta)
        return theta

    @property
    def _spreads(self) -> bool:
        """Whether the next theta is of the space-filling sequence."""
        explores = self._asked % tuning.EXPLORE == tuning.EXPLORE - 1
        return self._lacking > 0 or not self._model.ready or explores

    def _filling(self) -> FloatArray:
        """The next point of a space-filling sequence, in u (d,).

        All over the box. Where all values are equal there is nothing near, and every fourth point
        looks further out, the further the longer nothing has been found, but no thinner than the
        first points lie. Another fourth are draws around x0: in many coordinates nearly all of a
        box is further away than what sigma0 says; where most evaluations fail they are of several
        widths, since what works may be smaller than that. Each kind has a sequence of its own:
        every other point of a Sobol sequence lies in one half of the cube.
        """
        nothing_told = self.evaluations == 0  # a large first batch: nothing is known to be equal
        if nothing_told or self._lacking > 0 or self._model.ready or self._asked % 2:
            return self._region.spread(self._sobol.random(1)[0])
        if self._asked % 4:
            out = (self._asked / self._design) ** (1 / max(2, self._region.dim))
            return self._region.wider(out).spread(self._sobol_out.random(1)[0])
        std = tuning.FLAT_WIDTH * self.width / self._region.width
        if 2 * self._model.rows.worked.sum() < self.evaluations:
            std = std / 2 ** (self._asked // 4 % tuning.HALVINGS)
        unit = self._sobol_near.random(1)[0]
        return self._region.normal(unit, self._region.to_u(self.x0), std)

    def _hand_out(self, theta: FloatArray) -> None:
        self._pending = np.concatenate([self._pending, theta[None]])[-tuning.MOST_PENDING :]

    def retrace(self, theta: FloatArray, beside: int = 0) -> FloatArray:
        """Go on as after an ask that gave these theta, without looking for them again.

        Parameters
        ----------
        theta : ndarray, shape (n, d)
            What was asked then.
        beside : int, optional
            As for `ask`.

        Returns
        -------
        ndarray, shape (n, d)
            The same.
        """
        for row in theta:
            if self._spreads:
                self._filling()
            self._hand_out(row)
        return theta

    def withdraw(self, theta: FloatArray) -> None:
        """Forget what was asked and is no longer under way.

        Parameters
        ----------
        theta : ndarray, shape (n, d)
            The points; others are ignored.
        """
        for row in theta:
            same = np.flatnonzero(np.all(self._pending == row, axis=1))
            self._pending = np.delete(self._pending, same[:1], axis=0)

    @one_thread
    def predict(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """E f(x) by the model, failures included, and its standard error.

        Under the law of x at theta, which need not be that at the answer.

        Parameters
        ----------
        theta : ndarray, shape (n, d)

        Returns
        -------
        tuple of ndarray, shape (n,)
            NaN while there is no model.
        """
        if not self._model.ready:
            return np.full(len(theta), np.nan), np.full(len(theta), np.nan)
        u = self._region.to_u(theta)
        if not len(u) or self._law(u[0]) is None:
            return self._model.in_units(*self._model.belief.at(u))
        laws = [self._law(row) for row in u]
        found = [
            self._model.under(law).at(row[None])
            for row, law in zip(u, laws, strict=True)
            if law is not None
        ]
        mean, sd = (np.concatenate(each) for each in zip(*found, strict=True))
        return self._model.in_units(mean, sd)

    def _law(self, u: FloatArray) -> FloatArray | None:
        """Draws (s, d) of x - theta at u in units of the region; None if it is Gaussian."""
        found = self._draws(self._region.to_theta(u))
        return None if found is None else found / self._region.width

    def _improving(self, rng: np.random.Generator) -> tuple[FloatArray, float]:
        """The most promising u, with those under way believed, and its log improvement."""
        model, answer = self._model, self._best()
        pending = self._region.to_u(self._pending)
        belief = model.belief.believing(pending, model.unknown)
        share = 0.5**self._retreat
        region = self._region.near(answer, share)
        std = share * np.minimum(np.sqrt(model.lengths**2 + model.noise_variances), 1.0)
        if self._limits is not None and self._limits.ready:

            def around(centre: FloatArray, share: float) -> FloatArray:
                n = tuning.LIMIT_CANDIDATES
                number = (n if share == 1 else 0, n)
                return self._untold(candidates(region, centre, share * std, rng, number))

            return most_promising_within(belief, self._limits, answer, pending, around)
        # what is under way is believed: the next point must promise more than that, too
        best = float(belief.at(np.concatenate([answer[None], pending]))[0].min())
        points = self._untold(candidates(region, answer, std, rng))
        return most_promising(belief, best, points, region)

    def _resolved(self, gain: float) -> bool:
        """Whether the most that an evaluation promises (its logarithm) is nothing to speak of.

        That is, beside how much E f differs between the places that were tried. Of noisy x and
        E f alone: only there was it measured what points elsewhere gain.
        """
        plain = self._limits is None and self._risk is None and self._region.lattice is None
        noisy = bool(self._model.noise_variances.any())
        if not (plain and noisy and self._asked >= tuning.ELSEWHERE_FROM):
            return False
        rows = self._model.rows
        spread = float(np.std(self._model.belief.at(rows.theta[rows.worked])[0]))
        return gain < math.log(max(tuning.RESOLVED * spread, tuning.TINY))

    def _elsewhere(self, rng: np.random.Generator, best: FloatArray) -> FloatArray:
        """What promises most if the place of the answer were not known; `best` if there is nothing.

        A model of few rows is too sure of what lies between them: another basin, which it knows by
        a row or two, has to be as good as a place that was searched for long to be looked at.
        """
        model, answer = self._model, self._best()
        std = np.minimum(np.sqrt(model.lengths**2 + model.noise_variances), 1.0)

        def apart(u: FloatArray) -> BoolArray:
            return np.sum(((u - answer) / std) ** 2, axis=1) > self._region.dim * tuning.BASIN**2

        belief = model.belief.believing(self._region.to_u(self._pending), model.unknown)
        tried = model.rows.theta[model.rows.worked]
        tried = tried[apart(tried)]
        if not len(tried):
            return best
        mean = belief.at(tried)[0]
        points = candidates(self._region, tried[np.argmin(mean)], std, rng)
        points = self._untold(points[apart(points)])
        if not len(points):
            return best
        return points[np.argmax(scores(belief, float(mean.min()), points))]

    def _follow_retreat(self, worked: BoolArray) -> None:
        """Look nearer to the answer after each failure, further away again after each value (n,).

        Where f falls towards a border, in many coordinates there is always a place beyond it that
        no failure is near, and that promises more than all that is known. So it is of a limit that
        says only pass or fail.
        """
        if self._lacking > 0:
            return
        for one in worked:
            step = -1.0 if one else tuning.RETREAT
            self._retreat = min(max(self._retreat + step, 0.0), tuning.MOST_RETREAT)

    def _untold(self, points: FloatArray) -> FloatArray:
        """Those u (m, d) that have more to say; all, if none has.

        A point of a lattice that is realised exactly, and had the same value twice, has said all.
        A model that takes what is rugged for noise would ask for the best of them for ever.
        """
        lattice, rows = self._region.lattice, self._model.rows
        if lattice is None or not lattice.fixed.all() or self._model.noise is not None:
            return points
        values: dict[bytes, list[float]] = {}
        for theta, f in zip(np.rint(self._region.to_theta(rows.theta)), rows.f, strict=True):
            values.setdefault((theta + 0.0).tobytes(), []).append(float(f))
        told = {at for at, f in values.items() if len(f) > 1 and np.ptp(f) == 0}
        rest = [
            (theta + 0.0).tobytes() not in told for theta in np.rint(self._region.to_theta(points))
        ]
        return points[rest] if any(rest) else points

    @one_thread
    def expected_gain(self, n: int = 1) -> float:
        """By how much the next n evaluations are expected to improve E f of the answer, at most.

        Parameters
        ----------
        n : int, optional
            How many are made at once.

        Returns
        -------
        float
            The sum of their expected improvements, each with those before it believed; infinity
            while there is no model.
        """
        if not self._model.ready:
            return np.inf
        rng, pending, total = np.random.default_rng([self._seed, 3]), self._pending, 0.0
        for _ in range(n):
            u, gain = self._improving(rng)
            total += math.exp(gain)
            self._pending = np.concatenate([self._pending, self._region.to_theta(u)[None]])
        self._pending = pending
        warp = self._model.warp
        if warp is None:
            return total
        return total * float(warp.steepness(self._model.belief.at(self._best()[None])[0])[0])

    @one_thread
    def tell(
        self, theta: FloatArray, x: FloatArray, f: FloatArray, measured: BoolArray | None = None
    ) -> None:
        """Take in any number of samples, in any order.

        Parameters
        ----------
        theta : ndarray, shape (n, d)
            What was intended.
        x : ndarray, shape (n, d)
            What was realised, unmeasured coordinates at their expectation.
        f : ndarray, shape (n,) or (n, 1 + J)
            Values at x; NaN or infinite values are failed evaluations. After them the constraints,
            if something is `wanted` of them.
        measured : ndarray of bool, shape (n, d), optional
            Which coordinates of x were measured; all by default.
        """
        self.withdraw(theta)
        f, c = (f, None) if f.ndim == 1 else (f[:, 0], f[:, 1:])
        seen = np.ones(x.shape, bool) if measured is None else measured
        if c is not None:  # where a constraint is not known nothing is met, however good f is
            f = np.where(np.isnan(c).any(axis=1), np.nan, f)
        known = np.all(np.isfinite(x), axis=1)
        to_u = self._region.to_u
        self._model.add(to_u(theta[known]), to_u(x[known]), f[known], seen[known])
        worked = np.isfinite(f[known])
        if c is not None and self._wanted is not None:
            if self._limits is None:
                model, names = self._model, self._wanted.names or ("",) * c.shape[1]
                wanted = self._wanted.requirements(names)
                self._limits = Limits(wanted, c.shape[1], model.noise, model.bias)
            self._limits.add(to_u(theta[known]), to_u(x[known]), c[known], seen[known])
            worked &= ~self._limits.beyond(c[known])
        self._follow_retreat(worked)
        self._answer = self._known = None
        self._report(f)

    learn = tell  # draws at the answer teach as much as any others

    def _report(self, f: FloatArray) -> None:
        """Events of the last rows."""
        fitted = self._model.fitted
        if fitted is None and self._lacking <= 0:
            self._event(FLAT)
        elif fitted is not None and fitted.shape.name != self._shape:
            self._shape = fitted.shape.name
            self._event(KERNEL.format(self._shape))
        if not np.isfinite(f).all():
            self._event(FAILING)

    def _event(self, text: str) -> None:
        self._events[text] = self._events.get(text, 0) + 1

    def take_events(self) -> dict[str, int]:
        """What happened since this was last called.

        Returns
        -------
        dict of str to int
            Texts with their number, in the order of their first.
        """
        taken, self._events = self._events, {}
        return taken

    def revalue(self) -> None:
        """Nothing to do: the model is of what was told."""

    def conclude(self) -> None:
        """Nothing is kept back: every row was used when it was told."""

    def restart(self, theta: FloatArray, width: float | None = None) -> None:
        """Nothing to do: the evidence is in the model, which goes on by itself.

        Parameters
        ----------
        theta : ndarray, shape (d,)
            Where the evidence says that the answer is.
        width : float, optional
            How wide to begin there.
        """

    @one_thread
    def better_than(self, theta: FloatArray) -> FloatArray | None:
        """What the model proposes instead of a theta, if that is better.

        Parameters
        ----------
        theta : ndarray, shape (d,)
            An earlier proposal.

        Returns
        -------
        ndarray, shape (d,), or None
            None unless its E f is lower by a standard error.
        """
        if not self._model.ready:
            return None
        here = self._region.to_u(theta)
        gain, error = self._model.belief.difference(here, self._best())
        return self.mean if gain > error else None

    def inside(self, theta: FloatArray) -> FloatArray:
        """The nearest points within the bounds, and of the lattice.

        Parameters
        ----------
        theta : ndarray, shape (n, d)

        Returns
        -------
        ndarray, shape (n, d)
        """
        within = np.clip(theta, self._lower, self._upper)
        lattice = self._region.lattice
        return within if lattice is None else lattice.snap(within)

    def update_noise(
        self, cov: FloatArray, bias: FloatArray, unmeasured: FloatArray | None = None
    ) -> None:
        """Go on with better knowledge of the noise: the same rows, other predictions.

        Parameters
        ----------
        cov : ndarray, shape (d,) or (d, d)
            Variances or covariance of the measured x - theta.
        bias : ndarray, shape (d,)
            Mean of x - theta.
        unmeasured : ndarray, shape (d,), optional
            Variance of the noise in coordinates where x is not measured.
        """
        more = np.zeros(bias.size) if unmeasured is None else np.maximum(unmeasured, 0.0)
        total = cov + (np.diag(more) if cov.ndim == 2 else more)
        self._model.update_noise(self._region.covariance(total), bias / self._region.width)
        if self._limits is not None:
            self._limits.update_noise(self._model.noise, self._model.bias)
        self._answer = self._known = None

    @one_thread
    def _best(self) -> FloatArray:
        """The answer in u; the region grows with it."""
        if self._answer is None:
            if self._risk is not None or self._model.warp is not None:
                self._model.at_risk(self._risk, self._law(self._centre))
            if self._limits is not None and self._limits.ready:
                self._answer = best_within(self._model, self._limits, self._region)
            else:
                self._answer = best_known(self._model, self._region, self._law)
            self._region = self._region.around(self._answer)
            self._centre = self._answer
        return self._answer

    @property
    def mean(self) -> FloatArray:
        """The recommendation, shape (d,); the best theta that was tried while there is no model."""
        if self._model.ready:
            return self.inside(self._region.to_theta(self._best()))
        rows = self._model.rows
        if not rows.worked.any():
            return self.x0.copy()
        return self.inside(self._region.to_theta(rows.theta[np.nanargmin(rows.f)]))

    @property
    @one_thread
    def estimate(self) -> tuple[float, float]:
        """E f(x) at `mean` by the model, and its standard error."""
        if not self._model.ready:
            return np.nan, np.inf
        best = self._best()
        if self._known is None:
            mean, sd = self._model.in_units(*self._model.for_claims.at(best[None]))
            self._known = float(mean[0]), float(sd[0])
        return self._known

    local_model = None  # its surrogate holds wherever there are rows

    @property
    def surrogate(self) -> Surrogate | None:
        """The model of f, as a control variate; None while there is none."""
        fitted = self._model.fitted
        if fitted is None:
            return None
        if self._surrogate is None or self._surrogate[0] is not fitted:
            self._surrogate = (fitted, Surrogate(fitted, self._region))
        return self._surrogate[1]

    @property
    @one_thread
    def noise_cost(self) -> float:
        """What the noise of the inputs adds to F at `mean`: F less f, by the model."""
        if not self._model.ready:
            return 0.0
        at, posterior = self._best()[None], self._model.belief.values
        without = posterior.averaged_over(at, np.zeros_like(at))
        if self._model.warp is not None:
            return self.estimate[0] - float(self._model.warp.expand(without)[0])
        return float(posterior.at(at)[0][0] - without[0])

    @property
    def spread(self) -> FloatArray:
        """A small share of the lengths over which f changes, in each coordinate, shape (d,)."""
        if not self._model.ready:
            return self.width.copy()
        return tuning.SPREAD * self._model.lengths * self._region.width

    @property
    def phase(self) -> str:
        """What the search is doing now: design, or model."""
        return "model" if self._model.ready and self._lacking <= 0 else "design"
