"""Where Newton steps lead far, the model is followed evaluation by evaluation. Without noise only.

A search in the shape of the inverse Hessian whose Newton steps are longer than it is wide has a
way to go: a valley, perhaps a curved one. A generation for every step would be dear. From there on
the search distribution is the trust region of one local model: its mean is the best point, its
radius the length of a draw. The minimum of the model within it is evaluated at once, and every
value makes a new model. Where f falls as promised the region grows, where it does not it shrinks,
and a draw tells the model more.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from phenes.adaptive import newton, tuning
from phenes.adaptive.bounds import confine
from phenes.adaptive.marginal import Marginal
from phenes.adaptive.model.features import dear, features_of
from phenes.adaptive.model.local import Local, least_change
from phenes.adaptive.model.quadratic import Fit
from phenes.adaptive.phases import Decisions, Recentre, Step
from phenes.adaptive.state import State

FAR = "Newton steps lead far: the model is followed evaluation by evaluation"
BROKEN = "the model does not keep its promises: back to the search"
KINK = "the promises of the model fall like those at a kink: back to the search"
ARRIVED = "the model has nothing more to promise: back to the search"


@dataclass(frozen=True)
class Aim:
    """A step that was asked."""

    x: np.ndarray
    promise: float  # the decrease of f there, by the model
    limited: bool  # does it end where the region does?


@dataclass
class Pursuit:
    """Owns the model that is followed, and how it keeps its promises."""

    on: bool = True
    began: Marginal | None = None  # the search when it began; None: there is no pursuit
    models: int = 0  # full models so far that advised a step: the search has their shape
    due: int = 0  # evaluations before which no other pursuit begins
    ended: int = 0  # pursuits that have ended
    value: float = np.inf  # f at the mean
    hessian: np.ndarray = field(default_factory=lambda: np.empty(0))  # in y, of the last model
    aim: Aim | None = None  # the step that was asked and not told yet
    told: int = 0  # rows told since then
    first: float = 0.0  # what the first step promised, 0 before it was told ...
    last: float = 0.0  # ... and the last one
    draws: bool = False  # is a draw next?
    trust: float = 1.0  # share of promises kept, of late

    @property
    def active(self) -> bool:
        return self.began is not None

    def begin(self, state: State, decisions: Decisions) -> Decisions:
        """Begins at the best point so far, if an early step that is to be made leads far."""
        step = decisions[0] if decisions else None
        best = state.archive.best()
        if best is None or not isinstance(step, Step) or not step.model.crossed:
            return ()
        self.models += 1
        shaped = self.models > 1 and state.evaluations >= self.due
        if not (shaped and step.advice.length > tuning.FAR and self._applies(state)):
            return ()
        self.began = state.marginal
        self.trust, self.draws, self.first = 1.0, False, 0.0
        self.value = best[1]
        self.hessian = _in_y(step.model, state.marginal)
        return (Recentre(state.coords.to_y(best[0]), state.marginal.cov, FAR),)

    def _applies(self, state: State) -> bool:
        coords = state.coords
        exact = not (coords.noisy or coords.smooth.any() or coords.least.any())
        return self.on and exact and not dear(coords.dim)

    def ask(self, state: State, n: int, rng: np.random.Generator) -> np.ndarray:
        """n intended theta: the step, unless it is under way, and draws."""
        coords = state.coords
        theta = coords.intend(state.marginal.draw(rng.standard_normal((n, coords.dim))))
        if self.aim is None and not self.draws:
            self.aim = self._planned(state)
            self.told = 0
            if self.aim is None:
                self.trust *= 1 - tuning.TRUST_RATE
            else:
                theta[0] = self.aim.x
        return theta

    def _planned(self, state: State) -> Aim | None:
        """The step to the minimum of a new model in the region; None if nothing is promised."""
        coords, marginal = state.coords, state.marginal
        radius = np.sqrt(coords.dim)
        x, f = state.archive.newest(tuning.ROWS_PER_FEATURE * features_of(coords.dim))
        z = marginal.whiten(coords.to_y(x)) / radius
        axes = _axes(marginal)
        known = (axes * marginal.root).T @ self.hessian @ (axes * marginal.root) * radius**2
        model = least_change(z, f - self.value, known)
        if model is None:
            return None
        back = axes / marginal.root
        self.hessian = back @ model.hessian @ back.T / radius**2
        u = _lowest(state, model, radius)
        promise = -model.change(u)
        if not promise > 0:
            return None
        there = marginal.mean + marginal.unwhiten(model.turn @ u * radius)
        limited = float(np.linalg.norm(u)) > tuning.LIMITED
        return Aim(coords.intend(there), promise, limited)

    def decide(self, state: State, x: np.ndarray, f: np.ndarray) -> Decisions:
        """To the best point, with a region as wide as the model can be trusted for."""
        marginal = state.marginal
        mean, cov = marginal.mean, marginal.cov * self._judge(x, f, state.popsize) ** 2
        lowest = np.min(f, initial=np.inf, where=np.isfinite(f))
        if lowest < self.value:
            self.value = float(lowest)
            mean = state.coords.to_y(x[np.flatnonzero(f == lowest)[0]])
        why = self._end(marginal, f)
        if why and self.began is not None:
            # what narrowed the region in vain would narrow the search
            narrowed = why != ARRIVED and marginal.log_width < self.began.log_width
            cov = self.began.cov if narrowed else cov
            self.due = state.evaluations + features_of(state.coords.dim) * 2**self.ended
            self.ended += 1
            self.stop()
        return (Recentre(mean, cov, why),)

    def _judge(self, x: np.ndarray, f: np.ndarray, patience: int) -> float:
        """The factor of the radius, by what came of the step, if that was told."""
        aim = self.aim
        if aim is None:
            self.draws = False
            return 1.0
        at = np.flatnonzero(np.all(x == aim.x, axis=1))
        self.told += f.size
        if not at.size and self.told < patience:
            return 1.0
        kept = float(self.value - f[at[0]]) / aim.promise if at.size else -np.inf
        good = kept > tuning.KEPT
        self.draws = not good
        self.trust += tuning.TRUST_RATE * (float(kept > tuning.BROKEN) - self.trust)
        self.first, self.last = self.first or aim.promise, aim.promise
        self.aim = None
        if not kept > tuning.BROKEN:
            return tuning.PURSUIT_SHRINK
        return tuning.PURSUIT_GROWTH if good and aim.limited else 1.0

    def _end(self, marginal: Marginal, f: np.ndarray) -> str:
        """Why the pursuit is over; empty if it is not."""
        if not np.isfinite(f).all() or self.trust < tuning.LEAST_TRUST:
            return BROKEN
        if not self.first or self.began is None:
            return ""
        if self.last < tuning.EQUAL * abs(self.value):
            return ARRIVED
        # near a smooth minimum promises fall with the square of the width, at a kink as it does
        narrowed = self.began.log_width - marginal.log_width
        sharp = np.log(self.first / self.last) < tuning.KINK_ORDER * narrowed
        return KINK if sharp and narrowed > np.log(tuning.KINK_NARROWING) else ""

    def stop(self) -> None:
        """There is no pursuit any more."""
        self.began = self.aim = None


def _axes(marginal: Marginal) -> np.ndarray:
    return np.eye(marginal.mean.size) if marginal.basis is None else marginal.basis


def _in_y(model: Fit, marginal: Marginal) -> np.ndarray:
    """The Hessian of a model of whitened points, in y."""
    turn = np.eye(model.g.size) if model.turn is None else model.turn
    back = (_axes(marginal) / marginal.root) @ turn
    return (back * model.h) @ back.T


def _lowest(state: State, model: Local, radius: float) -> np.ndarray:
    """Where the model is lowest within its region and the bounds, along the columns of turn."""
    curvature = newton.regularised(model.g, model.h)
    within = confine(state.coords, state.marginal, model.turn)
    u = within(model.g * radius, curvature)[0] / radius
    return u / max(float(np.linalg.norm(u)), 1.0)
