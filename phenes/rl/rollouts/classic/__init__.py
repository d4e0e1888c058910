"""Gymnasium's classic control, written again in JAX: equal step by step.

It is compiled together with the policy.

An environment is a frozen dataclass of its constants, read from the one that Gymnasium made, and
three functions of one individual: first(key, dtype) -> state [k], observe(state) -> obs [o],
step(state, action) -> (state, reward, terminated).
"""

from typing import Protocol

from jax.typing import DTypeLike
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from phenes.rl.rollouts.classic.mountain_car import MountainCar, MountainCarContinuous
from phenes.rl.rollouts.classic.poles import Acrobot, CartPole, Pendulum
from phenes.rl.rollouts.spaces import Unwrapped

__all__ = [
    "Acrobot",
    "CartPole",
    "Environment",
    "MountainCar",
    "MountainCarContinuous",
    "Pendulum",
    "like",
]

CLASSES = {
    "gymnasium.envs.classic_control.cartpole.CartPoleEnv": CartPole,
    "gymnasium.envs.classic_control.pendulum.PendulumEnv": Pendulum,
    "gymnasium.envs.classic_control.acrobot.AcrobotEnv": Acrobot,
    "gymnasium.envs.classic_control.mountain_car.MountainCarEnv": MountainCar,
    "gymnasium.envs.classic_control.continuous_mountain_car.Continuous_MountainCarEnv": (
        MountainCarContinuous
    ),
}


class Environment(Protocol):
    def first(self, key: PRNGKeyArray, dtype: DTypeLike) -> Float[Array, " k"]: ...

    def observe(self, state: Float[Array, " k"]) -> Float[Array, " o"]: ...

    def step(
        self, state: Float[Array, " k"], action: Array
    ) -> tuple[Float[Array, " k"], Float[Array, ""], Bool[Array, ""]]: ...


def like(inner: Unwrapped) -> Environment | None:
    """The environment written here that equals this unwrapped one, or None."""
    kind = CLASSES.get(f"{type(inner).__module__}.{type(inner).__qualname__}")
    return kind.like(inner) if kind else None
