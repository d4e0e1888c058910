"""Two searches after one another: a Gaussian process finds the place, an evolution strategy stays.

A Gaussian process of a few hundred rows sees all of the region, which a descent from x0 does not;
an evolution strategy takes no time to ask, and goes on where a global model ends.
"""

from __future__ import annotations

import numpy as np

from phenes._validate import BoolArray, FloatArray
from phenes.evidence.control import LocalModel, Surrogate
from phenes.optimizer.engines import Search

# Evaluations after which the Gaussian process hands over: it has found its basin by then, and
# evaluations beside it are better spent there (`phenes bench few`, budgets over 500). With more
# coordinates than the second it takes more, up to so many times: on Hartmann's function in 6 it
# sees the better of two basins after 150 to 220 (of 5 seeds none but one with 120, 4 with 240).
HAND_OVER, FEW_COORDINATES, MOST_TIMES = 120, 3, 2.0
# Width of the descent that goes on, in units of sigma0: that of the noise, within these.
NARROWEST, WIDEST = 0.05, 0.5


HANDED_OVER = "relay: the evolution strategy goes on from the answer of the model"


class Relay:
    """A `Search` of two legs; what is asked and told goes to the one that runs.

    Parameters
    ----------
    first : Search
        Asks for the first `HAND_OVER` evaluations, and in more than three coordinates for up to
        twice as many.
    second : Search
        Goes on from its answer.
    noise : ndarray, shape (d,) or (d, d)
        Variances or covariance of x - theta.
    """

    def __init__(self, first: Search, second: Search, noise: FloatArray):
        self._first, self._second, self._noise = first, second, noise
        self._leg = first
        self._told = 0  # since values differ
        self._share = HAND_OVER * min(max(first.x0.size / FEW_COORDINATES, 1.0), MOST_TIMES)
        self._range = (np.inf, -np.inf)
        self._events: dict[str, int] = {}
        self._parts: list[tuple[FloatArray, FloatArray, FloatArray, BoolArray | None]] = []
        self.x0 = first.x0
        self.width = first.width

    @property
    def popsize(self) -> int:
        """How many theta the present leg asks for by itself."""
        return self._leg.popsize

    @property
    def first_popsize(self) -> int:
        """How many the present leg asked for at first."""
        return self._leg.first_popsize

    @property
    def least(self) -> int:
        """Rows that are worth an update."""
        return self._leg.least

    @property
    def mean(self) -> FloatArray:
        """What the present leg proposes as the answer, (d,)."""
        return self._leg.mean

    @property
    def estimate(self) -> tuple[float, float]:
        """E f there by its own model, and the standard error."""
        return self._leg.estimate

    @property
    def surrogate(self) -> Surrogate | None:
        """The model of the first leg while it runs."""
        return self._leg.surrogate

    @property
    def local_model(self) -> LocalModel | None:
        """The quadratic of the second leg around its mean."""
        return self._leg.local_model

    @property
    def noise_cost(self) -> float:
        """What the noise of the inputs adds to F there."""
        return self._leg.noise_cost

    @property
    def spread(self) -> FloatArray:
        """Standard deviation of the search in each coordinate, (d,)."""
        return self._leg.spread

    @property
    def challenging(self) -> bool:
        """Whether it looks elsewhere, beside a best place that it knows."""
        return self._leg.challenging

    @property
    def phase(self) -> str:
        """What it is doing, in a word."""
        return self._leg.phase

    @property
    def converged(self) -> str:
        """Why more evaluations would gain nothing; empty while they may."""
        return self._leg.converged

    def ask(self, n: int | None = None, beside: int = 0) -> FloatArray:
        """theta (n, d) of the present leg."""
        return self._leg.ask(n, beside)

    def retrace(self, theta: FloatArray, beside: int = 0) -> FloatArray:
        """Go on as after an ask that gave these theta (n, d)."""
        return self._leg.retrace(theta, beside)

    def withdraw(self, theta: FloatArray) -> None:
        """Rows that were asked for and will never be told."""
        self._leg.withdraw(theta)

    def predict(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """E f at theta (n, d) and its error by the present leg; NaN if it cannot say."""
        return self._leg.predict(theta)

    def tell(
        self, theta: FloatArray, x: FloatArray, f: FloatArray, measured: BoolArray | None = None
    ) -> None:
        """What was intended, realised, and f; the legs change when the first has had its share.

        As long as all values are equal, such as a yield of zero, the first leg goes on filling the
        space: there is nothing from which a descent could go on.
        """
        self._leg.tell(theta, x, f, measured)
        if self._leg is self._first:
            self._parts.append((theta, x, f, measured))
            finite = f[np.isfinite(f)]
            low, high = self._range
            self._range = (min(low, finite.min(initial=low)), max(high, finite.max(initial=high)))
            if self._range[0] < self._range[1]:
                self._told += len(f)
            if self._told >= self._share:
                self._hand_over()

    def _hand_over(self) -> None:
        """The second leg begins where the first has arrived, as wide as the noise."""
        variances = self._noise if self._noise.ndim == 1 else np.diag(self._noise)
        width = float(np.clip(np.sqrt(np.mean(variances / self.width**2)), NARROWEST, WIDEST))
        self._second.restart(self._first.mean, width)
        for part in self._parts:
            self._second.learn(*part)
        self._events = self._first.take_events() | {HANDED_OVER: 1}
        self._leg, self._parts = self._second, []

    def learn(
        self, theta: FloatArray, x: FloatArray, f: FloatArray, measured: BoolArray | None = None
    ) -> None:
        """The same, of rows that were drawn to verify."""
        self._leg.learn(theta, x, f, measured)

    def revalue(self) -> None:
        """Go on with a merit that has changed, in both legs."""
        self._first.revalue()
        self._second.revalue()

    def conclude(self) -> None:
        """No more rows of the search will come."""
        self._leg.conclude()

    def restart(self, theta: FloatArray, width: float | None = None) -> None:
        """The evidence says that the answer is at theta."""
        self._leg.restart(theta, width)

    def better_than(self, theta: FloatArray) -> FloatArray | None:
        """What it proposes instead of theta (d,), if that is better by a standard error."""
        return self._leg.better_than(theta)

    def inside(self, theta: FloatArray) -> FloatArray:
        """The nearest points within the bounds, (n, d)."""
        return self._leg.inside(theta)

    def update_noise(
        self, cov: FloatArray, bias: FloatArray, unmeasured: FloatArray | None = None
    ) -> None:
        """Better knowledge of the law of x - theta, for both legs."""
        if self._leg is self._first:
            self._first.update_noise(cov, bias, unmeasured)
        self._noise = cov
        self._second.update_noise(cov, bias, unmeasured)

    def expected_gain(self, n: int = 1) -> float:
        """What n more evaluations are expected to improve; NaN if it cannot say."""
        return self._leg.expected_gain(n)

    def take_events(self) -> dict[str, int]:
        """What happened since the last call."""
        taken, self._events = self._events, {}
        return taken | self._leg.take_events()
