"""The adaptive search where some coordinates are whole numbers, and some options of a choice.

Whole numbers: the search is one of real numbers, of which the nearest whole ones are evaluated
(R. Hamano et al., CMA-ES with margin, GECCO 2022). Values say nothing of where a real number lies
between two whole ones, so the spread of such a coordinate would shrink with that of the others
until nothing but one number is ever tried. It is therefore never so narrow that fewer than one in
d times popsize leaves the number that the mean is at. The update sees the real numbers that were
drawn: under neutral selection they have the law that it expects.

Choices: each has probabilities q of its options, and after a generation q moves by the natural
gradient of E f, which for a categorical law is sum_i w_i (1[option i] - q), with the weights w of
ranks that the mean has, too. No option has less than its share of one evaluation in a generation.
Every restart begins with equal probabilities.
"""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from weakref import WeakKeyDictionary

import numpy as np
from scipy import special

from phenes.adaptive import cma, tuning
from phenes.adaptive.descent import Descent
from phenes.adaptive.optimiser import Adaptive
from phenes.adaptive.restarts import default_popsize
from phenes.space import Lattice

# models of f are of smooth functions: steps between whole numbers and options they cannot see are
# noise to them
WITHOUT = frozenset({"early_newton", "refinement", "screening", "value_noise"})


