"""The adaptive strategy: descents with restarts; the answer is the mean of the best of them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from phenes.adaptive import comparison, tuning
from phenes.adaptive.coordinates import Coordinates, make_coordinates
from phenes.adaptive.descent import Descent, Start
from phenes.adaptive.estimate import LocalModel, explained
from phenes.adaptive.events import Events
from phenes.adaptive.restarts import Answer, Kind, Schedule, default_popsize

BEGINS = {
    Kind.TREND: "restart: by the trend around the answer",
    Kind.LARGE: "restart: a large population from elsewhere",
    Kind.SMALL: "restart: a small one from elsewhere",
}
LOST = "restart: all values were equal, a wide look around the start"
SAME_PLACE = "restart: ended at the same place"
BETTER = "restart: better, and the answer from now on"
ENDED = "restart: ended elsewhere"
ELSEWHERE = "the evidence says that the answer is elsewhere: a new descent there"


class Adaptive:
    """Minimises E f(x), x = theta + noise of known covariance.

    Ask for intended theta, tell the realised x and f(x). Arguments are clean arrays: what users
    give is validated by `phenes.Optimizer`.

    Parameters
    ----------
    x0 : ndarray, shape (d,)
        Where the search starts.
    sigma0 : ndarray, shape (d,)
        Standard deviation of the first candidates in each coordinate, positive.
    cov : ndarray, shape (d,) or (d, d)
        Variances or covariance of x - theta; zeros for no noise.
    popsize : int, optional
        Evaluations of a generation, at least 2; 4 + 3 ln d by default.
    rng : numpy.random.Generator
        Source of all randomness of the search.
    bias : ndarray, shape (d,), optional
        Mean of x - theta; zero by default.
    lower, upper : ndarray, shape (d,), optional
        Bounds of theta, lower < upper; none by default.
    least : ndarray, shape (d,), optional
        Least standard deviation of theta in each coordinate; zero by default.
    budget : int, optional
        Evaluations that the run will have, by which restarts are chosen; unlimited by default.
    merit : callable, optional
        Values (n,) that are minimised in place of what is told, of what is told: (n,), or rows of
        more than one number. It may change (`revalue`). By default what is told.
    without : frozenset of str, optional
        Policies to switch off, for `phenes bench ablate` and for tests: names of
        `phenes.adaptive.policies.SWITCHES`.

    Raises
    ------
    ValueError
        If `without` names no policy.

    Examples
    --------
    >>> import numpy as np
    >>> rng, world = np.random.default_rng(0), np.random.default_rng(1)
    >>> search = Adaptive(np.ones(3), np.full(3, 0.5), np.full(3, 0.01), rng=rng)
    >>> while search.evaluations < 500:
    ...     theta = search.ask()
    ...     x = theta + 0.1 * world.standard_normal(theta.shape)
    ...     search.tell(theta, x, np.sum(x**2, axis=1))
    >>> bool(np.abs(search.mean).max() < 0.01)
    True
    """

    def __init__(
        self,
        x0: np.ndarray,
        sigma0: np.ndarray,
        cov: np.ndarray,
        *,
        popsize: int | None = None,
        rng: np.random.Generator,
        bias: np.ndarray | None = None,
        lower: np.ndarray | None = None,
        upper: np.ndarray | None = None,
        least: np.ndarray | None = None,
        budget: int | None = None,
        merit: Callable[[np.ndarray], np.ndarray] | None = None,
        without: frozenset[str] = frozenset(),
    ) -> None:
        dim = x0.size
        low = np.full(dim, -np.inf) if lower is None else lower
        high = np.full(dim, np.inf) if upper is None else upper
        bias = np.zeros(dim) if bias is None else bias
        self.rng = rng
        self.coords: Coordinates = make_coordinates(cov, sigma0, bias, low, high, least=least)
        self.x0 = np.clip(x0, low, high)
        self.evaluations = 0
        self.generation = 0
        self._budget = math.inf if budget is None else budget
        self._without = without
        self._merit = merit
        self._events = Events()
        small = default_popsize(dim) if popsize is None else popsize
        self._schedule = Schedule(small, "trend" not in without)
        self._incumbent = self._descent(Start(self.x0 + bias, 1.0, self._schedule.small))
        self._challenger: Descent | None = None

    def _descent(self, start: Start) -> Descent:
        return Descent(self.coords, start, self._events, self._without)

    @property
    def _current(self) -> Descent:
        return self._incumbent if self._challenger is None else self._challenger

    @property
    def current(self) -> Descent:
        """The descent that asks now: the best one, or a restart."""
        return self._current

    @property
    def incumbent(self) -> Descent:
        """The best descent so far, whose mean is recommended."""
        return self._incumbent

    @property
    def popsize(self) -> int:
        """Evaluations of a generation now; restarts may have more than the first descent."""
        current = self._current
        return 1 if current.policies.pursuit.active else current.state.popsize

    @property
    def first_popsize(self) -> int:
        """Evaluations of a generation of the first descent."""
        return self._schedule.small

    @property
    def least(self) -> int:
        """Rows that are worth an update: a generation."""
        return self.popsize

    @property
    def width(self) -> np.ndarray:
        """Standard deviation of the first candidates in each coordinate, shape (d,)."""
        return self.coords.width

    def ask(self, n: int | None = None, beside: int = 0) -> np.ndarray:
        """Intended theta to try next.

        Parameters
        ----------
        n : int, optional
            How many; `popsize` by default.
        beside : int, optional
            Rows that the caller evaluates with them, in the places of candidates.

        Returns
        -------
        ndarray, shape (n, d)
            Points within the bounds.
        """
        # candidates come in mirrored pairs: where a row of the caller's replaces one, draw both and
        # drop one, so that pairs stay aligned with generations
        wanted = self.popsize if n is None else n
        return self._current.ask(wanted + beside % 2, self.rng)[:wanted]

    def retrace(self, theta: np.ndarray, beside: int = 0) -> np.ndarray:
        """Go on as after an ask that gave these theta: by asking again.

        Parameters
        ----------
        theta : ndarray, shape (n, d)
            What was asked then.
        beside : int, optional
            As for `ask`.

        Returns
        -------
        ndarray, shape (n, d)
            What is asked now: the same, by the same arithmetic.
        """
        return self.ask(len(theta), beside)

    def withdraw(self, theta: np.ndarray) -> None:
        """Nothing to do: what was asked and not told leaves no trace.

        Parameters
        ----------
        theta : ndarray, shape (n, d)
            What was asked.
        """

    def predict(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Not known: an evolution strategy has no model of what it has not seen.

        Parameters
        ----------
        theta : ndarray, shape (n, d)

        Returns
        -------
        tuple of ndarray, shape (n,)
            NaN.
        """
        return np.full(len(theta), np.nan), np.full(len(theta), np.nan)

    def tell(
        self, theta: np.ndarray, x: np.ndarray, f: np.ndarray, measured: np.ndarray | None = None
    ) -> None:
        """Take in any number of samples.

        Parameters
        ----------
        theta : ndarray, shape (n, d)
            What was intended; the search does not use it.
        x : ndarray, shape (n, d)
            What was realised. Rows with NaN teach nothing.
        f : ndarray, shape (n,)
            Values at x, or what the merit is made of; NaN or infinite values are failed
            evaluations.
        measured : ndarray of bool, shape (n, d), optional
            Which coordinates of x were measured; the search does not use it.
        """
        descent = self._current
        before = descent.state.generation
        descent.tell(x, *self._valued(f))
        self.evaluations += len(f)
        self.generation += descent.state.generation - before
        self._judge()

    def learn(
        self, theta: np.ndarray, x: np.ndarray, f: np.ndarray, measured: np.ndarray | None = None
    ) -> None:
        """Take in samples for the models of the best descent that are no part of its search.

        Parameters
        ----------
        theta, x, f, measured : ndarray
            As for `tell`.
        """
        self._incumbent.learn(x, *self._valued(f))
        self.evaluations += len(f)

    def _valued(self, f: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """What is minimised, and what it was made of if that is something else."""
        return (f, None) if self._merit is None else (self._merit(f), f)

    def revalue(self) -> None:
        """Go on with a merit that has changed: all rows get their new values."""
        if self._merit is not None:
            self._incumbent.revalue(self._merit)
            if self._challenger is not None:
                self._challenger.revalue(self._merit)

    def conclude(self) -> None:
        """Move on with an incomplete generation, if half of it was told: no more will come."""
        self._current.conclude()

    def restart(self, theta: np.ndarray, width: float | None = None) -> None:
        """Begin a new descent where the evidence points.

        Parameters
        ----------
        theta : ndarray, shape (d,)
            Where it starts. All descents before it are given up.
        width : float, optional
            How wide, in units of the first; half as wide by default.
        """
        if width is None:
            self._events.add(ELSEWHERE)
        known = self._incumbent.policies.value_noise.known
        self._schedule = Schedule(self._schedule.small, self._schedule.trends)
        self._challenger = None
        start = theta + self.coords.bias
        width = tuning.ELSEWHERE_WIDTH if width is None else width
        self._incumbent = self._descent(Start(start, width, self._schedule.small, known))

    def inside(self, theta: np.ndarray) -> np.ndarray:
        """The nearest points within the bounds.

        Parameters
        ----------
        theta : ndarray, shape (n, d)

        Returns
        -------
        ndarray, shape (n, d)
        """
        return np.clip(theta, self.coords.lower, self.coords.upper)

    def update_noise(
        self, cov: np.ndarray, bias: np.ndarray, unmeasured: np.ndarray | None = None
    ) -> None:
        """Go on with better knowledge of the noise: the same distributions of theta.

        Parameters
        ----------
        cov : ndarray, shape (d,) or (d, d)
            Variances or covariance of x - theta.
        bias : ndarray, shape (d,)
            Mean of x - theta.
        unmeasured : ndarray, shape (d,), optional
            Variance of the declared input noise in coordinates where x is not measured.
        """
        old = self.coords
        smooth = None if unmeasured is None else np.sqrt(np.maximum(unmeasured, 0.0))
        self.coords = make_coordinates(
            cov, old.width, bias, old.lower, old.upper, smooth, old.least
        )
        self._incumbent.move(self.coords)
        if self._challenger is not None:
            self._challenger.move(self.coords)

    def expected_gain(self, n: int = 1) -> float:
        """Not known: an evolution strategy has no model of what it has not seen.

        Parameters
        ----------
        n : int, optional
            How many evaluations are made at once.

        Returns
        -------
        float
            NaN.
        """
        return float("nan")

    def take_events(self) -> dict[str, int]:
        """What happened since this was last called.

        Returns
        -------
        dict of str to int
            Reasons of decisions with their number, in the order of their first.
        """
        return self._events.take()

    @property
    def mean(self) -> np.ndarray:
        """The recommendation: theta at the mean of the best descent, shape (d,)."""
        return self.coords.intend(self._incumbent.state.marginal.mean)

    @property
    def estimate(self) -> tuple[float, float]:
        """Estimate of E f(x) at `mean` and its standard error, from values."""
        claim = self._incumbent.estimate()
        return claim.value, claim.error

    surrogate = None  # its models hold near the mean only

    @property
    def local_model(self) -> LocalModel | None:
        """The last quadratic of f around `mean`, as a function of x."""
        return self._incumbent.local_model()

    def better_than(self, theta: np.ndarray) -> np.ndarray | None:
        """Nothing: its mean is the proposal.

        Parameters
        ----------
        theta : ndarray, shape (d,)
            An earlier proposal.

        Returns
        -------
        None
        """

    @property
    def noise_cost(self) -> float:
        """What the noise of the inputs adds to F at `mean`, by the last estimate.

        With C known to some per cent, F is known to no more per cent of this.
        """
        return self._incumbent.state.claim.noise_cost

    @property
    def spread(self) -> np.ndarray:
        """Standard deviation of theta in each coordinate, shape (d,)."""
        return self.coords.std_x(self._current.state.marginal.search(self.coords.c))

    @property
    def challenging(self) -> bool:
        """Whether a restart is under way, beside a best descent that has seen values."""
        return self._challenger is not None and self._incumbent.state.archive.valued

    @property
    def restarts(self) -> int:
        """Number of restarts so far."""
        return self._schedule.started

    @property
    def phase(self) -> str:
        """What the search is doing now: search, newton, refine, or restart K with one of them."""
        phase = self._current.state.phase
        word = "newton" if phase.refines else "search"
        if self._challenger is not None:
            return f"restart {self._schedule.started}: {word}"
        return "refine" if phase.over else word

    @property
    def converged(self) -> str:
        """Why more evaluations would gain nothing; empty while they may.

        Also while no two values differ: that is no convergence.
        """
        state = self._incumbent.state
        if state.phase.over and self._schedule.verdicts.pointless and not self._lost:
            return state.why
        return ""

    @property
    def _lost(self) -> bool:
        """Whether no two values differ that the best descent knows of."""
        archive = self._incumbent.state.archive
        f = archive.newest(archive.count)[1]
        return not f.size or bool(np.ptp(f) == 0)

    def _judge(self) -> None:
        """Lets a challenger that has ended replace a worse incumbent, and starts the next one."""
        if self._challenger is not None:
            self._schedule.spending.count(self._challenger.state.evaluations)
            if not comparison.decided(self._challenger, self._incumbent):
                return
            self._replace(self._challenger)
            self._challenger = None
        state = self._incumbent.state
        if "restarts" in self._without or not state.phase.over or self._schedule.refine(state):
            return
        known = self._incumbent.policies.value_noise.known
        answer = Answer(self.mean, explained(state), known, self._lost)
        left = self._budget - self.evaluations
        start = self._schedule.challenge(self.coords, self.x0, answer, self.rng, left)
        self._events.add(LOST if answer.lost else BEGINS[self._schedule.spending.kind])
        self._challenger = self._descent(start)

    def _replace(self, challenger: Descent) -> None:
        """The challenger becomes the incumbent, if it is better."""
        incumbent = self._incumbent
        same = comparison.same_place(challenger, incumbent)
        better = comparison.better(challenger, incumbent)
        if same:
            # at the same place, prefer the descent that can go on averaging
            better = challenger.state.phase.refines and not incumbent.state.phase.refines
        self._schedule.judged(better, same)
        self._events.add(SAME_PLACE if same else ENDED)
        if better:
            self._events.add(BETTER)
            self._incumbent = challenger
