"""Environments with a transition table: compiled episodes, exact values.

And exact Rao-Blackwellised gradients of Dirichlet policies.
"""

import importlib
from typing import TYPE_CHECKING, Any

from phenes.rl.tabular.baselines import RewardToGo, reward_to_go
from phenes.rl.tabular.environment import Environment, load
from phenes.rl.tabular.evaluate import best_action, optimum, state_values, stationary_value, value
from phenes.rl.tabular.law import Episodes, Urns, greedy, softmax, total, without_theta
from phenes.rl.tabular.learners import Learner, default, dirichlet, gaussian, scored
from phenes.rl.tabular.memory import Memory, remembered
from phenes.rl.tabular.playing import Episode, Steps, play
from phenes.rl.tabular.table import Table

if TYPE_CHECKING:
    from phenes.rl.training.train import train_table as train
    from phenes.rl.training.trained import Trained

__all__ = [
    "Environment",
    "Episode",
    "Episodes",
    "Learner",
    "Memory",
    "RewardToGo",
    "Steps",
    "Table",
    "Trained",
    "Urns",
    "best_action",
    "default",
    "dirichlet",
    "gaussian",
    "greedy",
    "load",
    "optimum",
    "play",
    "remembered",
    "reward_to_go",
    "scored",
    "softmax",
    "state_values",
    "stationary_value",
    "total",
    "train",
    "value",
    "without_theta",
]

# training stands above this room
ABOVE = {"Trained": ("trained", "Trained"), "train": ("train", "train_table")}


def __getattr__(name: str) -> Any:
    """`train` and `Trained`, loaded when first used."""
    if name not in ABOVE:
        raise AttributeError(f"module 'phenes.rl.tabular' has no attribute {name!r}")
    module, attribute = ABOVE[name]
    return getattr(importlib.import_module(f"phenes.rl.training.{module}"), attribute)
