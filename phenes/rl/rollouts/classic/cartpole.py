"""A pole on a cart (Barto, Sutton and Anderson 1983)."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class CartPole:
    gravity: float
    pole: float  # mass
    mass: float  # of pole and cart
    length: float  # half of the pole's
    force: float
    tau: float
    farthest: float
    steepest: float
    sutton_barto: bool  # reward 0, and -1 at the end, instead of 1 for every step
    implicit: bool  # semi-implicit Euler: positions move with the new velocities

    @classmethod
    def like(cls, env: Any) -> "CartPole":
        return cls(
            gravity=env.gravity,
            pole=env.masspole,
            mass=env.total_mass,
            length=env.length,
            force=env.force_mag,
            tau=env.tau,
            farthest=env.x_threshold,
            steepest=env.theta_threshold_radians,
            sutton_barto=env._sutton_barto_reward,
            implicit=env.kinematics_integrator != "euler",
        )

    def first(self, key, dtype):
        return jax.random.uniform(key, (4,), dtype, -0.05, 0.05)

    def observe(self, state):
        return state

    def step(self, state, action):
        x, v, angle, w = state
        sin, cos = jnp.sin(angle), jnp.cos(angle)
        push = jnp.where(action == 1, self.force, -self.force).astype(state.dtype)
        pull = (push + self.pole * self.length * w**2 * sin) / self.mass
        turning = (self.gravity * sin - cos * pull) / (
            self.length * (4 / 3 - self.pole * cos**2 / self.mass)
        )
        moving = pull - self.pole * self.length * turning * cos / self.mass
        after = v + self.tau * moving, w + self.tau * turning
        used = after if self.implicit else (v, w)
        x, angle, (v, w) = x + self.tau * used[0], angle + self.tau * used[1], after
        fallen = (jnp.abs(x) > self.farthest) | (jnp.abs(angle) > self.steepest)
        reward = jnp.where(fallen, -1.0, 0.0) if self.sutton_barto else jnp.ones(())
        return jnp.stack([x, v, angle, w]), reward.astype(state.dtype), fallen
