"""phenes: optimise what you can only aim at.

You choose an intended theta; the world realises x ~ p_theta(x), which is measured; f(x) comes back.
phenes looks for the theta with the best E f(x), and uses x, which other optimisers throw away.

Two optimisers, one idea:

`minimize`, `maximize`, `Optimizer`
    What most people call. NumPy, no compiler to wait for: an adaptive search (CMA-ES on the
    realised x, with step-size control, models of f and restarts; `phenes.adaptive`), where
    evaluations are few a Gaussian process of f on the realised x (`phenes.gp`), and an answer that
    rests on evidence (`phenes.evidence`). Nothing needs tuning.
`es`, `run`, `run_host`
    The paper's phenotype-accelerated evolution strategy (PAES), Algorithms 1 and 2, from parts, in
    JAX: any search law, input law, estimator, weighting, metric and optax optimiser. For research,
    and for f that can be compiled.

They share no code, but the step: a generation of the adaptive search without step-size control and
models is the natural-gradient step of `estimators.phenotype` under the metric of the marginal.
"""

import importlib
from typing import TYPE_CHECKING, Any

from phenes._version import __version__ as __version__

if TYPE_CHECKING:
    from phenes import (
        adaptive,
        constraints,
        contexts,
        diagnostics,
        estimators,
        evidence,
        execution,
        gp,
        inputs,
        metric,
        pareto,
        problems,
        risk,
        rl,
        search,
        space,
        store,
        watch,
        weightings,
    )
    from phenes import (
        plots as plots,
    )
    from phenes.batch import Batch
    from phenes.constraints import chance, on_average
    from phenes.loop import OIU, run, run_host
    from phenes.optimizer import Optimizer, Result, Workers, maximize, minimize
    from phenes.pareto import Front, front
    from phenes.space import Choice, Integer, Log, Real, Space
    from phenes.strategy import Info, State, Strategy, es

__all__ = [
    "OIU",
    "Batch",
    "Choice",
    "Front",
    "Info",
    "Integer",
    "Log",
    "Optimizer",
    "Real",
    "Result",
    "Space",
    "State",
    "Strategy",
    "Workers",
    "adaptive",
    "chance",
    "constraints",
    "contexts",
    "diagnostics",
    "es",
    "estimators",
    "evidence",
    "execution",
    "front",
    "gp",
    "inputs",
    "maximize",
    "metric",
    "minimize",
    "on_average",
    "pareto",
    "problems",
    "risk",
    "rl",
    "run",
    "run_host",
    "search",
    "space",
    "store",
    "watch",
    "weightings",
]

# `phenes.plots` is there too, but not for `from phenes import *`: it needs matplotlib
_HEAVY = ("plots",)
_HOMES = {
    "batch": ("Batch",),
    "constraints": ("chance", "on_average"),
    "loop": ("OIU", "run", "run_host"),
    "optimizer": ("Optimizer", "Result", "Workers", "maximize", "minimize"),
    "pareto": ("Front", "front"),
    "space": ("Choice", "Integer", "Log", "Real", "Space"),
    "strategy": ("Info", "State", "Strategy", "es"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Loaded when first used: `phenes --help` does not wait for JAX."""
    if name not in __all__ and name not in _HEAVY:
        raise AttributeError(f"module 'phenes' has no attribute {name!r}")
    if name in _HOME:
        value = getattr(importlib.import_module(f"phenes.{_HOME[name]}"), name)
    else:
        value = importlib.import_module(f"phenes.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, *_HEAVY, "__version__"]
