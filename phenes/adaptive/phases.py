"""What a policy may decide, the phases of a descent, and which decision leads from which to which.

A descent has two questions to answer at any time: do samples feed a search by ranks or models of
values, and is there anything left to gain? Their answers are the four phases.
"""

from dataclasses import dataclass
from enum import Enum

import numpy as np

from phenes.adaptive.marginal import Marginal
from phenes.adaptive.model.quadratic import Fit
from phenes.adaptive.newton import Advice


class Phase(Enum):
    """What a descent does with its samples."""

    SEARCH = "search"  # ranks move the mean: CMA-ES with early Newton steps
    REFINE = "refine"  # values move it: Newton steps on models of all samples of the phase
    SETTLED = "settled"  # as REFINE; more samples only make the answer more precise
    ENDED = "ended"  # a search that has nothing more to gain

    @property
    def refines(self) -> bool:
        """Whether samples feed models of values."""
        return self in (Phase.REFINE, Phase.SETTLED)

    @property
    def over(self) -> bool:
        """Whether there is nothing left to gain here, so that restarts may be tried."""
        return self in (Phase.SETTLED, Phase.ENDED)


@dataclass(frozen=True)
class Stay:
    """Samples order nothing: the distribution stays as it is in this generation."""


@dataclass(frozen=True)
class Claim:
    """E f at a mean, its standard error, and what the noise of the inputs costs there."""

    value: float = np.nan
    error: float = np.nan
    noise_cost: float = 0.0


@dataclass(frozen=True)
class Step:
    """A Newton step: mean and shape of the search as the model advises."""

    model: Fit
    advice: Advice
    claim: Claim | None = None  # at the mean after the step


@dataclass(frozen=True)
class Recentre:
    """The trust region of a model: another mean and covariance, in y."""

    mean: np.ndarray
    cov: np.ndarray
    why: str = ""  # empty: it only goes on


@dataclass(frozen=True)
class Revert:
    """Back to the distribution before the last Newton step."""

    why: str
    to: Marginal


@dataclass(frozen=True)
class Return:
    """Back to a point where values differed, with a narrower search."""

    why: str
    x: np.ndarray


@dataclass(frozen=True)
class Widen:
    """The same distribution with this geometric mean of its widths, as a logarithm."""

    why: str
    log_width: float


@dataclass(frozen=True)
class Enter:
    """Into the refinement: from here on values count, not ranks."""

    why: str


@dataclass(frozen=True)
class End:
    """There is nothing more to gain here."""

    why: str


Decision = Stay | Step | Recentre | Revert | Return | Widen | Enter | End

# The decisions of a policy, in the order in which they are applied; none if it has nothing to say.
Decisions = tuple[Decision, ...]

# All transitions there are. Stay, Step, Recentre, Revert and Widen change no phase.
TRANSITIONS: dict[tuple[Phase, type[Decision]], Phase] = {
    (Phase.SEARCH, Enter): Phase.REFINE,
    (Phase.ENDED, Enter): Phase.SETTLED,
    (Phase.SEARCH, End): Phase.ENDED,
    (Phase.REFINE, End): Phase.SETTLED,
    (Phase.SETTLED, End): Phase.SETTLED,
    (Phase.ENDED, End): Phase.ENDED,
    (Phase.SEARCH, Return): Phase.SEARCH,
    (Phase.REFINE, Return): Phase.SEARCH,
    (Phase.SETTLED, Return): Phase.ENDED,
    (Phase.ENDED, Return): Phase.ENDED,
}


def after(phase: Phase, decision: Decision) -> Phase:
    """The phase after a decision; ValueError if there is no such transition."""
    if isinstance(decision, Stay | Step | Recentre | Revert | Widen):
        return phase
    try:
        return TRANSITIONS[phase, type(decision)]
    except KeyError:
        raise ValueError(f"no {type(decision).__name__} from {phase.name}") from None
