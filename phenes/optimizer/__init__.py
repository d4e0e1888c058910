"""The front door: `minimize` and `maximize` for functions, `Optimizer` for labs and machines that
realise x themselves.
"""

from phenes.optimizer.minimize import maximize, minimize
from phenes.optimizer.optimizer import NoiseWarning, Optimizer
from phenes.optimizer.result import Result

__all__ = ["NoiseWarning", "Optimizer", "Result", "maximize", "minimize"]
