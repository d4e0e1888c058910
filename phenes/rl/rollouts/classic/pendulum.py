"""Swing a pendulum up and hold it."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Pendulum:
    gravity: float
    mass: float
    length: float
    tau: float
    fastest: float
    strongest: float

    @classmethod
    def like(cls, env: Any) -> "Pendulum":
        return cls(float(env.g), env.m, env.l, env.dt, env.max_speed, env.max_torque)

    def first(self, key, dtype):
        """Any angle, with a speed of at most 1."""
        return jax.random.uniform(key, (2,), dtype, -1.0, 1.0) * jnp.asarray([jnp.pi, 1.0], dtype)

    def observe(self, state):
        angle, w = state
        return jnp.stack([jnp.cos(angle), jnp.sin(angle), w])

    def step(self, state, action):
        angle, w = state
        torque = jnp.clip(action[0], -self.strongest, self.strongest)
        upright = (angle + jnp.pi) % (2 * jnp.pi) - jnp.pi
        cost = upright**2 + 0.1 * w**2 + 0.001 * torque**2
        turning = (
            3 * self.gravity / (2 * self.length) * jnp.sin(angle)
            + 3 / (self.mass * self.length**2) * torque
        )
        w = jnp.clip(w + turning * self.tau, -self.fastest, self.fastest)
        return jnp.stack([angle + w * self.tau, w]), -cost, jnp.zeros((), bool)