class Mixed:
    """Minimises E f(x) over real numbers, whole numbers and choices.

    A search like `Adaptive`, whose methods it has.

    Parameters
    ----------
    x0, sigma0, cov, popsize, rng, bias, lower, upper, budget
        As for `Adaptive`; choices have no noise.
    lattice : Lattice
        Which coordinates are whole numbers, and which belong to choices.
    merit : callable, optional
        As for `Adaptive`.

    Examples
    --------
    >>> import numpy as np
    >>> from phenes.space import Lattice
    >>> search = Mixed(
    ...     np.zeros(2), np.full(2, 2.0), np.zeros(2), Lattice(2, np.array([1]), ()),
    ...     rng=np.random.default_rng(0), lower=np.full(2, -9.0), upper=np.full(2, 9.0),
    ... )
    >>> while search.evaluations < 300:
    ...     theta = search.ask()
    ...     search.tell(theta, theta, (theta[:, 0] - 0.5) ** 2 + (theta[:, 1] - 3) ** 2)
    >>> search.mean.round(2).tolist()
    [0.5, 3.0]
    """

    def __init__(
        self,
        x0: np.ndarray,
        sigma0: np.ndarray,
        cov: np.ndarray,
        lattice: Lattice,
        *,
        popsize: int | None = None,
        rng: np.random.Generator,
        bias: np.ndarray | None = None,
        lower: np.ndarray | None = None,
        upper: np.ndarray | None = None,
        budget: int | None = None,
        merit: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> None:
        dim = x0.size
        self.x0, self.width = x0, sigma0
        self._merit = merit
        self._lattice, self._rng = lattice, rng
        self._numbers = np.flatnonzero(~lattice.chosen)
        self._lower = np.full(dim, -np.inf) if lower is None else lower
        self._upper = np.full(dim, np.inf) if upper is None else upper
        pick = self._numbers
        whole = np.isin(pick, lattice.integers)
        if pick.size:
            self.inner = Adaptive(
                x0[pick],
                sigma0[pick],
                self._cov(cov),
                popsize=popsize,
                rng=rng,
                bias=None if bias is None else bias[pick],
                lower=self._lower[pick],
                upper=self._upper[pick],
                least=np.where(whole, least_spread(pick.size), 0.0),
                budget=budget,
                merit=merit,
                without=WITHOUT,
            )
        else:  # one coordinate on which nothing depends, for a search that has generations
            one = np.ones(1)
            self.inner = Adaptive(
                0 * one,
                one,
                0 * one,
                popsize=popsize,
                rng=rng,
                least=one,
                budget=budget,
                merit=merit,
                without=WITHOUT,
            )
        self._whole = whole
        self._drawn: OrderedDict[bytes, list[np.ndarray]] = OrderedDict()  # by theta
        self._laws: WeakKeyDictionary[Descent, Options] = WeakKeyDictionary()

    def _cov(self, cov: np.ndarray) -> np.ndarray:
        pick = self._numbers
        return cov[pick] if cov.ndim == 1 else cov[np.ix_(pick, pick)]

    def _options(self, descent: Descent) -> Options:
        """The probabilities of a descent; each has its own."""
        if descent not in self._laws:
            self._laws[descent] = Options([block.size for block in self._lattice.choices])
        return self._laws[descent]

    def ask(self, n: int | None = None, beside: int = 0) -> np.ndarray:
        """Intended theta to try next."""
        drawn = self.inner.ask(n, beside)
        theta = np.zeros((len(drawn), self.x0.size))
        theta[:, self._numbers] = drawn[:, : self._numbers.size]
        options = self._options(self.inner.current)
        for block, q in zip(self._lattice.choices, options.q, strict=True):
            theta[:, block] = np.eye(block.size)[self._rng.choice(block.size, len(drawn), p=q)]
        theta = self.inside(theta)
        for row, real in zip(theta, drawn, strict=True):
            self._drawn.setdefault(row.tobytes(), []).append(real)
        while len(self._drawn) > tuning.MOST_DRAWN:
            self._drawn.popitem(last=False)
        return theta

    def _real(self, theta: np.ndarray, x: np.ndarray) -> np.ndarray:
        """x [n, m] of the numbers, as if what was drawn had not been rounded."""
        pick = self._numbers
        x = x[:, pick].copy() if pick.size else np.zeros((len(theta), 1))
        for k, row in enumerate(theta):
            drawn = self._drawn.get(row.tobytes())
            if drawn:
                real = drawn.pop(0)
                x[k] += np.where(self._whole, real - row[pick], 0.0) if pick.size else real
        return x

    def tell(
        self, theta: np.ndarray, x: np.ndarray, f: np.ndarray, measured: np.ndarray | None = None
    ) -> None:
        """Take in any number of samples."""
        real = self._real(theta, x)
        descent = self.inner.current
        before = descent.state.generation
        self.inner.tell(theta, real, f)
        options = self._options(descent)
        value = f if self._merit is None else self._merit(f)
        options.add([np.argmax(x[:, block], axis=1) for block in self._lattice.choices], value)
        if descent.state.generation > before:
            options.update(self._numbers.size)

    def learn(
        self, theta: np.ndarray, x: np.ndarray, f: np.ndarray, measured: np.ndarray | None = None
    ) -> None:
        """Take in samples that are no part of the search."""
        self.inner.learn(theta, self._real(theta, x), f)

    def revalue(self) -> None:
        """Go on with a merit that has changed: all rows get their new values."""
        self.inner.revalue()

    def conclude(self) -> None:
        """Move on with an incomplete generation: no more will come."""
        self.inner.conclude()

    surrogate = None
    local_model = None  # of real numbers, which a lattice is none of

    def better_than(self, theta: np.ndarray) -> np.ndarray | None:
        """Nothing: its mean is the proposal."""

    def retrace(self, theta: np.ndarray, beside: int = 0) -> np.ndarray:
        """Go on as after an ask that gave these theta: by asking again."""
        return self.ask(len(theta), beside)

    def withdraw(self, theta: np.ndarray) -> None:
        """Nothing to do: what was asked and not told leaves no trace."""

    def predict(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Not known, as for `Adaptive`."""
        return np.full(len(theta), np.nan), np.full(len(theta), np.nan)

    def restart(self, theta: np.ndarray, width: float | None = None) -> None:
        """Begin a new descent where the evidence points, with its options likely."""
        if self._numbers.size:
            self.inner.restart(theta[self._numbers], width)
        options = self._options(self.inner.current)
        options.prefer([int(np.argmax(theta[block])) for block in self._lattice.choices])

    def inside(self, theta: np.ndarray) -> np.ndarray:
        """The nearest points of the lattice within the bounds."""
        return self._lattice.snap(np.clip(theta, self._lower, self._upper))

    def update_noise(
        self, cov: np.ndarray, bias: np.ndarray, unmeasured: np.ndarray | None = None
    ) -> None:
        """Go on with better knowledge of the noise."""
        if not self._numbers.size:
            return
        pick = self._numbers
        smooth = None if unmeasured is None else unmeasured[pick]
        self.inner.update_noise(self._cov(cov), bias[pick], smooth)

    def expected_gain(self, n: int = 1) -> float:
        """Not known, as for `Adaptive`."""
        return float("nan")

    def take_events(self) -> dict[str, int]:
        """What happened since this was last called."""
        return self.inner.take_events()

    @property
    def evaluations(self) -> int:
        """Number of rows that were told."""
        return self.inner.evaluations

    @property
    def popsize(self) -> int:
        """Evaluations of a generation now."""
        return self.inner.popsize

    @property
    def first_popsize(self) -> int:
        """Evaluations of a generation of the first descent."""
        return self.inner.first_popsize

    @property
    def least(self) -> int:
        """Rows that are worth an update: a generation."""
        return self.inner.popsize

    @property
    def mean(self) -> np.ndarray:
        """The recommendation: the point of the lattice next to the mean of the best descent."""
        theta = np.zeros(self.x0.size)
        if self._numbers.size:
            theta[self._numbers] = self.inner.mean
        options = self._options(self.inner.incumbent)
        for block, q in zip(self._lattice.choices, options.q, strict=True):
            theta[block] = np.eye(block.size)[int(np.argmax(q))]
        return self.inside(theta)

    @property
    def estimate(self) -> tuple[float, float]:
        """Estimate of E f near `mean` and its standard error, from values."""
        return self.inner.estimate

    @property
    def noise_cost(self) -> float:
        """What the noise of the inputs adds to F: not known without a model."""
        return self.inner.noise_cost

    @property
    def spread(self) -> np.ndarray:
        """Standard deviation of theta in each coordinate, shape (d,)."""
        out = np.zeros(self.x0.size)
        if self._numbers.size:
            out[self._numbers] = self.inner.spread
        options = self._options(self.inner.current)
        for block, q in zip(self._lattice.choices, options.q, strict=True):
            out[block] = np.sqrt(q * (1 - q))
        return out

    @property
    def challenging(self) -> bool:
        """Whether a restart is under way."""
        return self.inner.challenging

    @property
    def phase(self) -> str:
        """What the search is doing now, as for `Adaptive`."""
        return self.inner.phase

    @property
    def converged(self) -> str:
        """Why more evaluations would gain nothing; empty while they may."""
        return self.inner.converged


class Options:
    """Probabilities of the options of each choice, and the rows since they last moved."""

    def __init__(self, sizes: list[int]):
        self.q = [np.full(size, 1 / size) for size in sizes]
        self._rows: list[np.ndarray] = [np.empty(0, int) for _ in sizes]
        self._f = np.empty(0)

    def add(self, rows: list[np.ndarray], f: np.ndarray) -> None:
        """Take in which options were realised, and values."""
        self._rows = [np.concatenate(pair) for pair in zip(self._rows, rows, strict=True)]
        self._f = np.concatenate([self._f, f])

    def update(self, numbers: int) -> None:
        """A natural-gradient step by the ranks of a generation. numbers: coordinates beside."""
        f = np.where(np.isfinite(self._f), self._f, np.inf)
        worked = int(np.isfinite(f).sum())
        if worked > 1 and np.ptp(f[np.isfinite(f)]) > 0:
            k = cma.rates(max(numbers, 1), f.size, f.size, diagonal=False)
            order = np.argsort(f, kind="stable")[: min(k.mu, worked)]
            w = k.weights[: order.size] / k.weights[: order.size].sum()
            free = sum(q.size - 1 for q in self.q)
            rate = k.mu_eff / (k.mu_eff + tuning.CHOICE_DAMPING * (free + numbers))
            for each, (q, rows) in enumerate(zip(self.q, self._rows, strict=True)):
                target = np.bincount(rows[order], weights=w, minlength=q.size)
                self.q[each] = self._margin(q + rate * (target - q), f.size)
        self._rows = [np.empty(0, int) for _ in self._rows]
        self._f = np.empty(0)

    def _margin(self, q: np.ndarray, popsize: int) -> np.ndarray:
        """Probabilities of at least one other option in a generation, over all choices."""
        least = min(1 / (popsize * len(self.q) * (q.size - 1)), 1 / q.size)
        raised = np.maximum(q, least)
        free = raised - least  # what can be taken from
        excess = raised.sum() - 1
        return raised - excess * free / max(free.sum(), tuning.TINY)

    def prefer(self, options: list[int]) -> None:
        """Half of the probability goes to these."""
        self.q = [0.5 * q + 0.5 * np.eye(q.size)[k] for q, k in zip(self.q, options, strict=True)]


def least_spread(dim: int) -> float:
    """Standard deviation with which one in dim * popsize leaves the number at the mean."""
    rate = 1 / (dim * default_popsize(dim))
    return float(0.5 / -special.ndtri(rate / 2))
