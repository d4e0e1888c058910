"""One descent. The only module that writes phase, mean and covariance.

It asks its policies in the order of the methods below, applies what the first of a stage decides
(`phases.TRANSITIONS` says where that leads), and notes the reason.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from phenes.adaptive import cma, estimate, tuning
from phenes.adaptive.archive import Archive
from phenes.adaptive.coordinates import Coordinates
from phenes.adaptive.events import Events
from phenes.adaptive.marginal import Marginal, marginal_of
from phenes.adaptive.model.features import features_of, richest
from phenes.adaptive.phases import (
    Claim,
    Decision,
    Decisions,
    End,
    Enter,
    Recentre,
    Return,
    Revert,
    Step,
    Widen,
    after,
)
from phenes.adaptive.policies import make_policies
from phenes.adaptive.policies.early_newton import first_model
from phenes.adaptive.policies.stagnation import recent
from phenes.adaptive.state import State


@dataclasses.dataclass(frozen=True)
class Start:
    """Where a descent begins: the mean in x, and the width over the user's."""

    mean: np.ndarray
    width: float
    popsize: int
    value_noise: float = 0.0  # standard deviation, if an earlier descent detected noise of f
    trend: int = 0  # draws by which the trend of f is looked for before the search
    label: str = ""  # prefix of the events of this descent


