"""What people call: `minimize` and `maximize` for functions, `Optimizer` for labs and machines.

A lab or a machine realises x itself; a function is given the x that the library draws.
"""

from phenes.evidence import Evaluations
from phenes.optimizer.minimize import maximize, minimize
from phenes.optimizer.noise_state import NoiseWarning
from phenes.optimizer.optimizer import Optimizer
from phenes.optimizer.result import Best, Candidate, Failing, Result

__all__ = [
    "Best",
    "Candidate",
    "Evaluations",
    "Failing",
    "NoiseWarning",
    "Optimizer",
    "Result",
    "maximize",
    "minimize",
]
