"""Ask and tell: the optimiser for labs, machines and simulators that realise x themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from phenes import _validate
from phenes._validate import FloatArray
from phenes.constraints.wanted import EXAMPLE, columns, wanted
from phenes.evidence import Evaluations
from phenes.evidence.control import Surrogate
from phenes.evidence.limits import Limits
from phenes.evidence.observations import HUGE
from phenes.optimizer.advice import Advice, advise
from phenes.optimizer.campaign import Campaign, Settings
from phenes.optimizer.ending import Ending, Progress, Wishes
from phenes.optimizer.engines import (
    ENGINES,
    GP,
    Search,
    choose_engine,
    make_search,
    offers_opinions,
    population,
)
from phenes.optimizer.held import table
from phenes.optimizer.history import History
from phenes.optimizer.journal import Journal
from phenes.optimizer.merit import Merit
from phenes.optimizer.named_result import name_result
from phenes.optimizer.noise_fit import Learnt
from phenes.optimizer.noise_model import Moments, NoiseModel
from phenes.optimizer.noise_state import NoiseState
from phenes.optimizer.penalty import Penalty
from phenes.optimizer.result import Result
from phenes.optimizer.setup import encode_told, make_setup
from phenes.optimizer.shown import Shown
from phenes.optimizer.slices import View, draw
from phenes.optimizer.trust import ANSWER, Trust
from phenes.optimizer.verdict import Facts, answer
from phenes.risk import as_risk, mean

if TYPE_CHECKING:
    from phenes.constraints import Constraints, Wanted
    from phenes.optimizer.options import Bounds, Noise
    from phenes.space import Space

# evaluations at x0 in the first generation, which the answer has to beat; without noise two, to see
# whether f is deterministic
PROBES, PROBES_WITHOUT_NOISE = 1, 2
# units of the noise or of sigma0, whichever is larger, that double precision tells apart a
# thousandfold: a search that is farther away than that runs down a slope without an end
FARTHEST = 1e-3 / float(np.finfo(np.float64).eps)
VERIFYING = "verify"  # the phase of evaluations that verify the answer
# theta, x, f and constraints of rows that were told
Part: TypeAlias = tuple[FloatArray, FloatArray, FloatArray, FloatArray | None]
# generations without any finite value after which an experiment is taken to be broken
PATIENCE = 20


class Optimizer(Campaign):
    """Minimise E f(x), x ~ p_theta, from the intended theta, the realised x and the values f.

    Values may come in any order, in parts, for theta that were never asked, or not at all.
    Without `realised` nothing is known of x, and the search is an ordinary evolution strategy on
    noisy values.

    Parameters
    ----------
    space : Space or array_like, shape (d,)
        What is searched: named parameters, or for plain vectors where the search starts. With a
        space, points are mappings by name wherever this page says (n, d) or (d,).
    sigma0 : float or array_like, shape (d,), optional
        Standard deviation of the first steps, one or one for each coordinate; not with a space,
        where it is a quarter of each range.
    noise : float, array_like, input law, "learn" or None, optional
        The law of x given theta, as for `minimize`. None: x = theta, or what the space says.
    x0 : mapping or array_like, optional
        Where the search starts; in a space some or all parameters by name, the others in the
        middle of their range.
    bounds : pair, sequence of pairs or scipy.optimize.Bounds, optional
        Bounds of theta, as for `minimize`.
    batch : int, optional
        Evaluations that are run at once: how many `ask` gives, the last time what the budget
        leaves. The population of the evolution strategy is then a whole number of batches.
    popsize : int, optional
        In place of `batch`: evaluations of a generation, at least 2; by default 4 + 3 ln d, and
        more in some restarts.
    budget : int, optional
        Evaluations after which `stop` says so; by default 1000 (d + 10). May be changed later.
    target : float, optional
        `stop` says so when E f is below it (above it to maximise) by two standard errors.
    maximize : bool, optional
        Maximise instead.
    objective : Risk, optional
        What is minimised over theta in place of E f: a quantile, a tail, a probability or a spread
        of f(x), such as `phenes.risk.cvar(0.9)`. To maximise, of the other tail.
    verify : int, optional
        Evaluations of the budget that are kept to verify the answer by fresh draws: by default a
        tenth, 0 for none.
    engine : {"auto", "gp", "relay", "adaptive"}, optional
        What asks: a Gaussian process of f on the realised x, which needs few evaluations; the
        evolution strategy, which is quick and scales; or one after the other. In up to 10
        coordinates "auto" is "gp" for a budget of at most 500 and "relay" up to 2000; otherwise
        it is "adaptive".
    constraints : Wanted, optional
        How surely the constraints that are told must hold: `phenes.chance(0.99)`,
        `phenes.chance(stress=0.99, gap=0.9)` or `phenes.on_average()`.
    checkpoint : str or pathlib.Path, optional
        A file in which every ask and tell is kept at once. The same call with the same file goes on
        where it was, bit for bit; a larger budget is allowed. One program writes it at a time.
    seed : int, optional
        The same seed and the same values give the same run.

    Attributes
    ----------
    dim : int
        Number of coordinates d.
    seed, target
        As given.
    objective : Risk
        What is minimised over theta.
    space : Space or None
        The named parameters, if there are any.
    engine : str
        What asks: "gp", "relay" or "adaptive".
    learns : bool
        Is the noise learnt from the data?
    wanted : Wanted or None
        What is wanted of the constraints, if there are any.

    Raises
    ------
    ValueError
        If an argument is not what it must be; one sentence names what was given and expected.

    Examples
    --------
    >>> import numpy as np, phenes
    >>> rng = np.random.default_rng(0)
    >>> opt = phenes.Optimizer(x0=np.ones(3), sigma0=0.5, noise=0.1, budget=500, seed=0)
    >>> while not opt.stop():
    ...     theta = opt.ask()
    ...     x = theta + 0.1 * rng.standard_normal(theta.shape)  # what the lab made of it
    ...     opt.tell(theta, np.sum(x**2, axis=1), realised=x)
    >>> opt.result.nfev
    500
    """

    def __init__(
        self,
        space: Space | ArrayLike | None = None,
        sigma0: ArrayLike | None = None,
        noise: Noise = None,
        *,
        x0: ArrayLike | Mapping[str, Any] | None = None,
        bounds: Bounds = None,
        batch: int | None = None,
        popsize: int | None = None,
        budget: int | None = None,
        target: float | None = None,
        maximize: bool = False,
        objective: Any = None,
        verify: int | None = None,
        engine: str = "auto",
        constraints: Wanted | None = None,
        checkpoint: str | Path | None = None,
        seed: int = 0,
    ):
        self._setup = make_setup(space, sigma0, noise, x0, bounds)
        self.space = self._setup.space
        self.dim = self._setup.x0.size
        self.seed = _validate.count("seed", seed, 0)
        self.target = None if target is None else _validate.number("target", target)
        self._sign = -1.0 if _validate.flag("maximize", maximize) else 1.0
        self.objective = as_risk(objective)
        self._shift, self._slope = self.objective.shown(self._sign)  # to values that users see
        self._batch, self._requested = _validate.batch(batch, popsize)
        self._progress = Progress(_validate.budget(budget, self.dim))
        reserved = _validate.verify(verify, self._progress.budget)
        self._noise = NoiseState(self._setup.noise, self._setup.x0)
        self.learns = self._noise.learns
        at_once, whole = self._batch or self._requested, self._batch is not None
        self._wishes = Wishes(self.target, self._slope, reserved, at_once, whole, self._shift)
        self._words = _validate.choice("engine", engine, ENGINES)
        self.wanted = wanted(constraints)
        self._settings = Settings(
            self._setup.x0,
            self._setup.sigma0,
            self._setup.lower,
            self._setup.upper,
            self._batch,
            self._requested,
            self.budget,
            self.target,
            self._sign < 0,
            reserved,
            self._words,
            self.seed,
            None if self.space is None else self.space.described(),
            None if self.wanted is None else self.wanted.described(),
            None if self.objective == mean() else self.objective.described(),
        )
        self._begin()
        self._history = History()
        self._untold: list[Part] = []  # rows since the last update
        self._asked = 0
        self._failed = 0
        self._barren = 0  # evaluations since the last finite value
        self._journal = Journal(self.dim)
        if checkpoint is not None:
            self._keep(checkpoint, self.budget)

    def _begin(self) -> None:
        """The search, as the budget has it."""
        self.engine = choose_engine(self._words, self._setup, self.budget)
        generation = population(self._batch, self._requested, self.dim)
        self._penalty = None if self.wanted is None else Penalty(self.wanted)
        self._merit = Merit(self.objective.minimised(self._sign), self._penalty)
        self._search: Search = make_search(
            self.engine,
            self._setup,
            self._noise,
            generation,
            self.seed,
            self.budget,
            self.wanted,
            self._merit,
        )
        self._trust = Trust(
            self._search.x0,
            self._noise.noiseless,
            2 * self._search.popsize,
            self._noise.law_at,
            self._scale,
            self._estimate,
            self._surrogate,
            self._better_than,
            self._predicted,
            self._merit,
        )
        self._trust.limits = None if self.wanted is None else Limits(self.wanted)
        self._ending = Ending(self._search, self._trust, self._progress, self._wishes)

    @property
    def budget(self) -> int:
        """Evaluations after which `stop` says so. It may be raised or lowered during a run."""
        return self._progress.budget

    @budget.setter
    def budget(self, value: int) -> None:
        self._change_budget(_validate.count("budget", value))

    def _change_budget(self, budget: int) -> None:
        self._journal.budget(budget)
        self._progress.budget = budget
        if not self._asked and not self.nfev:
            self._begin()

    def _begin_with(self, budget: int) -> None:
        self._progress.budget = budget
        self._begin()

    @property
    def nfev(self) -> int:
        """Number of evaluations that were told."""
        return self._progress.nfev

    @property
    def generation(self) -> int:
        """Number of updates of the search."""
        return self._progress.generation

    @property
    def batches(self) -> int:
        """Number of calls of `tell`."""
        return self._progress.batches

    @property
    def popsize(self) -> int:
        """Evaluations of a generation now."""
        return self._requested or self._search.popsize

    @property
    def batch(self) -> int:
        """How many theta `ask` gives, while the budget leaves them: `popsize` unless given."""
        return self._batch or self.popsize

    @property
    def noise_model(self) -> NoiseModel:
        """The law of x given theta, as it is taken to be now."""
        return self._noise.model

    @property
    def warning(self) -> str | None:
        """What the realised inputs contradict in the declared noise, in a sentence."""
        return self._noise.warning

    def ask(self, n: int | None = None, pending: int = 0) -> Any:
        """Intended theta to try. May be asked again before anything is told.

        Near the end of the budget these are points at which the answer is verified; there are never
        more than the budget leaves. Once it is used, more draws at the answer.

        Parameters
        ----------
        n : int, optional
            How many; by default `batch`.
        pending : int, optional
            Rows that were handed out, are still under way and will be told, such as
            `len(opt.pending)`: they count as used.

        Returns
        -------
        ndarray, shape (m, d), or list of m dict
            m is at most n.

        Raises
        ------
        ValueError
            If n is not a whole number of at least 1.
        """
        return self._named(self.ask_vectors(n, pending))

    def _named(self, rows: FloatArray) -> Any:
        if self.space is None:
            return rows
        return [dict(self.space.decode(row)) for row in rows]

    def _vectors(self, theta: Any) -> Any:
        return theta if self.space is None else encode_told(self.space, theta, None)[0]

    def ask_vectors(self, n: int | None = None, pending: int = 0) -> FloatArray:
        """`ask`, always as vectors: those of the space, if there is one.

        Parameters
        ----------
        n, pending : int, optional
            As for `ask`.

        Returns
        -------
        ndarray, shape (m, d)
            m is at most n.
        """
        wanted = self.batch if n is None else _validate.count("n", n)
        under_way = _validate.count("pending", pending, 0)
        left = max(self.budget - self.nfev - under_way, 0)
        rows = wanted if self.nfev >= self.budget else min(wanted, left)
        if rows == 0:  # pending evaluations use up the budget
            return np.empty((0, self.dim))
        theta = self._hand_out(rows, under_way, self._search.ask)
        self._journal.ask(theta, under_way)
        return theta

    def _hand_out(
        self, rows: int, pending: int, propose: Callable[[int, int], FloatArray]
    ) -> FloatArray:
        """At most so many theta. propose: those of the search, as its `ask`."""
        self._advance(pending)
        trust, theta = self._trust, np.empty((0, self.dim))
        # where f is exact, its few rows of verification fill up the last batch of a lab
        fills = self._wishes.whole and trust.exact
        if trust.verification is None:
            left = self.budget - self._ending.reserve - self.nfev - pending
            theta = self._candidates(min(rows, max(left, 1)), propose)
        elif not fills:
            theta = trust.verification.ask(rows)
        if fills and len(theta) < rows:
            last = trust.closing(rows - len(theta), self._search.mean)
            theta = np.concatenate([theta, last])
        self._asked += len(theta)
        return theta

    def _hand_out_again(self, theta: FloatArray, pending: int) -> FloatArray:
        def propose(n: int, beside: int) -> FloatArray:
            return self._search.retrace(theta[beside : beside + n], beside)

        return self._hand_out(len(theta), pending, propose)

    def _candidates(self, n: int, propose: Callable[[int, int], FloatArray]) -> FloatArray:
        """Points of the search, after x0 itself in the first generation."""
        probes = PROBES_WITHOUT_NOISE if self._trust.noiseless else PROBES
        start = np.tile(self._trust.x0, (max(probes - self._asked, 0), 1))
        known = np.concatenate([start, self._trust.repeats(n)])[:n]
        wanted = n - len(known)
        if not wanted:
            return known
        return np.concatenate([known, propose(wanted, len(known))])

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the constraints, once they are known."""
        return self._trust.seen.limits

    def tell(self, theta: Any, f: ArrayLike, realised: Any = None, constraints: Any = None) -> None:
        """Tell values of f, of any number of theta.

        Parameters
        ----------
        theta : array_like, shape (n, d)
            What was intended. In a space: mappings by name, a data frame or mapping with a column
            for each name, or an array with a column for each parameter.
        f : array_like, shape (n,)
            Values at the realised x; NaN, infinite or None is a failed evaluation.
        realised : array_like, shape (n, d), optional
            The measured x; NaN coordinates were not measured. In a space as theta: parameters
            that are left out were not measured, or if they have no noise, are as intended.
        constraints : mapping or array_like, shape (n, J), optional
            Values by name, `{"stress": [...]}`, or a column for each constraint; good where they
            are at most 0, NaN is not. With each call, if `constraints` was given to the optimiser.

        Raises
        ------
        ValueError
            If shapes do not match, theta is not finite, or a name or value is unknown; if there
            are no constraints and the optimiser has been given some, or the reverse.

        Warns
        -----
        NoiseWarning
            If the realised inputs contradict the declared noise.
        """
        if self.space is not None:
            theta, realised = encode_told(self.space, theta, realised)
        self.tell_vectors(theta, f, realised, constraints)

    def tell_vectors(
        self,
        theta: ArrayLike,
        f: ArrayLike,
        realised: ArrayLike | None = None,
        constraints: Any = None,
    ) -> None:
        """`tell`, always with vectors: those of the space, if there is one.

        Parameters
        ----------
        theta, f, realised, constraints
            As for `tell`.
        """
        intended, values, x = _validate.told(theta, f, realised, self.dim)
        names, c = self._held(constraints, values)
        self._journal.tell(intended, values, x, names, c)
        if c is not None:
            self._trust.seen.name_limits(names)
        finite = np.isfinite(values)
        self._progress.batches += 1
        self._progress.nfev += values.size
        self._failed += int(np.sum(~finite))
        # failures of a restart do not count: it ends by itself and says nothing of the best descent
        counted = 0 if self._search.challenging else values.size
        self._barren = 0 if finite.any() else self._barren + counted
        minimised = self._sign * values
        clipped = np.where(finite, np.clip(minimised, -HUGE, HUGE), np.nan)
        self._untold.append((intended, x, clipped, c))
        phase = VERIFYING if self._trust.verification is not None else self._search.phase
        points = self._noise.points(intended, x)
        waiting = sum(part.size for _, _, part, _ in self._untold)
        if waiting >= self._search.least or self.nfev >= self.budget:
            self._update()
        # after the search, which may propose a better place by now
        self._trust.add(intended, x, points, minimised, phase, c)
        self._advance()

    def _held(
        self, constraints: Any, values: FloatArray
    ) -> tuple[tuple[str, ...], FloatArray | None]:
        """Names and values of constraints (n, J) that are told; None if there are none."""
        if self.wanted is None:
            if constraints is not None:
                raise ValueError(
                    "constraints were told, and the optimiser was not given how surely they must"
                    f" hold: give it {EXAMPLE}, or another probability"
                )
            return (), None
        if constraints is not None:
            return columns(constraints, self.wanted, self.constraint_names, values.size)
        if np.isfinite(values).any():
            raise ValueError(
                "constraints must be told with each evaluation, as constraints={'stress': [...]},"
                " since the optimiser was given what they must meet; got None"
            )
        return (), None

    def verify(self, n: int) -> Any:
        """More theta at the present answer, to be told like any others.

        What is claimed then rests on them too. Does not mind the budget.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        ndarray, shape (n, d), or list of n dict
            Equal rows.

        Raises
        ------
        ValueError
            If n is not a whole number of at least 1.
        """
        count = _validate.count("n", n)
        at = self._trust.recommend(self._search.mean).estimate.theta
        self._place(at)
        theta = np.tile(at, (count, 1))
        self._journal.verify(theta)
        return self._named(theta)

    def _place(self, theta: FloatArray) -> None:
        self._trust.place(ANSWER, theta)

    def stop(self) -> dict[str, Any]:
        """Reasons to stop, by name.

        Returns
        -------
        dict
            Empty, and so false, while there is something to gain or to verify. Keys: "budget",
            "failing", "unbounded", "target" and "converged".
        """
        reasons: dict[str, Any] = {}
        if self.nfev >= self.budget:
            reasons["budget"] = self.nfev
        if self._barren >= PATIENCE * max(self._search.popsize, 1):
            reasons["failing"] = f"no finite value in the last {self._barren} evaluations"
        if self._trust.seen.lowest <= -HUGE or self._distance() > FARTHEST:
            reasons["unbounded"] = f"E f has no {'minimum' if self._sign > 0 else 'maximum'} here"
        return reasons | self._ending.reasons()

    def suggest_stop(self, cost: float = 0.0, n: int | None = None) -> Advice:
        """Say whether the next batch is worth what it costs.

        Parameters
        ----------
        cost : float, optional
            What one evaluation costs, in units of f.
        n : int, optional
            Evaluations of the batch; by default `batch`.

        Returns
        -------
        Advice
            The expected gain of the batch in E f, whether to stop, and a sentence. The evolution
            strategy cannot say what is to gain: NaN, and no advice to stop.

        Raises
        ------
        ValueError
            If cost is not a finite number of at least 0, or n not a whole number of at least 1.
        """
        each = _validate.number("cost", cost)
        _validate.signs("cost", np.array(each), strict=False)
        count = self.batch if n is None else _validate.count("n", n)
        return advise(self._search.expected_gain(count), each, count)

    @property
    def mean(self) -> Any:
        """The theta recommended now: a vector of shape (d,), or a Point of the space.

        The mean of the search, and what was verified once draws were made for that; without noise
        the best point that was evaluated.
        """
        return self._mean() if self.space is None else self.space.decode(self._mean())

    def _mean(self) -> FloatArray:
        best = self._trust.best if self._trust.exact else -1
        if best >= 0:
            return self._trust.seen.theta[best].copy()
        if self._trust.places:
            return self._trust.recommend(self._search.mean).estimate.theta.copy()
        return self._search.mean.copy()

    @property
    def estimate(self) -> tuple[float, float]:
        """E f at `mean` and its standard error, by the best that is known.

        That is the model of the search, and the evidence once draws were made for that.
        """
        trust = self._trust
        if trust.places or (trust.exact and trust.best >= 0):
            known = trust.recommend(self._search.mean).estimate
            return self._shift + self._slope * known.fun, known.se
        fun, se = self._estimate()
        return self._shift + self._slope * fun, se

    @property
    def phase(self) -> str:
        """What the search is doing now, in a word."""
        return self._search.phase

    @property
    def spread(self) -> FloatArray:
        """Standard deviation of the search in each coordinate, shape (d,)."""
        return np.array(self._search.spread)

    @property
    def noise_std(self) -> FloatArray:
        """Standard deviation of x - theta in each coordinate as it is taken to be now, (d,)."""
        return np.sqrt(self._noise.known.variances)

    @property
    def noise(self) -> Learnt | Moments:
        """The law of x - theta, learnt or declared: with `bias` (d,) and `cov` (d,) or (d, d)."""
        return self._noise.current()

    @property
    def result(self) -> Result:
        """The recommendation and what is claimed of it, on the evidence so far."""
        verification = self._trust.verification
        claim = self._trust.recommend(self._search.mean)
        facts = Facts(
            claim=claim,
            seen=self._trust.seen,
            reasons=self.stop(),
            proposal=self._search.mean if verification is None else verification.proposal,
            model=self._estimate(),
            modelled=self._search.mean if verification is None else self._trust.modelled,
            verifies=bool(self._ending.reserve),
            nfev=self.nfev,
            budget=self.budget,
            generations=self.generation,
            popsize=self._search.popsize,
            width=self._search.width,
            spread=self.spread,
            noise=self._trust.law(self._trust.x0),
            sign=self._sign,
            failed=self._failed,
            history=self._history.arrays(),
            noise_text=self._noise.described(),
            noise_cov=self._trust.law(claim.estimate.theta).cov,
            held=self._held_at_answer(),
            objective=self.objective,
        )
        found = answer(facts)
        found = found if self._sign > 0 else found.negated()
        if (self._shift, self._slope) != (0.0, self._sign):
            found = found.placed(self._shift, self._slope)
        return found if self.space is None else name_result(found, self.space)

    def _held_at_answer(self) -> Constraints | None:
        """What is known of the constraints where the answer is."""
        trust = self._trust
        if not trust.constrained:
            return None
        theta = trust.recommend(self._search.mean).estimate.theta
        assert self.wanted is not None
        own = trust.seen.c[trust.seen.at(theta)]
        names, exact = trust.seen.limits, trust.exact
        return table(self.wanted, names, trust.standing(theta), own, exact)

    @property
    def evaluations(self) -> Evaluations:
        """All evaluations so far, which `to_pandas` and `to_csv` make tables of."""
        found = self._trust.seen.arrays(self._sign)
        return found if self.space is None else found.named(self.space)

    def plot(self, names: Sequence[str] | None = None, value: str = "f") -> Any:
        """Draw E f along each parameter through the answer, and where the next evaluations go.

        The Gaussian process has a curve with its uncertainty; the evolution strategy has no such
        model, and the picture says so. Ask first to see where the next batch goes.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the parameters with their units, such as "temperature, °C".
        value : str, optional
            The same for f.

        Returns
        -------
        matplotlib.figure.Figure
            A panel for each of up to ten parameters. Notebooks show it;
            `opt.plot().savefig("model.png")` keeps it.

        Raises
        ------
        ValueError
            If there are not as many names as parameters.
        """
        setup = self._setup
        if names is None and self.space is not None:
            names = self.space.labels
        shown = self._shown()
        return draw(
            View(
                self._trust.seen,
                shown.pending,
                shown.answer,
                shown.fun,
                shown.fun_se,
                self.noise_std,
                (setup.lower, setup.upper),
                setup.sigma0,
                self._search.predict,
                self.engine == GP,
                self._sign,
                f"{shown.what}: {shown.value}; evaluations: {shown.used}",
            ),
            names,
            value,
        )

    def _shown(self) -> Shown:
        return Shown(
            self.engine,
            self.phase,
            self.nfev,
            self._failed,
            self.budget,
            self.batch,
            np.asarray(self.mean, float),
            *self.estimate,
            self._journal.pending,
            ", ".join(self.stop()),
            None if self.space is None else self.mean,
            self.objective.label(self._sign),
        )

    def __repr__(self) -> str:
        return self._shown().line()

    def __str__(self) -> str:
        return self._shown().text()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """IPython shows what print shows."""
        printer.text("Optimizer(...)" if cycle else str(self))

    def _repr_html_(self) -> str:
        """For notebooks."""
        return self._shown().html()

    def _advance(self, pending: int = 0) -> None:
        """Begin the verification when it is due."""
        if self._ending.due(pending):
            if self._untold:
                self._update()
            self._ending.begin(pending, self._history.means())

    def _distance(self) -> float:
        """How far the search is from its start, in units of the noise or of sigma0.

        The larger of the two: at the stop of an actuator there is hardly any noise.
        """
        unit = np.maximum(self.noise_std, self._search.width)
        return float(np.max(np.abs(self._search.mean - self._search.x0) / unit))

    def _surrogate(self) -> Surrogate | None:
        """The model of the search, where all of x is measured."""
        return self._search.surrogate if self._noise.complete else None

    def _better_than(self, theta: FloatArray) -> FloatArray | None:
        """What the search proposes instead of theta."""
        return self._search.better_than(theta)

    def _predicted(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What the model of the search says of rows theta (n, d)."""
        return self._search.predict(theta)

    def _scale(self) -> FloatArray:
        """Units of coordinates without noise, (d,)."""
        return np.maximum(self._search.spread, 1e-12 * (1 + np.abs(self._search.mean)))

    def _estimate(self) -> tuple[float, float]:
        """E f at the mean of the search by its model, as minimised, and the standard error.

        What the noise costs is known no better than its variances.
        """
        if not self.generation:
            return np.nan, np.inf
        fun, se = self._search.estimate
        learnt = abs(self._search.noise_cost) * self._noise.relative_error()
        return float(fun), float(np.hypot(se, learnt))

    def _update(self) -> None:
        """Updates the search by one generation, from all that was told since the last.

        Rows of the verification only enter its models.
        """
        parts, self._untold = self._untold, []
        theta = np.concatenate([part[0] for part in parts])
        x = np.concatenate([part[1] for part in parts])
        f = np.concatenate([part[2] for part in parts])
        self._noise.observe(theta, x, self.generation == 0)
        points, changed = self._noise.refresh(theta, x)
        if changed:
            known, unmeasured = self._noise.known, self._noise.unmeasured_variances(theta)
            self._search.update_noise(known.cov, known.bias, unmeasured)
        # the mean needs no law to be known
        risky = self._merit.functional is not None
        if risky and self._merit.update(self._trust.seen, self._trust.law(self._search.mean)):
            self._search.revalue()
        self._trust.noiseless = self._noise.noiseless
        self._trust.control = self.warning is None and self._noise.one_pattern
        self._trust.opinions = offers_opinions(self.engine, self._setup) and self._noise.complete
        if self._penalty is not None and self._trust.verification is None:
            self._follow(self._penalty)
        take_in = self._search.tell if self._trust.verification is None else self._search.learn
        take_in(theta, points, self._told(f, parts), ~np.isnan(x))
        self._progress.generation += 1
        self._note(f)

    def _follow(self, penalty: Penalty) -> None:
        """What violating constraints costs, where the search is now."""
        if self.engine != GP and penalty.update(
            self._trust.seen, self._trust.law(self._search.mean)
        ):
            self._search.revalue()

    def _told(self, f: FloatArray, parts: list[Part]) -> FloatArray:
        """What the search is told: values (n,), or (n, 1 + J) with the constraints after them."""
        if not self.constraint_names:
            return f
        count = len(self.constraint_names)
        held = [np.full((p.size, count), np.nan) if c is None else c for _, _, p, c in parts]
        return np.column_stack([f, np.where(np.isnan(f)[:, None], np.nan, np.concatenate(held))])

    def _note(self, f: FloatArray) -> None:
        search = self._search
        fun, se = self._estimate()
        finite = f[np.isfinite(f)]
        median = np.median(finite) if finite.size else np.nan
        entry = (self.nfev, search.mean, fun, se, median, search.spread, search.phase)
        self._history.add(*entry, events=search.take_events())
