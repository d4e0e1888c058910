"""At the noise floor ranks only add bias: Newton steps on models of all samples of the phase."""

import dataclasses
from dataclasses import dataclass

import numpy as np

from phenes.adaptive import newton, tuning
from phenes.adaptive.bounds import confine
from phenes.adaptive.estimate import rich_model_of, smoothed
from phenes.adaptive.model.features import axis_features, features_of, richest
from phenes.adaptive.phases import Claim, Decisions, End, Step
from phenes.adaptive.policies.value_noise import ValueNoise
from phenes.adaptive.state import State

RESOLVED = "the steps of the mean are below what the noise resolves"


@dataclass
class Refinement:
    """Owns which samples belong to the phase, and when a model of them is due."""

    entered: int = 0  # number of evaluations after which samples belong to the phase
    due: int = 0  # evaluations at which the next model is fitted
    stepped: int = 0  # evaluations when the last step was made
    used: int = 0  # rows that the last model was made of
    promise: float = np.inf  # what the last step promised to gain

    def begin(self, state: State) -> None:
        """The newest samples of the search count as the first of this phase."""
        first = tuning.FIRST_ROWS_PER_FEATURE * richest(state.coords.dim)
        self.entered = state.evaluations - min(first, state.evaluations)
        self.due = state.evaluations + state.popsize
        self.stepped = state.evaluations

    def own(self, state: State) -> int:
        """Samples of the phase."""
        return state.evaluations - self.entered

    def postpone(self, state: State) -> None:
        """The next model is due when there are some more rows."""
        more = int(tuning.MORE_ROWS * min(self.own(state), self.used or state.evaluations))
        self.due = state.evaluations + max(more, _least_wait(state))

    def decide(self, state: State, value_noise: ValueNoise) -> Decisions:
        """A step; then more data if it was within the errors, newer data if not."""
        own = self.own(state)
        model, z, f = rich_model_of(state, own)
        if model is None:
            return ()
        within = confine(state.coords, state.marginal, model.turn)
        advice = newton.final(model, not state.coords.noisy, within)
        if not state.coords.noisy and value_noise.wide_enough(state):
            advice = dataclasses.replace(advice, factors=np.minimum(advice.factors, 1.0))
        claim = smoothed(state, model, advice.move, z, f)
        self.promise = float(-model.g @ advice.move)
        self.stepped = state.evaluations
        self.used = model.n
        step = Step(model, advice, claim)
        self._look_ahead(state, step, own)
        suffice = not model.crossed and model.r2 > tuning.AXES_SUFFICE
        done = _settled(state, advice, claim, own, suffice)
        return (step, End(RESOLVED)) if done else (step,)

    def _look_ahead(self, state: State, step: Step, own: int) -> None:
        """After a significant step, fits a model soon again, without samples from before it."""
        if not step.advice.signal > tuning.CLEAR_SIGNAL:
            return
        p = richest(state.coords.dim)
        # products of many coordinates take long to fit: not before there are more rows for them
        rarely = step.model.crossed and p > tuning.LARGEST_FULL_MODEL
        more = int(tuning.MORE_ROWS * self.used) if rarely else 0
        self.due = state.evaluations + max(more, _least_wait(state))
        if step.advice.length > 1:
            # the older half of the samples is stale, as the mean has moved; keep the newer half, in
            # case the step was a false alarm
            least = tuning.REMEMBERED_PER_FEATURE * p
            self.entered = max(self.entered, state.evaluations - max(least, own // 2))


def _least_wait(state: State) -> int:
    """Rows after which a model may be fitted again: fewer where that costs little time."""
    p = features_of(state.coords.dim)
    few = p <= 2 * tuning.CHEAP_FEATURES
    return max(state.popsize, p // (tuning.WAIT_FEW if few else tuning.WAIT_MANY))


def _settled(
    state: State, advice: newton.Advice, claim: Claim, own: int, suffice: bool = False
) -> bool:
    """Whether steps are below what the noise resolves.

    A poor model may miss what is left to gain: the error of F must also be small beside the cost of
    the noise, and there must be rows for the richest model, unless the axes suffice.
    """
    dim = state.coords.dim
    p = axis_features(dim) if suffice else richest(dim)
    rough = claim.error > tuning.SURE_SHARE * abs(claim.noise_cost)
    unsure = state.coords.noisy and rough and own < tuning.UNSURE_PER_FEATURE * p
    short = advice.length < tuning.SETTLED_LENGTH or advice.signal < tuning.CLEAR_SIGNAL
    return bool(
        own >= max(tuning.SETTLED_PER_FEATURE * p, tuning.SETTLED_ROWS)
        and advice.factors.max() <= tuning.SETTLED_GROWTH
        and short
        and not unsure
    )
