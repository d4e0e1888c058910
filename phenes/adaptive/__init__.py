"""The strategy that users get by default: CMA-ES on the realised x, Newton steps, restarts.

NumPy and SciPy only. `descent` is one descent, `policies` are what decides in it, `tuning` has
every tuned number.
"""

from phenes.adaptive.optimiser import Adaptive

__all__ = ["Adaptive"]
