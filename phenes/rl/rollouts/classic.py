"""Gymnasium's classic control, written again in JAX: equal step by step.

It is compiled together with the policy.

An environment is a frozen dataclass of its constants, read from the one that Gymnasium made, and
three functions of one individual: first(key, dtype) -> state [k], observe(state) -> obs [o],
step(state, action) -> (state, reward, terminated).
"""

from dataclasses import dataclass
from typing import Protocol, Self

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from phenes.rl.rollouts.spaces import Unwrapped


class Environment(Protocol):
    def first(self, key: PRNGKeyArray, dtype: DTypeLike) -> Float[Array, " k"]: ...

    def observe(self, state: Float[Array, " k"]) -> Float[Array, " o"]: ...

    def step(
        self, state: Float[Array, " k"], action: Array
    ) -> tuple[Float[Array, " k"], Float[Array, ""], Bool[Array, ""]]: ...


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
    def like(cls, env: Unwrapped) -> "CartPole":
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


@dataclass(frozen=True)
class Acrobot:
    """Masses m, lengths l, centres of mass c, moment of inertia of both links."""

    m1: float
    m2: float
    l1: float
    c1: float
    c2: float
    inertia: float
    tau: float
    fastest: tuple[float, float]
    torques: tuple[float, ...]
    book: bool  # the equations of the book, not those of the paper
    gravity: float = 9.8

    @classmethod
    def like(cls, env: Unwrapped) -> "Acrobot | None":
        if env.torque_noise_max > 0:
            return None
        return cls(
            m1=env.LINK_MASS_1,
            m2=env.LINK_MASS_2,
            l1=env.LINK_LENGTH_1,
            c1=env.LINK_COM_POS_1,
            c2=env.LINK_COM_POS_2,
            inertia=env.LINK_MOI,
            tau=env.dt,
            fastest=(env.MAX_VEL_1, env.MAX_VEL_2),
            torques=tuple(float(t) for t in env.AVAIL_TORQUE),
            book=env.book_or_nips != "nips",
        )

    def first(self, key, dtype):
        return jax.random.uniform(key, (4,), dtype, -0.1, 0.1)

    def observe(self, state):
        a1, a2, w1, w2 = state
        return jnp.stack([jnp.cos(a1), jnp.sin(a1), jnp.cos(a2), jnp.sin(a2), w1, w2])

    def step(self, state, action):
        torque = jnp.asarray(self.torques, state.dtype)[action]
        a1, a2, w1, w2 = self._runge_kutta(state, torque)
        w1, w2 = (jnp.clip(w, -most, most) for w, most in zip((w1, w2), self.fastest, strict=True))
        state = jnp.stack([_wrap(a1), _wrap(a2), w1, w2])
        high = -jnp.cos(state[0]) - jnp.cos(state[0] + state[1]) > 1
        return state, jnp.where(high, 0.0, -1.0).astype(state.dtype), high

    def _runge_kutta(self, s, torque):
        k1 = self._slope(s, torque)
        k2 = self._slope(s + self.tau / 2 * k1, torque)
        k3 = self._slope(s + self.tau / 2 * k2, torque)
        k4 = self._slope(s + self.tau * k3, torque)
        return s + self.tau / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def _slope(self, s, torque):
        """Angular velocities and accelerations, from the Lagrangian of the double pendulum."""
        a1, a2, w1, w2 = s
        sin, cos, arm = jnp.sin(a2), jnp.cos(a2), self.m2 * self.l1 * self.c2
        own = self.m2 * self.c2**2 + self.inertia
        d1 = self.m1 * self.c1**2 + self.m2 * self.l1**2 + 2 * arm * cos + self.inertia + own
        d2 = own + arm * cos
        # cos(a - pi/2) = sin(a): the angles count from hanging straight down
        phi2 = self.m2 * self.c2 * self.gravity * jnp.sin(a1 + a2)
        phi1 = (
            (self.m1 * self.c1 + self.m2 * self.l1) * self.gravity * jnp.sin(a1)
            + phi2
            - arm * (w2**2 + 2 * w1 * w2) * sin
        )
        swing = arm * w1**2 * sin if self.book else jnp.zeros_like(sin)
        second = (torque + d2 / d1 * phi1 - swing - phi2) / (own - d2**2 / d1)
        return jnp.stack([w1, w2, -(d2 * second + phi1) / d1, second])


