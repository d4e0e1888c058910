"""What a run knows of the input noise: declared and tested against data, or learnt from them."""

import inspect
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from phenes._validate import FloatArray
from phenes.optimizer.noise.fit import Learnt, Residuals, misfit
from phenes.optimizer.noise.local_laws import SIMULATED, GaussianAt
from phenes.optimizer.noise.model import (
    LearntNoiseModel,
    Moments,
    NoiseModel,
    SampledNoiseModel,
    is_learnt,
    noise_model,
)

SIMULATION_SEED = 2**31 - 1  # seed of draws that are simulated, not evaluated
SIMULATIONS = 16  # theta whose draws are cached: more than a verification compares
# standard deviations of the noise up to which rounding of x is none of its business
COARSE = 1e-2
# residuals before the noise is fitted for the first time, or the declaration is tested
FIRST_LEARNT, FIRST_CHECKED = 8, 64
HOME = str(Path(__file__).parents[1])

UNMEASURED = (
    "noise='learn' and nothing was measured: tell `realised`, or declare the noise; until then"
    " values are taken to scatter by themselves"
)


class NoiseWarning(UserWarning):
    """The realised inputs contradict what was declared of them."""


class NoiseState:
    """The noise model in use, the residuals x - theta so far, and what contradicts the model.

    known: the moments that the search works with. warning: the sentence of the NoiseWarning that
    was given, if any.
    """

    def __init__(self, noise: Any, x0: FloatArray):
        self.learns = is_learnt(noise)
        self.model: NoiseModel = noise_model(noise, x0.size)
        self.known: Moments = self.model.moments(x0)
        self.declared = self.known  # at x0, before anything was measured
        # computed once, at x0: a sampled model caches its moments for one theta only
        self._declared_none = not np.any(self.known.cov)
        self.residuals = Residuals(x0.size)
        self.warning: str | None = None
        self._next_check = FIRST_LEARNT if self.learns else FIRST_CHECKED
        self._patterns: set[bytes] = set()  # masks of unmeasured coordinates
        self._draws: dict[bytes, FloatArray] = {}

    def points(self, theta: FloatArray, x: FloatArray) -> FloatArray:
        """x in the coordinates of theta, unmeasured coordinates at their expectation."""
        missing = np.isnan(x)
        rows = np.unique(missing, axis=0) if missing.any() else missing[:1]
        self._patterns |= {row.tobytes() for row in rows}
        full, _ = self.model.fill(theta, x)
        return self.model.pull(full, theta)

    def observe(self, theta: FloatArray, x: FloatArray, first: bool) -> None:
        """Learn the noise, or check what was declared, whenever there are half as many more."""
        if self.learns and first and np.isnan(x).all():
            _warn(UNMEASURED)
        pulled = x if self.learns else self.model.pull(x, theta)
        self.residuals.add(self._resolved(pulled, theta))
        if self.residuals.samples < self._next_check:
            return
        self._next_check = self.residuals.samples * 3 // 2 + 1
        if self.learns:
            learnt = self.residuals.learn()
            self.model = LearntNoiseModel(learnt.bias, learnt.cov)
            return
        if self.model.fixed and self.warning is None:
            # warn once: later warnings would repeat it with more data
            expected = self.model.moments(theta)
            self.warning = misfit(self.residuals, expected.bias, expected.variances)
            if self.warning:
                _warn(self.warning)

    def _resolved(self, pulled: FloatArray, theta: FloatArray) -> FloatArray:
        """x - theta; NaN where theta is so large that rounding is a part of it."""
        rounding = np.spacing(np.maximum(np.abs(pulled), np.abs(theta)))
        std = np.sqrt(self.known.variances)
        return np.where((std > 0) & (rounding > COARSE * std), np.nan, pulled - theta)

    def refresh(self, theta: FloatArray, x: FloatArray) -> tuple[FloatArray, bool]:
        """`points` by the model as it is now, and whether `known` has changed with it."""
        full, moments = self.model.fill(theta, x)
        changed = not _same(moments, self.known)
        if changed:
            self.known = moments
        return self.model.pull(full, theta), changed

    def unmeasured_variances(self, theta: FloatArray) -> FloatArray:
        """Variances of the declared input noise in coordinates that are not measured, [d]."""
        return self.model.moments(theta).variances - self.known.variances

    @property
    def noiseless(self) -> bool:
        """True if x = theta, as far as is known."""
        if self.learns:
            return not np.any(self.residuals.variances() > 0)
        return self._declared_none

    @property
    def one_pattern(self) -> bool:
        """Whether the same coordinates were measured in all evaluations."""
        return len(self._patterns) <= 1

    @property
    def complete(self) -> bool:
        """Whether every coordinate was measured in all evaluations."""
        return not any(any(pattern) for pattern in self._patterns)

    def law_at(self, theta: FloatArray) -> GaussianAt | FloatArray:
        """The law of x at theta: moments, or draws [n, d] where only these say it."""
        complete = self.complete
        if isinstance(self.model, SampledNoiseModel) and complete:
            return self._simulated(self.model, theta)
        rests_on = float(self.residuals.samples) if self.learns else np.inf
        return GaussianAt(self.known.bias, self.known.cov, rests_on)

    def draws_at(self, theta: FloatArray) -> FloatArray | None:
        """Draws [n, d] of x - theta where only these say the law, else None."""
        law = self.law_at(theta)
        return law - theta if isinstance(law, np.ndarray) else None

    def _simulated(self, model: SampledNoiseModel, theta: FloatArray) -> FloatArray:
        """Draws [n, d] at theta, always the same: kept for the theta of the last questions."""
        key = theta.tobytes()
        if key not in self._draws:
            if len(self._draws) >= SIMULATIONS:
                del self._draws[next(iter(self._draws))]
            self._draws[key] = model.draw(SIMULATION_SEED, 0, np.tile(theta, (SIMULATED, 1)))
        return self._draws[key]

    def relative_error(self) -> float:
        """Relative error of the variances: sqrt(2 / n) if learnt from n residuals, else 0."""
        return float(np.sqrt(2 / max(self.residuals.samples, 2))) if self.learns else 0.0

    def described(self) -> str:
        """What was learnt, in a sentence; empty if nothing was."""
        return str(self.residuals.learn()) if self.learns and self.residuals.samples else ""

    def current(self) -> Learnt | Moments:
        """What is taken for the law of x - theta: learnt, or declared (mean and covariance)."""
        return self.residuals.learn() if self.learns else self.known


def _warn(sentence: str) -> None:
    """A NoiseWarning that points to the line outside phenes from which the run was called."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_code.co_filename.startswith(HOME):
        frame, level = frame.f_back, level + 1
    # level counts from the caller of `warn`, which is this function
    warnings.warn(sentence, NoiseWarning, stacklevel=level)


def _same(a: Moments, b: Moments) -> bool:
    """Whether moments are equal, up to the effect of a few unmeasured coordinates."""
    if a.cov.shape != b.cov.shape or not np.array_equal(a.bias, b.bias):
        return False
    return np.array_equal(a.cov, b.cov) or np.allclose(a.cov, b.cov, rtol=0.02, atol=1e-300)
