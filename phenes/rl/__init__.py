"""Reinforcement learning: x is an episode, f its return, p_theta the policy together with the environment.

`phenes.rl.tabular` is for environments with a transition table, where everything is exact. Gymnasium is imported when an environment is
made, and not before.
"""

from phenes.rl import tabular

__all__ = ["tabular"]
