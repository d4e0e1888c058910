"""phenes: optimise what you can only aim at.

You choose an intended theta; the world realises x ~ p_theta(x), which is measured; f(x) comes back.
phenes maximises E f(x) with the phenotype-accelerated evolution strategy (PAES): gradients
conditioned on the realised x, unbiased and of smaller variance.
"""

import importlib
from typing import TYPE_CHECKING, Any

from phenes._version import __version__ as __version__

if TYPE_CHECKING:
    from phenes import diagnostics, estimators, inputs, metric, problems, rl, search, weightings
    from phenes.batch import Batch
    from phenes.loop import OIU, run, run_host
    from phenes.optimizer import Optimizer, Result, maximize, minimize
    from phenes.strategy import Info, State, Strategy, es

__all__ = [
    "OIU",
    "Batch",
    "Info",
    "Optimizer",
    "Result",
    "State",
    "Strategy",
    "diagnostics",
    "es",
    "estimators",
    "inputs",
    "maximize",
    "metric",
    "minimize",
    "problems",
    "rl",
    "run",
    "run_host",
    "search",
    "weightings",
]

_HOMES = {
    "batch": ("Batch",),
    "loop": ("OIU", "run", "run_host"),
    "optimizer": ("Optimizer", "Result", "maximize", "minimize"),
    "strategy": ("Info", "State", "Strategy", "es"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Loaded when first used: `phenes --help` does not wait for JAX."""
    if name not in __all__:
        raise AttributeError(f"module 'phenes' has no attribute {name!r}")
    value = (
        getattr(importlib.import_module(f"phenes.{_HOME[name]}"), name)
        if name in _HOME
        else importlib.import_module(f"phenes.{name}")
    )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
