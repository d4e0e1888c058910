"""Policies: each owns its state, reads that of the descent, and returns decisions with a reason.

A policy never changes the descent. Each can be switched off by its name.
"""

from __future__ import annotations

from dataclasses import dataclass

from phenes.adaptive.policies.early_newton import EarlyNewton
from phenes.adaptive.policies.failures import Failures
from phenes.adaptive.policies.floor import Floor
from phenes.adaptive.policies.mirroring import Mirroring
from phenes.adaptive.policies.plateau import Plateau
from phenes.adaptive.policies.pursuit import Pursuit
from phenes.adaptive.policies.refinement import Refinement
from phenes.adaptive.policies.reversal import Reversal
from phenes.adaptive.policies.screening import Screening
from phenes.adaptive.policies.stagnation import Stagnation
from phenes.adaptive.policies.trend import Trend
from phenes.adaptive.policies.value_noise import ValueNoise

# What `Adaptive(..., without=...)` takes, and what is done instead.
SWITCHES = {
    "mirroring": "candidates are independent",
    "screening": "every candidate is evaluated",
    "failures": "a search goes on among failures",
    "plateau": "generations of equal values are updates like any other",
    "reversal": "no Newton step is taken back",
    "early_newton": "only ranks move the mean on the way",
    "pursuit": "without noise, models are followed once for many evaluations, as with it",
    "trend": "no restart looks for a trend",
    "value_noise": "noise of the values is not looked for",
    "stagnation": "a search goes on however long it has not improved",
    "refinement": "ranks move the mean to the end; value noise is not looked for either",
    "restarts": "the first descent has all of the budget",
}


@dataclass
class Policies:
    """The policies of one descent, in the order in which they are asked."""

    screening: Screening
    trend: Trend
    failures: Failures
    plateau: Plateau
    reversal: Reversal
    value_noise: ValueNoise
    early_newton: EarlyNewton
    pursuit: Pursuit
    floor: Floor
    stagnation: Stagnation
    refinement: Refinement


def make_policies(
    without: frozenset[str], due: int = 0, value_noise: float = 0.0, trend: int = 0
) -> Policies:
    """Makes all policies; those named in `without` decide nothing.

    due: evaluations at which the first model is fitted. value_noise: standard deviation of f at one
    x, if an earlier descent found it. trend: draws by which a trend is looked for first.
    """
    unknown = sorted(without - set(SWITCHES))
    if unknown:
        raise ValueError(f"without must be of {', '.join(SWITCHES)}, got {', '.join(unknown)}")
    refines = "refinement" not in without
    return Policies(
        screening=Screening("screening" not in without, Mirroring("mirroring" not in without)),
        trend=Trend(trend),
        failures=Failures("failures" not in without),
        plateau=Plateau("plateau" not in without),
        reversal=Reversal("reversal" not in without),
        value_noise=ValueNoise(refines and "value_noise" not in without, value_noise),
        early_newton=EarlyNewton("early_newton" not in without, due),
        pursuit=Pursuit("pursuit" not in without),
        floor=Floor(refines),
        stagnation=Stagnation("stagnation" not in without, refines),
        refinement=Refinement(),
    )