def _wrap(angle):
    """Wraps an angle to [-pi, pi]; both ends are kept."""
    turns = jnp.maximum(jnp.ceil((jnp.abs(angle) - jnp.pi) / (2 * jnp.pi)), 0)
    return angle - jnp.sign(angle) * turns * 2 * jnp.pi


@dataclass(frozen=True)
class Pendulum:
    gravity: float
    mass: float
    length: float
    tau: float
    fastest: float
    strongest: float

    @classmethod
    def like(cls, env: Unwrapped) -> "Pendulum":
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


@dataclass(frozen=True)
class Valley:
    """A car that is too weak to drive straight out of a valley (Moore 1990)."""

    leftmost: float
    rightmost: float
    fastest: float
    goal: float
    goal_speed: float
    gravity: float
    engine: float  # force of the engine, or its power

    @classmethod
    def of(cls, env: Unwrapped, gravity: float, engine: float, *more: float) -> Self:
        return cls(
            env.min_position,
            env.max_position,
            env.max_speed,
            env.goal_position,
            env.goal_velocity,
            gravity,
            engine,
            *more,
        )

    def first(self, key, dtype):
        return jnp.stack([jax.random.uniform(key, (), dtype, -0.6, -0.4), jnp.zeros((), dtype)])

    def observe(self, state):
        return state

    def move(self, state, push):
        """State after one step, and whether the goal is reached."""
        x, v = state
        v = jnp.clip(v + push - self.gravity * jnp.cos(3 * x), -self.fastest, self.fastest)
        x = jnp.clip(x + v, self.leftmost, self.rightmost)
        v = jnp.where((x <= self.leftmost) & (v < 0), jnp.zeros_like(v), v)
        return jnp.stack([x, v]), (x >= self.goal) & (v >= self.goal_speed)


@dataclass(frozen=True)
class MountainCar(Valley):
    """With three forces."""

    @classmethod
    def like(cls, env: Unwrapped) -> "MountainCar":
        return cls.of(env, env.gravity, env.force)

    def step(self, state, action):
        state, reached = self.move(state, (action - 1).astype(state.dtype) * self.engine)
        return state, jnp.full((), -1.0, state.dtype), reached


@dataclass(frozen=True)
class MountainCarContinuous(Valley):
    """With any force."""

    strongest: float

    @classmethod
    def like(cls, env: Unwrapped) -> "MountainCarContinuous":
        return cls.of(env, 0.0025, env.power, env.max_action)

    def step(self, state, action):
        """The price is that of the action as given, even where it is too strong to be done."""
        force = jnp.clip(action[0], -self.strongest, self.strongest)
        state, reached = self.move(state, force * self.engine)
        return (
            state,
            jnp.where(reached, 100.0, 0.0).astype(state.dtype) - 0.1 * action[0] ** 2,
            reached,
        )


CLASSES = {
    "gymnasium.envs.classic_control.cartpole.CartPoleEnv": CartPole,
    "gymnasium.envs.classic_control.pendulum.PendulumEnv": Pendulum,
    "gymnasium.envs.classic_control.acrobot.AcrobotEnv": Acrobot,
    "gymnasium.envs.classic_control.mountain_car.MountainCarEnv": MountainCar,
    "gymnasium.envs.classic_control.continuous_mountain_car.Continuous_MountainCarEnv": (
        MountainCarContinuous
    ),
}


def like(inner: Unwrapped) -> Environment | None:
    """The environment written here that equals this unwrapped one, or None."""
    kind = CLASSES.get(f"{type(inner).__module__}.{type(inner).__qualname__}")
    return kind.like(inner) if kind else None