class Descent:
    """CMA-ES with early Newton steps, then value-based Newton steps at the noise floor."""

    def __init__(
        self,
        coords: Coordinates,
        start: Start,
        events: Events | None = None,
        without: frozenset[str] = frozenset(),
    ) -> None:
        dim = coords.dim
        cov = coords.start() * start.width**2 + coords.noise_matrix()
        self.state = State(
            coords,
            law(coords, coords.to_y(start.mean), cov),
            cma.no_paths(dim),
            Archive(dim, max(capacity(coords, start.popsize), start.trend)),
            start.popsize,
        )
        self.policies = make_policies(without, first_model(dim), start.value_noise, start.trend)
        self._label = start.label
        self._events = events if events is not None else Events()
        self._x = np.empty((0, dim))
        self._f = np.empty(0)  # told since the last generation
        self._apart = 0  # minima of exact models among what was told since then
        self._reached = np.full(dim, np.nan)  # the last minimum of an exact model that was asked
        self._stale = 0.0  # share of the covariance that is new since it was decomposed
        self._estimate: Claim | None = None  # None: not computed since something was told
        self._anchor: estimate.Anchor | None = None  # the last model that estimated F on the way
        self._stepped: estimate.LocalModel | None = None  # that of the last Newton step

    def ask(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draws n intended theta [n, d] within the bounds.

        Without noise the minimum of an exact model, if within the bounds, is the first of them:
        the next generation would only move away from it.
        """
        if self.policies.pursuit.active:
            return self.policies.pursuit.ask(self.state, n, rng)
        theta = self.policies.screening.draw(self.state, n, rng)
        coords = self.state.coords
        if self.policies.early_newton.take_reached():
            reached = coords.intend(self.state.marginal.mean)
            if np.all((reached > coords.lower) & (reached < coords.upper)):
                theta[0] = self._reached = reached
        return theta

    def tell(self, x: np.ndarray, f: np.ndarray, told: np.ndarray | None = None) -> None:
        """Takes in samples; moves on when a generation is complete or a model is due.

        told: what f was made of, where a merit stands for it.
        """
        state = self.state
        self._estimate = None
        state.evaluations += f.size
        drawn = self._drawn(x)
        x, f, told = x[drawn], f[drawn], None if told is None else told[drawn]
        state.archive.add(x, f, told)
        if self._apply(self.policies.failures.decide(state, f)):
            return
        if self.policies.pursuit.active:
            state.generation += 1
            self._apply(self.policies.pursuit.decide(state, x, f))
            return
        if self.policies.trend.active:
            state.generation += 1
            self._apply(self.policies.trend.decide(state))
            return
        if state.phase.refines:
            if state.evaluations >= self.policies.refinement.due:
                self._refine()
            return
        self._x = np.concatenate([self._x, x])
        self._f = np.concatenate([self._f, f])
        if self._f.size + self._apart >= state.popsize:
            self._generation()

    def _drawn(self, x: np.ndarray) -> np.ndarray:
        """Which rows are draws: not the minimum of an exact model, which was the mean itself.

        Ranked with the draws it would shrink the search, and in models of a function with a ridge
        its value would pass for curvature.
        """
        drawn = np.ones(len(x), bool)
        same = np.flatnonzero(np.all(x == self._reached, axis=1))[:1]
        if same.size:
            drawn[same] = False
            self._apart += 1
            self._reached = np.full(x.shape[1], np.nan)
        return drawn

    def learn(self, x: np.ndarray, f: np.ndarray, told: np.ndarray | None = None) -> None:
        """Takes in samples that feed the models only, not the search."""
        self._estimate = None
        self.state.archive.add(x, f, told)

    def revalue(self, merit: Callable[[np.ndarray], np.ndarray]) -> None:
        """Goes on with other values of all samples: another merit of the same f.

        A generation that is not complete keeps its values: they are compared with each other only.
        """
        self._estimate = self._anchor = self._stepped = None
        self.policies.reversal.forget()  # they compare new values with old ones
        self.policies.pursuit.stop()
        self.state.archive.revalue(merit)

    def conclude(self) -> None:
        """Updates from a generation that stays incomplete, if at least half of it was told."""
        if not self.state.phase.refines and 2 * self._f.size >= self.state.popsize:
            self._estimate = None
            self._generation()

    def estimate(self) -> Claim:
        """F at the mean; computed once for what was told."""
        if self._estimate is None:
            self._estimate, self._anchor = estimate.anchored(self.state, self._anchor)
            cost = self._estimate.noise_cost
            self.state.claim = dataclasses.replace(self.state.claim, noise_cost=cost)
        return self._estimate

    def local_model(self) -> estimate.LocalModel | None:
        """The last model of f near the mean; None if there is none."""
        self.estimate()
        if self._anchor is None:
            return self._stepped
        return estimate.LocalModel(self.state.coords, self._anchor.marginal, self._anchor.model)

    def move(self, new: Coordinates) -> None:
        """Keeps the distribution of theta, in the coordinates of another noise.

        Where noise that varied x is no longer measured, theta varies as much from now on: a search
        at the noise floor, whose theta are all the same, would see nothing any more.
        """
        state = self.state
        old = self.state.coords
        cov = state.marginal.search(old.c)
        path = state.paths.c
        if cov.ndim == 1:
            ratio = old.scale * old.width / (new.scale * new.width)
            cov = cov * ratio**2 + new.c
            mean = state.marginal.mean * ratio
        else:
            change = new.to_y(old.to_x(np.eye(old.dim)))  # rows: images of the unit vectors
            cov = change.T @ cov @ change + np.diag(new.c)
            mean = state.marginal.mean @ change
            path = path @ change
        mean = mean + (new.to_y(new.bias) - new.to_y(old.bias))
        lost = old.std_x(old.noise_matrix()) ** 2 - new.std_x(new.noise_matrix()) ** 2
        cov = new.widened(cov, np.sqrt(np.where(new.smooth > 0, np.maximum(lost, 0.0), 0.0)))
        self.policies.reversal.forget()
        self.policies.pursuit.stop()
        state.paths = dataclasses.replace(state.paths, s=np.zeros(old.dim), c=path)
        state.coords = new
        state.marginal = law(new, mean, cov)
        self._estimate = self._anchor = None

    def _generation(self) -> None:
        """Updates by ranks, fits a model if one is due, and tests for noise floor or stagnation."""
        state = self.state
        policies = self.policies
        state.generation += 1
        measured = np.all(np.isfinite(self._x), axis=1)
        x = self._x[measured]
        f = self._f[measured]
        self._drop_generation()
        if not (
            self._apply(policies.plateau.decide(state, f))
            or (f.size and self._apply(policies.reversal.decide(f)))
        ):
            self._update(x, f)
        if state.evaluations >= policies.early_newton.due:
            self._try_model()
        if state.phase.refines:
            return
        # where all values are equal there is nothing to refine, however narrow the search is
        if not policies.plateau.lost and not self._apply(
            policies.floor.decide(state, policies.early_newton.near)
        ):
            self._apply(policies.stagnation.decide(state, policies.value_noise))
        if state.phase.over and not state.phase.refines:
            self._claim_recent()

    def _update(self, x: np.ndarray, f: np.ndarray) -> None:
        if not f.size:
            return
        state = self.state
        coords = self.state.coords
        self.policies.plateau.moved()
        told = self.policies.screening.population(state, x, f)
        cut = coords.cuts(state.marginal.mean, state.marginal.search(coords.c))
        new = cma.update(state.marginal, state.paths, told, coords.inside if cut else None)
        state.paths = new.paths
        self._stale += new.share
        mean = coords.inside(new.mean)
        due = state.evaluations >= self.policies.early_newton.due
        lasts = coords.full and np.ptp(coords.c) == 0 and state.marginal.basis is not None
        fresh = self._stale < tuning.STALE_SHARE and coords.within_box(new.cov) is new.cov
        if lasts and not due and fresh:
            c = float(coords.c[0])
            state.marginal = state.marginal.carried(mean, new.cov, new.growth, c)
        else:
            state.marginal = law(coords, mean, new.cov)
            self._stale = 0.0

    def _try_model(self) -> None:
        """Fits the model that is due: value noise decides first, then the early Newton step."""
        state = self.state
        policies = self.policies
        model = policies.early_newton.model(state)
        if model is not None and self._apply(policies.value_noise.decide(state, model)):
            return
        decisions = policies.early_newton.decide(state, model)
        if not self._apply(policies.pursuit.begin(state, decisions)):
            self._apply(decisions)

    def _refine(self) -> None:
        """Fits the model of the refinement that is due, unless the last step is taken back."""
        state = self.state
        policies = self.policies
        policies.refinement.postpone(state)
        since = state.archive.raw(state.evaluations - policies.refinement.stepped)
        if not self._apply(policies.reversal.decide(since)):
            self._apply(policies.refinement.decide(state, policies.value_noise))

    def _claim_recent(self) -> None:
        """Claims F from recent values, for a search that has ended."""
        state = self.state
        f = recent(self.state)
        if f.size:
            # without noise, older values belong to a wider search and are stale
            f = f if state.coords.noisy else f[-state.popsize :]
            value = float(f.mean())
            error = float(f.std() / np.sqrt(f.size))
            state.claim = Claim(value, error, state.claim.noise_cost)

    def _apply(self, decisions: Decisions) -> bool:
        """Applies decisions in their order; False if there are none."""
        for decision in decisions:
            self._carry_out(decision)
            self.state.phase = after(self.state.phase, decision)
        return bool(decisions)

    def _carry_out(self, decision: Decision) -> None:
        match decision:
            case Step():
                self._step(decision)
            case Recentre():
                self._recentre(decision)
            case Revert():
                self._revert(decision)
            case Return():
                self._go_back(decision)
            case Widen():
                self._widen(decision)
            case Enter():
                marginal = self.state.marginal
                self.state.marginal = marginal_of(marginal.mean, marginal.cov, self.state.coords.c)
                self.policies.refinement.begin(self.state)
            case End():
                self.state.why = decision.why
            case _:
                pass
        if isinstance(decision, Recentre | Revert | Return | Enter | End) and decision.why:
            self._events.add(self._label + decision.why)

    def _step(self, step: Step) -> None:
        state = self.state
        model = step.model
        advice = step.advice
        self.policies.reversal.keep(state)
        self._stepped = estimate.LocalModel(state.coords, state.marginal, model)
        target = state.marginal.mean + state.marginal.unwhiten(model.out_of(advice.move))
        cov = state.marginal.rescaled(model.turn, advice.factors)
        state.marginal = law(state.coords, state.coords.inside(target), cov)
        if state.phase.refines:
            state.generation += 1
        else:
            state.paths = cma.no_paths(state.coords.dim)
        if step.claim is not None:
            state.claim = step.claim

    def _recentre(self, decision: Recentre) -> None:
        state = self.state
        state.marginal = law(state.coords, state.coords.inside(decision.mean), decision.cov)
        state.paths = cma.no_paths(state.coords.dim)
        self.policies.screening.forget()

    def _revert(self, revert: Revert) -> None:
        state = self.state
        kept = revert.to
        self.policies.screening.forget()
        self.policies.early_newton.reverted()
        state.marginal = law(state.coords, kept.mean, kept.cov)

    def _go_back(self, decision: Return) -> None:
        state = self.state
        coords = self.state.coords
        policies = self.policies
        self._drop_generation()
        policies.reversal.forget()
        policies.pursuit.stop()
        policies.trend.stop()
        policies.screening.forget()
        policies.screening.mirroring.forget()
        policies.floor.forget()
        policies.early_newton.returned(policies.refinement.due if state.phase.refines else None)
        cov = state.marginal.search(coords.c) * tuning.RETURN_WIDTH**2 + coords.noise_matrix()
        mean = coords.inside(coords.to_y(decision.x))
        state.marginal = law(coords, mean, cov)
        state.paths = cma.no_paths(coords.dim)

    def _widen(self, decision: Widen) -> None:
        marginal = self.state.marginal
        wider = np.exp(2 * (decision.log_width - marginal.log_width))
        coords = self.state.coords
        self.state.marginal = law(coords, marginal.mean, marginal.cov * wider)

    def _drop_generation(self) -> None:
        dim = self.state.coords.dim
        self._x = np.empty((0, dim))
        self._f = np.empty(0)
        self._apart = 0


def law(coords: Coordinates, mean: np.ndarray, cov: np.ndarray) -> Marginal:
    """The law of x with this mean and covariance (in y), as wide as it must and may be."""
    return marginal_of(mean, coords.widened(coords.within_box(cov), coords.least), coords.c)


def capacity(coords: Coordinates, popsize: int) -> int:
    """Rows that a descent keeps.

    Restarts double their populations: what is kept must not grow with them beyond what models and
    medians are made of.
    """
    full = tuning.KEPT_PER_FEATURE
    diagonal = tuning.KEPT_PER_FEATURE_DIAGONAL
    return max(
        features_of(coords.dim) * (full if coords.full else diagonal),
        tuning.KEPT_PER_PRODUCT * richest(coords.dim),
        min(tuning.KEPT_POPULATIONS * popsize, tuning.KEPT_FOR_POPULATION),
        tuning.KEPT_POPULATIONS_AT_LEAST * popsize,
        tuning.KEPT_AT_LEAST,
    )
