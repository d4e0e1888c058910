"""Reinforcement learning: x is an episode, f its return, p_theta policy and environment.

::

    trained = phenes.rl.train("CartPole-v1", seed=0)
    action = trained.predict(obs)
    trained.save("cartpole.phenes"); phenes.rl.load("cartpole.phenes")

`policies` are networks and what makes actions of their output, `rollouts` play episodes,
`trajectories` are gradient estimators on them, `training` is the loop. `tabular` is for
environments with a transition table, where everything is exact. Gymnasium is imported when an
environment is made, and not before.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phenes.rl import policies, rollouts, tabular, training, trajectories
    from phenes.rl.training import load, train

__all__ = ["load", "policies", "rollouts", "tabular", "train", "training", "trajectories"]


def __getattr__(name: str) -> Any:
    """Loaded when first used."""
    if name not in __all__:
        raise AttributeError(f"module 'phenes.rl' has no attribute {name!r}")
    home = "training" if name in ("load", "train") else name
    value = importlib.import_module(f"phenes.rl.{home}")
    value = value if home == name else getattr(value, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
