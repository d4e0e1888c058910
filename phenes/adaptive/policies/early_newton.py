"""Early Newton steps: made when a model is due and explains nearly everything."""

from dataclasses import dataclass

import numpy as np

from phenes.adaptive import newton, tuning
from phenes.adaptive.bounds import confine
from phenes.adaptive.estimate import axes_model_of, full_model_of, model_of, noise_along
from phenes.adaptive.model.features import axis_features, crosses, dear, features_of, richest
from phenes.adaptive.model.quadratic import Fit
from phenes.adaptive.phases import Decisions, Step
from phenes.adaptive.state import State


@dataclass
class EarlyNewton:
    """Owns when models are due before the refinement, and how the last ones did."""

    on: bool = True
    due: int = 0  # evaluations at which the next model is fitted
    full_due: int = 0  # in many dimensions: evaluations at which the full Hessian is fitted again
    failures: int = 0  # models in a row that explained too little
    near: int = 0  # short steps in a row while noise dominates the variance of f
    last_median: float = np.inf  # median of f in the generation before the last step
    reached: bool = False  # is the mean the minimum of an exact model, not evaluated yet?
    exact: bool = False  # was the last model exact, and its minimum beyond the trust region?

    def take_reached(self) -> bool:
        """Whether the mean is to be evaluated: once after a step to the minimum, without noise."""
        reached, self.reached = self.reached, False
        return reached

    def model(self, state: State) -> Fit | None:
        """The model that is due now; schedules the next one."""
        p = features_of(state.coords.dim)
        axes = axis_features(state.coords.dim)
        if dear(state.coords.dim):
            self.due = state.evaluations + max(axes, state.popsize)
            return self._thrifty(state, axes)
        # more rows than a generation: in few dimensions a handful of rows would be overfitted
        newest = max(tuning.ROWS_PER_FEATURE * p, state.popsize + tuning.SPARE_ROWS)
        model = model_of(state, newest)
        failed = model is not None and model.features == p and model.r2 < tuning.STEP_R2
        self.failures = self.failures + 1 if failed else 0
        # next model after half as many new rows as features; back off while models keep failing
        wait = (model.features if model is not None else axes) // 2
        longer = min(self.failures // tuning.FAILURES_PER_WAIT, p // tuning.CHEAP_FEATURES)
        self.due = state.evaluations + max(wait * max(1, longer), state.popsize)
        return model

    def _thrifty(self, state: State, axes: int) -> Fit | None:
        """Curvature along the principal axes; all of it now and then, where much is unexplained.

        The search takes the shape of the inverse Hessian, and its principal axes are then those of
        f.
        """
        newest = max(tuning.ROWS_PER_AXIS_FEATURE * axes, state.popsize + tuning.SPARE_ROWS)
        model = axes_model_of(state, newest)
        enough = model is not None and model.r2 > tuning.AXES_SUFFICE and not self.exact
        dim = state.coords.dim
        if state.evaluations < self.full_due or enough or not crosses(dim, state.archive.count):
            return model
        p = richest(dim)
        # fewer rows than products serve at the noise floor only: on the way, where the axes of an
        # ill-conditioned f are still to be found, they mislead
        full = full_model_of(state, tuning.ROWS_PER_FEATURE * p)
        if full is None:
            return model
        self.failures = self.failures + 1 if full.r2 < tuning.STEP_R2 else 0
        self.full_due = state.evaluations + tuning.ROWS_PER_FEATURE * p * max(1, self.failures)
        return full if model is None or full.r2 > model.r2 else model

    def decide(self, state: State, model: Fit | None) -> Decisions:
        """A Newton step on the model that was due, if it explains enough."""
        if not self.on or model is None or model.r2 < tuning.STEP_R2:
            self.near = 0
            self.exact = False
            return ()
        with np.errstate(divide="ignore"):
            excess = 1 / noise_along(state, model.turn) - 1
        median = float(np.median(state.archive.newest(state.popsize)[1]))
        # a model with a diagonal Hessian may widen the search only while the median of f falls: the
        # cross terms that it misses grow faster with the width than what it explains
        growing = model.crossed or median < self.last_median
        self.last_median = median
        within = confine(state.coords, state.marginal, model.turn)
        advice = newton.early(model, excess, within, growing)
        close = advice.length < 1 and _noise_prevails(model, excess)
        self.near = self.near + 1 if close else 0
        exact = 1 - model.r2 < tuning.EXACT and model.h.min() > 0
        there = bool(exact and _within_trust(advice))
        self.exact = bool(exact and not there)
        if self.exact:
            self.due = self.full_due = state.evaluations + state.popsize
        self.reached = there and not state.coords.noisy
        if there and state.coords.noisy:
            self.near = tuning.NEAR_STEPS  # ranks would only lead away from where it is
        return (Step(model, advice),)

    def returned(self, due: int | None) -> None:
        """The search went back. due: when the next model is, if it was the refinement that went."""
        self.near = 0
        if due is not None:
            self.due = due

    def reverted(self) -> None:
        """A step was taken back: models are to be tried less often."""
        self.failures += tuning.FAILURES_PER_REVERT


def first_model(dim: int) -> int:
    """Evaluations at which the first model is fitted."""
    return int(tuning.FIRST_MODEL * axis_features(dim)) + 1


def _within_trust(advice: newton.Advice) -> bool:
    """Whether the step is to the minimum of its model, not a part of the way."""
    within = tuning.TRUST_RADIUS * np.sqrt(advice.move.size)
    return bool(advice.length < tuning.LONGEST_COORDINATE and np.linalg.norm(advice.move) < within)


def _noise_prevails(model: Fit, excess: np.ndarray) -> bool:
    """Whether most of the variance of f is due to noise: then values say more than ranks."""
    clear = model.h > tuning.CLEAR_CURVATURE * newton.edge_of(model)
    stiff = clear & (excess <= tuning.FREE_EXCESS)
    weight = model.g**2 + model.h**2 / 2  # share of each direction in the variance of f
    return bool(weight[stiff].sum() > weight.sum() / 2)
