"""Episodes of whole populations of policies, in any environment of Gymnasium.

`load(env_id).play(policy, theta, keys)`.
"""

from phenes.rl.rollouts.backends import Rollouts, load
from phenes.rl.rollouts.spaces import Spaces, spaces
from phenes.rl.rollouts.trajectory import Trajectory, length, total, trimmed

__all__ = ["Rollouts", "Spaces", "Trajectory", "length", "load", "spaces", "total", "trimmed"]
