"""Gradient estimators on trajectories: `estimator(p, q, batch, w) -> g`, p a `Trajectories`.

=================  ========  =======================================  ===========================
estimator          unbiased  variance                                 cost beside a backward pass
=================  ========  =======================================  ===========================
Genotype()         yes       the evolution strategy's                 none
Reparameterised()  yes       small for short episodes, else enormous  none
mix()              yes       smallest if the policy is nearly linear  inner products of rows
guarded_mix()      yes       as mix, never far above genotype         one more backward pass
curved_mix()       yes       smallest where it matters                about four times mix
linearised()       nearly    smallest                                 as mix
ScoreAtMean()      no        small                                    none
=================  ========  =======================================  ===========================

Much noise on the actions helps `Reparameterised()` too; on long episodes the variance of `mix()`
may be large. The estimators of `phenes.estimators` that need log p alone
(genotype, reparameterised, information_mix) work too. `credited` gives single steps a weight of
their own: the reward that followed, less what was to be expected. `by_signal` chooses among
several.
"""

from phenes.rl.rollouts.trajectory import Trajectory, total
from phenes.rl.trajectories.base import (
    ByTrajectory,
    Genotype,
    Reparameterised,
    ScoreAtMean,
    Trajectories,
)
from phenes.rl.trajectories.baselines import Credited, credited
from phenes.rl.trajectories.mix import (
    CurvedMix,
    GuardedMix,
    Linearised,
    Mix,
    curved_mix,
    guarded_mix,
    linearised,
    mix,
)
from phenes.rl.trajectories.selection import BySignal, Signal, agreement, by_signal, signal

__all__ = [
    "BySignal",
    "ByTrajectory",
    "Credited",
    "CurvedMix",
    "Genotype",
    "GuardedMix",
    "Linearised",
    "Mix",
    "Reparameterised",
    "ScoreAtMean",
    "Signal",
    "Trajectories",
    "Trajectory",
    "agreement",
    "by_signal",
    "credited",
    "curved_mix",
    "guarded_mix",
    "linearised",
    "mix",
    "signal",
    "total",
]
