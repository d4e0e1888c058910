"""Ask and tell on vectors, with values as minimised: the search, its data, and its verification.

`Optimizer` checks what users give, and has names, signs and files; what a run does is here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from phenes._validate import FloatArray
from phenes.constraints import Wanted
from phenes.evidence import Estimate
from phenes.evidence.control import LocalModel, Surrogate
from phenes.evidence.limits import Limits
from phenes.evidence.observations import HUGE
from phenes.optimizer.answer.reserve import VERIFYING
from phenes.optimizer.answer.trust import Trust
from phenes.optimizer.ending import Ending, Progress, Wishes
from phenes.optimizer.engines import (
    GP,
    Search,
    choose_engine,
    make_search,
    offers_opinions,
    population,
)
from phenes.optimizer.history import History
from phenes.optimizer.merit import Merit
from phenes.optimizer.noise.state import NoiseState
from phenes.optimizer.penalty import Penalty
from phenes.optimizer.setup import Setup
from phenes.risk import Risk

# evaluations at x0 in the first generation, which the answer has to beat; without noise two, to see
# whether f is deterministic
PROBES, PROBES_WITHOUT_NOISE = 1, 2
# units of the noise or of sigma0, whichever is larger, that double precision tells apart a
# thousandfold: a search that is farther away than that runs down a slope without an end
FARTHEST = 1e-3 / float(np.finfo(np.float64).eps)
# theta, x, f and constraints of rows that were told
Part: TypeAlias = tuple[FloatArray, FloatArray, FloatArray, FloatArray | None]


class Plan(NamedTuple):
    """What a run is begun with. engine: as the user said it. risk: of values as minimised."""

    engine: str
    batch: int | None
    popsize: int | None
    seed: int
    wanted: Wanted | None
    risk: Risk


class AskTell:
    """A run from its first ask to its answer.

    engine: name of the search. search: proposes theta. trust: what is recommended, on which
    evidence. ending: when the search gives way to verification. failed: evaluations without a
    finite value.
    """

    def __init__(
        self, setup: Setup, noise: NoiseState, plan: Plan, progress: Progress, wishes: Wishes
    ):
        self._setup, self._noise, self._progress, self._wishes = setup, noise, progress, wishes
        dim, budget, wanted = setup.x0.size, progress.budget, plan.wanted
        self.engine = choose_engine(plan.engine, setup, budget)
        self._penalty = None if wanted is None else Penalty(wanted)
        self._merit = Merit(plan.risk, self._penalty)
        self.search: Search = make_search(
            self.engine,
            setup,
            noise,
            population(plan.batch, plan.popsize, dim),
            plan.seed,
            budget,
            wanted,
            self._merit,
        )
        self.trust = Trust(
            self.search.x0,
            noise.noiseless,
            2 * self.search.popsize,
            noise.law_at,
            self._scale,
            self.modelled,
            self._surrogate,
            self._local_model,
            self.search.better_than,
            self.search.predict,
            self._merit,
            None if wanted is None else Limits(wanted),
        )
        self.ending = Ending(self.search, self.trust, progress, wishes)
        self.history = History()
        self.asked = 0
        self.failed = 0
        self._untold: list[Part] = []  # rows since the last update

    def ask(self, rows: int, pending: int) -> FloatArray:
        """At most so many theta. pending: rows under way."""
        return self._hand_out(rows, pending, self.search.ask)

    def ask_again(self, theta: FloatArray, pending: int) -> FloatArray:
        """What `ask` does when it gives these theta; what it would have given."""

        def propose(n: int, beside: int) -> FloatArray:
            return self.search.retrace(theta[beside : beside + n], beside)

        return self._hand_out(len(theta), pending, propose)

    def _hand_out(
        self, rows: int, pending: int, propose: Callable[[int, int], FloatArray]
    ) -> FloatArray:
        """At most so many theta. propose: those of the search, as its `ask`."""
        self._advance(pending)
        trust, theta = self.trust, np.empty((0, self._setup.x0.size))
        # where f is exact, its few rows of verification fill up the last batch of a lab
        fills = self._wishes.whole and trust.exact
        if trust.verification is None:
            progress = self._progress
            left = progress.budget - self.ending.reserve - progress.nfev - pending
            theta = self._candidates(min(rows, max(left, 1)), propose)
        elif not fills:
            theta = trust.verification.ask(rows)
        if fills and len(theta) < rows:
            last = trust.closing(rows - len(theta), self.search.mean)
            theta = np.concatenate([theta, last])
        self.asked += len(theta)
        return theta

    def _candidates(self, n: int, propose: Callable[[int, int], FloatArray]) -> FloatArray:
        """Points of the search, after x0 itself in the first generation."""
        probes = PROBES_WITHOUT_NOISE if self.trust.noiseless else PROBES
        start = np.tile(self.trust.x0, (max(probes - self.asked, 0), 1))
        known = np.concatenate([start, self.trust.repeats(n)])[:n]
        wanted = n - len(known)
        if not wanted:
            return known
        return np.concatenate([known, propose(wanted, len(known))])

    def tell(
        self, theta: FloatArray, x: FloatArray, minimised: FloatArray, c: FloatArray | None
    ) -> None:
        """Rows theta and x (n, d), values (n,) and constraints (n, J), whose names are known."""
        finite = np.isfinite(minimised)
        self._progress.batches += 1
        self._progress.nfev += minimised.size
        self.failed += int(np.sum(~finite))
        # failures of a restart do not count: it ends by itself and says nothing of the best descent
        counted = 0 if self.search.challenging else minimised.size
        progress = self._progress
        progress.worked |= bool(finite.any())
        progress.barren = 0 if finite.any() else progress.barren + counted
        clipped = np.where(finite, np.clip(minimised, -HUGE, HUGE), np.nan)
        self._untold.append((theta, x, clipped, c))
        phase = VERIFYING if self.trust.verification is not None else self.search.phase
        points = self._noise.points(theta, x)
        waiting = sum(part.size for _, _, part, _ in self._untold)
        if waiting >= self.search.least or self._progress.nfev >= self._progress.budget:
            self._update()
        # after the search, which may propose a better place by now
        self.trust.add(theta, x, points, minimised, phase, c)
        self._advance()

    def _advance(self, pending: int = 0) -> None:
        """Begin the verification when it is due."""
        if self.ending.due(pending):
            if self._untold:
                self._update()
            self.ending.begin(pending, self.history.means())

    def _update(self) -> None:
        """Updates the search by one generation, from all that was told since the last.

        Rows of the verification only enter its models.
        """
        parts, self._untold = self._untold, []
        theta = np.concatenate([part[0] for part in parts])
        x = np.concatenate([part[1] for part in parts])
        f = np.concatenate([part[2] for part in parts])
        self._noise.observe(theta, x, self._progress.generation == 0)
        points, changed = self._noise.refresh(theta, x)
        if changed:
            known, unmeasured = self._noise.known, self._noise.unmeasured_variances(theta)
            self.search.update_noise(known.cov, known.bias, unmeasured)
        # the mean needs no law to be known
        risky = self._merit.functional is not None
        if risky and self._merit.update(self.trust.seen, self.trust.law(self.search.mean)):
            self.search.revalue()
        self.trust.noiseless = self._noise.noiseless
        self.trust.control = self._noise.warning is None and self._noise.one_pattern
        self.trust.opinions = offers_opinions(self.engine, self._setup) and self._noise.complete
        if self._penalty is not None and self.trust.verification is None:
            self._follow(self._penalty)
        take_in = self.search.tell if self.trust.verification is None else self.search.learn
        take_in(theta, points, self._told(f, parts), ~np.isnan(x))
        self._progress.generation += 1
        self._note(f)

    def _follow(self, penalty: Penalty) -> None:
        """What violating constraints costs, where the search is now."""
        if self.engine != GP and penalty.update(self.trust.seen, self.trust.law(self.search.mean)):
            self.search.revalue()

    def _told(self, f: FloatArray, parts: list[Part]) -> FloatArray:
        """What the search is told: values (n,), or (n, 1 + J) with the constraints after them."""
        count = len(self.trust.seen.limits)
        if not count:
            return f
        held = [np.full((p.size, count), np.nan) if c is None else c for _, _, p, c in parts]
        return np.column_stack([f, np.where(np.isnan(f)[:, None], np.nan, np.concatenate(held))])

    def _note(self, f: FloatArray) -> None:
        search = self.search
        fun, se = self.modelled()
        finite = f[np.isfinite(f)]
        median = np.median(finite) if finite.size else np.nan
        entry = (self._progress.nfev, search.mean, fun, se, median, search.spread, search.phase)
        self.history.add(*entry, events=search.take_events())

    def reasons(self, optimum: str) -> dict[str, Any]:
        """Reasons to stop, by name. optimum: what is sought, in a word."""
        reasons: dict[str, Any] = {}
        if self._progress.nfev >= self._progress.budget:
            reasons["budget"] = self._progress.nfev
        if self.trust.seen.lowest <= -HUGE or self._distance() > FARTHEST:
            reasons["unbounded"] = f"E f has no {optimum} here"
        return reasons | self.ending.reasons()

    def _distance(self) -> float:
        """How far the search is from its start, in units of the noise or of sigma0.

        The larger of the two: at the stop of an actuator there is hardly any noise.
        """
        unit = np.maximum(np.sqrt(self._noise.known.variances), self.search.width)
        return float(np.max(np.abs(self.search.mean - self.search.x0) / unit))

    def answer(self) -> FloatArray:
        """The theta recommended now, (d,)."""
        best = self.trust.best if self.trust.exact else -1
        if best >= 0:
            return self.trust.seen.theta[best].copy()
        if self.trust.places:
            return self.recommended().theta.copy()
        return self.search.mean.copy()

    def recommended(self) -> Estimate:
        """What the evidence recommends, and what is known of it."""
        return self.trust.recommend(self.search.mean).estimate

    def estimate(self) -> tuple[float, float]:
        """E f at `answer` and its standard error, by the best that is known."""
        trust = self.trust
        if trust.places or (trust.exact and trust.best >= 0):
            known = self.recommended()
            return known.fun, known.se
        return self.modelled()

    def modelled(self) -> tuple[float, float]:
        """E f at the mean of the search by its model, and the standard error.

        What the noise costs is known no better than its variances.
        """
        if not self._progress.generation:
            return np.nan, np.inf
        fun, se = self.search.estimate
        learnt = abs(self.search.noise_cost) * self._noise.relative_error()
        return float(fun), float(np.hypot(se, learnt))

    def _surrogate(self) -> Surrogate | None:
        """The model of the search, where all of x is measured."""
        return self.search.surrogate if self._noise.complete else None

    def _local_model(self) -> LocalModel | None:
        """The search's quadratic of f, where that is what it is told, and all of x is measured."""
        of_f = self._merit.plain and self._noise.complete
        return self.search.local_model if of_f else None

    def _scale(self) -> FloatArray:
        """Units of coordinates without noise, (d,)."""
        return np.maximum(self.search.spread, 1e-12 * (1 + np.abs(self.search.mean)))
