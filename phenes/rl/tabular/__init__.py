"""Environments with a transition table: compiled episodes, exact values, exact Rao-Blackwellised
gradients of Dirichlet policies.
"""

from phenes.rl.tabular.baselines import RewardToGo, reward_to_go
from phenes.rl.tabular.environment import Environment, load
from phenes.rl.tabular.evaluate import best_action, optimum, state_values, stationary_value, value
from phenes.rl.tabular.law import Episodes, Urns, greedy, softmax, total, without_theta
from phenes.rl.tabular.learners import Learner, default, dirichlet, gaussian
from phenes.rl.tabular.playing import Episode, Steps, play
from phenes.rl.tabular.table import Table
from phenes.rl.tabular.training import Trained, train

__all__ = [
    "Environment",
    "Episode",
    "Episodes",
    "Learner",
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
    "reward_to_go",
    "softmax",
    "state_values",
    "stationary_value",
    "total",
    "train",
    "value",
    "without_theta",
]
