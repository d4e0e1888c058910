"""Gymnasium's MuJoCo environments: MuJoCo's own physics, in threads.

Everything around them is done for the whole population at once.
"""

from phenes.rl.rollouts.physics import reaching, walking
from phenes.rl.rollouts.physics.task import Task
from phenes.rl.rollouts.physics.threads import Threads
from phenes.rl.rollouts.spaces import Unwrapped

__all__ = ["Task", "Threads", "like"]

TASKS = {
    "swimmer_v5.SwimmerEnv": walking.swimmer,
    "half_cheetah_v5.HalfCheetahEnv": walking.half_cheetah,
    "hopper_v5.HopperEnv": walking.hopper,
    "walker2d_v5.Walker2dEnv": walking.walker,
    "ant_v5.AntEnv": walking.ant,
    "humanoid_v5.HumanoidEnv": walking.humanoid,
    "humanoidstandup_v5.HumanoidStandupEnv": walking.humanoid_standup,
    "inverted_pendulum_v5.InvertedPendulumEnv": reaching.inverted_pendulum,
    "inverted_double_pendulum_v5.InvertedDoublePendulumEnv": reaching.inverted_double_pendulum,
    "reacher_v5.ReacherEnv": reaching.reacher,
    "pusher_v5.PusherEnv": reaching.pusher,
}


def like(inner: Unwrapped) -> Task | None:
    """What this unwrapped environment does around the physics, or None.

    Of environments that are known here: exactly, not a subclass.
    """
    kind = f"{type(inner).__module__}.{type(inner).__qualname__}".removeprefix(
        "gymnasium.envs.mujoco."
    )
    return TASKS[kind](inner) if kind in TASKS else None
