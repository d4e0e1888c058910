"""Production yield of an LC low-pass filter between terminations of 1 ohm.

The filter has L1 in series, C in shunt and L2 in series. It is good or it is not: at most 1.5 dB
are lost at w = 0.45, 0.5, 0.55 and 1 rad/s, and at least 25 dB at 2.5 rad/s. Inductors and
capacitors come with a tolerance of 15 %, two standard deviations of a relative error that is
Gaussian in the logarithm. E f is the yield. The minimax design has the largest margin at the
nominal values and fails more often than one filter in four.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from phenes.problems.engineering.problem import EngineeringProblem, Readings

PASS, STOP = (0.45, 0.5, 0.55, 1.0), 2.5  # rad/s
LARGEST_LOSS, SMALLEST_LOSS = 1.5, 25.0  # dB, in the pass band and in the stop band
TOLERANCE = 0.15
MINIMAX = (1.628, 1.090, 1.628)  # H, F, H


def insertion_loss(values: Any, w: float | np.ndarray) -> Any:
    """Insertion loss in dB [...] at one frequency w, for L1, C, L2 along the last axis.

    As an amplitude it is |A + B + C + D| / 2 of the chain matrix, with unit terminations.
    """
    xp = values.__array_namespace__()
    l1, c, l2 = (values[..., k] for k in range(3))
    real = 2 - w**2 * c * (l1 + l2)
    imaginary = w * (l1 + l2 + c) - w**3 * l1 * c * l2
    return 10 * xp.log10((real**2 + imaginary**2) / 4)


def violation(x: Any) -> Any:
    """By how many dB the worst of the five requirements is missed; if negative, the margin."""
    xp = x.__array_namespace__()
    values = xp.exp(x)
    worst = SMALLEST_LOSS - insertion_loss(values, STOP)
    for w in PASS:
        worst = xp.maximum(worst, insertion_loss(values, w) - LARGEST_LOSS)
    return worst


def simulate(x: Any) -> Readings:
    over = violation(x)
    good = over <= 0
    return Readings(good.astype(x.dtype), good, over)


def _design(x: npt.ArrayLike) -> np.ndarray:
    return np.exp(x)


# x = log(L1, C, L2); the optimum is that of 2^16 common Sobol points, its yield that of two million
# builds
FILTER = EngineeringProblem(
    name="LC filter",
    simulate=simulate,
    unit="dB over the limit",
    design=_design,
    noise=np.full(3, TOLERANCE / 2),
    x0=np.log(MINIMAX),
    sigma0=np.full(3, TOLERANCE),
    nominal=np.log(MINIMAX),
    optimum=np.log((1.943, 0.916, 1.943)),
    value=0.9294,
    budget=2000,
)
