"""A car that is too weak to drive straight out of a valley (Moore 1990).

With three forces, or any force.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from phenes.rl.rollouts.spaces import Unwrapped


@dataclass(frozen=True)
class Valley:
    """What the two have in common."""

    leftmost: float
    rightmost: float
    fastest: float
    goal: float
    goal_speed: float
    gravity: float

    def first(self, key, dtype):
        return jnp.stack([jax.random.uniform(key, (), dtype, -0.6, -0.4), jnp.zeros((), dtype)])

    def move(self, state, push):
        """State after one step, and whether the goal is reached."""
        x, v = state
        v = jnp.clip(v + push - self.gravity * jnp.cos(3 * x), -self.fastest, self.fastest)
        x = jnp.clip(x + v, self.leftmost, self.rightmost)
        v = jnp.where((x <= self.leftmost) & (v < 0), jnp.zeros_like(v), v)
        return jnp.stack([x, v]), (x >= self.goal) & (v >= self.goal_speed)


@dataclass(frozen=True)
class MountainCar:
    valley: Valley
    force: float

    @classmethod
    def like(cls, env: Unwrapped) -> "MountainCar":
        valley = Valley(
            env.min_position,
            env.max_position,
            env.max_speed,
            env.goal_position,
            env.goal_velocity,
            env.gravity,
        )
        return cls(valley, env.force)

    def first(self, key, dtype):
        return self.valley.first(key, dtype)

    def observe(self, state):
        return state

    def step(self, state, action):
        state, reached = self.valley.move(state, (action - 1).astype(state.dtype) * self.force)
        return state, jnp.full((), -1.0, state.dtype), reached


@dataclass(frozen=True)
class MountainCarContinuous:
    valley: Valley
    power: float
    strongest: float

    @classmethod
    def like(cls, env: Unwrapped) -> "MountainCarContinuous":
        valley = Valley(
            env.min_position,
            env.max_position,
            env.max_speed,
            env.goal_position,
            env.goal_velocity,
            0.0025,
        )
        return cls(valley, env.power, env.max_action)

    def first(self, key, dtype):
        return self.valley.first(key, dtype)

    def observe(self, state):
        return state

    def step(self, state, action):
        """The price is that of the action as given, even where it is too strong to be done."""
        force = jnp.clip(action[0], -self.strongest, self.strongest)
        state, reached = self.valley.move(state, force * self.power)
        return (
            state,
            jnp.where(reached, 100.0, 0.0).astype(state.dtype) - 0.1 * action[0] ** 2,
            reached,
        )
