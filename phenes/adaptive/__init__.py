"""The strategy that users get by default: CMA-ES on the realised x, Newton steps on fitted models,
restarts. NumPy and SciPy only.
"""

from phenes.adaptive.engine import Adaptive

__all__ = ["Adaptive"]
