"""What people call: `minimize` and `maximize` for functions, `Optimizer` for labs and machines.

A lab or a machine realises x itself; a function is given the x that the library draws.
"""

from phenes.evidence import Evaluations
from phenes.optimizer.answer.result import Best, Candidate, Failing, Result
from phenes.optimizer.minimize import maximize, minimize
from phenes.optimizer.noise.state import NoiseWarning
from phenes.optimizer.optimizer import Optimizer
from phenes.optimizer.workers import KeywordWarning, Workers

__all__ = [
    "Best",
    "Candidate",
    "Evaluations",
    "Failing",
    "KeywordWarning",
    "NoiseWarning",
    "Optimizer",
    "Result",
    "Workers",
    "maximize",
    "minimize",
]
