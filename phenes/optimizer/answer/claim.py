"""What is claimed of a theta: its value, that of the start, and what else was looked at."""

from typing import NamedTuple

import numpy as np

from phenes._validate import FloatArray
from phenes.evidence import Estimate, Observations
from phenes.evidence.estimate import nothing
from phenes.risk import Risk


class Claim(NamedTuple):
    """What is claimed, at estimate.theta; start: the same at x0.

    drawn [d]: where the draws were made that it rests on, at estimate.theta or near it. exact: f is
    known to be the same whenever x is.
    """

    estimate: Estimate
    start: Estimate
    candidates: tuple[tuple[str, Estimate], ...]
    drawn: FloatArray
    exact: bool


def modelled(
    theta: FloatArray, fun: float, se: float, draws: int = 0, failed: int = 0, hoped: float = 0.0
) -> Estimate:
    """E f at theta as a model has it, which has drawn nothing there itself."""
    return Estimate(theta, fun, se, se, 0.0, 0.0, draws, failed, np.inf, hoped, control="model")


def exact_claim(
    seen: Observations, best: FloatArray | None, x0: FloatArray, mean: FloatArray, risk: Risk | None
) -> Claim:
    """Where f is deterministic. best: the theta of the best value; None: only `mean` is known."""
    start = _exactly(seen, x0, risk)
    answer = nothing(mean) if best is None else _exactly(seen, best, risk)
    return Claim(answer, start, (("start", start), ("best", answer)), answer.theta, True)


def _exactly(seen: Observations, theta: FloatArray, risk: Risk | None) -> Estimate:
    f = seen.f[seen.at(theta)]
    finite = f[np.isfinite(f)]
    if not finite.size:
        return nothing(theta, f.size, f.size)
    return Estimate(
        theta,
        float(finite[0]) if risk is None else risk.value(finite[:1]),
        0.0,
        0.0,
        0.0,
        f.size,
        f.size,
        f.size - finite.size,
        0.0,
        control="exact",
    )
