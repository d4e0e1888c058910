"""Detects noise of the values where the inputs have none, and averages over it.

What a model does not explain stays as large while the search becomes narrow, if it is noise; if it
is part of f, it shrinks with the search.
"""

from dataclasses import dataclass

import numpy as np

from phenes.adaptive import tuning
from phenes.adaptive.estimate import model_of
from phenes.adaptive.model.features import features_of
from phenes.adaptive.model.quadratic import Fit
from phenes.adaptive.phases import Decisions, Enter, Widen
from phenes.adaptive.state import State

KNOWN = "the values scatter as in an earlier descent"
SEEN = "the values scatter: back to the width at which the signal was lost"


@dataclass
class ValueNoise:
    """Owns what is known of the noise of the values."""

    on: bool = True
    known: float = 0.0  # standard deviation of f at one x, once it is known not to be zero
    # residual of the model when it last stopped explaining f, and the log width of the search then
    lost_residual: float = 0.0
    lost_log_width: float = 0.0

    def decide(self, state: State, model: Fit) -> Decisions:
        """Judges by the model that was due whether residuals are noise of the values."""
        if not self.on or state.coords.noisy:
            return ()
        blind = model.r2 < tuning.BLIND_R2
        if blind and model.residual < tuning.KNOWN_NOISE * self.known:
            return (Enter(KNOWN),)
        sees = model.r2 > tuning.BLIND_R2
        if sees or model.residual < tuning.SHRUNK_RESIDUAL * self.lost_residual:
            self.lost_residual = 0.0
            self.lost_log_width = 0.0
        elif self.lost_residual == 0:
            self._lose(model.residual, state.marginal.log_width)
        elif self.lost_log_width - state.marginal.log_width > np.log(tuning.BLIND_NARROWING):
            return self.look_through()
        return ()

    def blind(self, state: State) -> bool:
        """Whether a search that came to rest sees nothing but noise of the values."""
        if not self.on:
            return False
        model = model_of(state, tuning.ROWS_PER_FEATURE * features_of(state.coords.dim))
        if model is not None and model.r2 < tuning.BLIND_R2 and self.lost_residual == 0:
            wide = state.marginal.log_width + np.log(tuning.BLIND_NARROWING)
            self._lose(model.residual, wide)
        return self.lost_residual > 0

    def look_through(self) -> Decisions:
        """Back to the width at which the signal was lost, and on with averages."""
        self.known = self.lost_residual
        return (Widen(SEEN, self.lost_log_width), Enter(SEEN))

    def wide_enough(self, state: State) -> bool:
        """Whether a wider search would see no more.

        That is so if the search is wider than at the start: if there is no signal at that scale, a
        larger one will not help. It is so, too, if the search is as wide as the noise that is
        declared but not measured, or twice as wide as where the signal was lost: F is smooth at the
        scale of that noise, and not quadratic far beyond.
        """
        coords = state.coords
        marginal = state.marginal
        if marginal.log_width > start_log_width(state):
            return True
        if not coords.smooth.any():
            return False
        widest = self.lost_log_width + np.log(tuning.WIDEST_LOST)
        if self.lost_residual > 0 and marginal.log_width > widest:
            return True
        return bool(np.any((coords.smooth > 0) & (coords.std_x(marginal.cov) >= coords.smooth)))

    def _lose(self, residual: float, log_width: float) -> None:
        self.lost_residual = residual
        self.lost_log_width = log_width


def start_log_width(state: State) -> float:
    """Log width of a search as wide as the user's."""
    cov = state.coords.start()
    if cov.ndim == 1:
        return float(np.mean(np.log(cov)) / 2)
    return float(np.linalg.slogdet(cov)[1] / (2 * state.coords.dim))
