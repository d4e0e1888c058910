"""phenes: optimise what you can only aim at.

You choose an intended theta; the world realises x ~ p_theta(x), which is measured; f(x) comes back. phenes maximises E f(x) with the
phenotype-accelerated evolution strategy (PAES): gradients conditioned on the realised x, unbiased and of smaller variance.
"""

from phenes import diagnostics, estimators, inputs, metric, search, weightings
from phenes.batch import Batch
from phenes.run import OIU, run, run_host
from phenes.strategy import Info, State, Strategy, es

__version__ = "0.1.0"

__all__ = [
    "OIU",
    "Batch",
    "Info",
    "State",
    "Strategy",
    "diagnostics",
    "es",
    "estimators",
    "inputs",
    "metric",
    "run",
    "run_host",
    "search",
    "weightings",
]
