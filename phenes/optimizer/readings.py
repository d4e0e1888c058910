"""What can be read of an `Optimizer`: looking changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from phenes import _validate
from phenes._validate import FloatArray
from phenes.evidence import Evaluations
from phenes.optimizer.advice import Advice, advise
from phenes.optimizer.answer.claim import Claim
from phenes.optimizer.answer.held import table
from phenes.optimizer.answer.named_result import name_result
from phenes.optimizer.answer.result import Result
from phenes.optimizer.answer.verdict import Facts, answer
from phenes.optimizer.ask_tell import AskTell
from phenes.optimizer.ending import Progress
from phenes.optimizer.engines import GP
from phenes.optimizer.noise.fit import Learnt
from phenes.optimizer.noise.model import Moments, NoiseModel
from phenes.optimizer.noise.state import NoiseState
from phenes.optimizer.pictures.shown import Shown
from phenes.optimizer.pictures.slices import View, draw
from phenes.optimizer.records.journal import Journal
from phenes.optimizer.setup import Setup
from phenes.risk import Risk

if TYPE_CHECKING:
    from phenes.constraints import Constraints, Wanted
    from phenes.space import Space


class Readings:
    """The part of `Optimizer` that is looked at: numbers, the result, pictures and words."""

    objective: Risk
    space: Space | None
    wanted: Wanted | None
    _batch: int | None
    _requested: int | None
    _journal: Journal
    _noise: NoiseState
    _progress: Progress
    _setup: Setup
    _state: AskTell
    # a value that users see is shift + slope * (as minimised); sign: -1 to maximise
    _shift: float
    _slope: float
    _sign: float

    @property
    def engine(self) -> str:
        """What asks: "gp", "relay" or "adaptive"."""
        return self._state.engine

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
        return self._requested or self._state.search.popsize

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

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the constraints, once they are known."""
        return self._state.trust.seen.limits

    def stop(self) -> dict[str, Any]:
        """Reasons to stop, by name.

        Returns
        -------
        dict
            Empty, and so false, while there is something to gain or to verify. Keys: "budget",
            "failing", "unbounded", "target" and "converged".
        """
        return self._state.reasons("minimum" if self._sign > 0 else "maximum")

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
        return advise(self._state.search.expected_gain(count), each, count)

    @property
    def mean(self) -> Any:
        """The theta recommended now: a vector of shape (d,), or a Point of the space.

        The mean of the search, and what was verified once draws were made for that; without noise
        the best point that was evaluated.
        """
        theta = self._state.answer()
        return theta if self.space is None else self.space.decode(theta)

    @property
    def estimate(self) -> tuple[float, float]:
        """E f at `mean` and its standard error, by the best that is known.

        That is the model of the search, and the evidence once draws were made for that.
        """
        fun, se = self._state.estimate()
        return self._shift + self._slope * fun, se

    @property
    def drawn(self) -> tuple[int, int]:
        """Evaluations at `mean` itself, and how many of them failed."""
        seen = self._state.trust.seen
        own = seen.f[seen.at(self._state.answer())]
        return own.size, int(np.isnan(own).sum())

    @property
    def phase(self) -> str:
        """What the search is doing now, in a word."""
        return self._state.search.phase

    @property
    def spread(self) -> FloatArray:
        """Standard deviation of the search in each coordinate, shape (d,)."""
        return np.array(self._state.search.spread)

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
        state, trust, search = self._state, self._state.trust, self._state.search
        verification = trust.verification
        claim = trust.recommend(search.mean)
        facts = Facts(
            claim=claim,
            seen=trust.seen,
            reasons=self.stop(),
            proposal=search.mean if verification is None else verification.proposal,
            model=state.modelled(),
            modelled=search.mean if verification is None else trust.modelled,
            verifies=bool(state.ending.reserve),
            nfev=self.nfev,
            budget=self._progress.budget,
            generations=self.generation,
            popsize=search.first_popsize,
            width=search.width,
            spread=self.spread,
            noise=trust.law(trust.x0),
            sign=self._sign,
            failed=state.failed,
            history=state.history.arrays(),
            noise_text=self._noise.described(),
            noise_cov=trust.law(claim.estimate.theta).cov,
            held=self._held_at(claim),
            objective=self.objective,
            unmet=trust.unmet(claim.estimate.theta),
        )
        found = answer(facts)
        found = found if self._sign > 0 else found.negated()
        if (self._shift, self._slope) != (0.0, self._sign):
            found = found.placed(self._shift, self._slope)
        return found if self.space is None else name_result(found, self.space)

    def _held_at(self, claim: Claim) -> Constraints | None:
        """What is known of the constraints where the answer is."""
        trust, theta = self._state.trust, claim.estimate.theta
        if not trust.constrained:
            return None
        assert self.wanted is not None
        own = trust.seen.c[trust.seen.at(claim.drawn)]
        names, beside = trust.seen.limits, not np.array_equal(claim.drawn, theta)
        return table(self.wanted, names, trust.standing(theta), own, trust.exact, beside)

    @property
    def evaluations(self) -> Evaluations:
        """All evaluations so far, which `to_pandas` and `to_csv` make tables of."""
        found = self._state.trust.seen.arrays(self._sign)
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
            A panel for each of up to ten parameters; whole numbers and options have a value of the
            model each, and no curve between them. Notebooks show it;
            `opt.plot().savefig("model.png")` keeps it.

        Raises
        ------
        ValueError
            If there are not as many names as parameters.
        """
        setup = self._setup
        shown = self._shown()
        return draw(
            View(
                self._state.trust.seen,
                shown.pending,
                shown.answer,
                shown.fun,
                shown.fun_se,
                self.noise_std,
                (setup.lower, setup.upper),
                setup.sigma0,
                self._state.search.predict,
                self.engine == GP,
                self._sign,
                f"{shown.what}: {shown.value}; evaluations: {shown.used}",
                self.space,
            ),
            names,
            value,
        )

    def _shown(self) -> Shown:
        return Shown(
            self.engine,
            self.phase,
            self.nfev,
            self._state.failed,
            self._progress.budget,
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
