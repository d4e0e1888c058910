"""The MuJoCo environments of Gymnasium without their physics, for many at once.

What is seen, what it is worth, and when it is over.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from phenes.rl.rollouts.spaces import Unwrapped

Read = dict[str, np.ndarray]  # fields of MjData, [M, ...]
Outcome = tuple[np.ndarray, np.ndarray, np.ndarray]


def nothing(now: Read) -> None:
    return None


class Task(NamedTuple):
    """judge(before, now, action) -> observations [M, o], rewards [M], terminated [M].

    fields: of MjData, as `judge` needs them after a step. before: what it needs from before the
    step, computed from `early` fields.
    forces: `now` holds contact forces, which MuJoCo computes only when asked.
    """

    judge: Callable[[Any, Read, np.ndarray], Outcome]
    fields: tuple[str, ...] = ("qpos", "qvel")
    before: Callable[[Read], Any] = nothing
    early: tuple[str, ...] = ()
    forces: bool = False


def squares(values: np.ndarray) -> np.ndarray:
    """Sum of squares of each row, in its precision: actions are single, as in Gymnasium."""
    return np.sum(np.square(values.reshape(len(values), -1)), axis=1)


def within(low: float, values: np.ndarray, high: float) -> np.ndarray:
    return (low < values) & (values < high)


def never(m: int) -> np.ndarray:
    return np.zeros(m, bool)


# swimmer to humanoid: forward speed, less what it costs, plus a bonus for staying upright


def swimmer(env: Unwrapped) -> Task:
    return _runner(env, skipped=2)


def half_cheetah(env: Unwrapped) -> Task:
    return _runner(env, skipped=1)


def hopper(env: Unwrapped) -> Task:
    def healthy(now: Read) -> np.ndarray:
        state = np.concatenate([now["qpos"], now["qvel"]], axis=1)[:, 2:]
        low, high = env._healthy_state_range
        upright = within(env._healthy_z_range[0], now["qpos"][:, 1], env._healthy_z_range[1])
        straight = within(
            env._healthy_angle_range[0], now["qpos"][:, 2], env._healthy_angle_range[1]
        )
        return np.all(within(low, state, high), axis=1) & upright & straight

    return _runner(env, 1, healthy, fastest=10)


def walker(env: Unwrapped) -> Task:
    def healthy(now: Read) -> np.ndarray:
        upright = within(env._healthy_z_range[0], now["qpos"][:, 1], env._healthy_z_range[1])
        return upright & within(
            env._healthy_angle_range[0], now["qpos"][:, 2], env._healthy_angle_range[1]
        )

    return _runner(env, 1, healthy, fastest=10)


def _runner(
    env: Unwrapped,
    skipped: int,
    healthy: Callable[[Read], np.ndarray] | None = None,
    fastest: float = np.inf,
) -> Task:
    """Planar: x is the first coordinate.

    skipped: coordinates of the position that are not seen. fastest: speed that is seen.
    """
    first = skipped if env._exclude_current_positions_from_observation else 0

    def judge(before: np.ndarray, now: Read, action: np.ndarray) -> Outcome:
        obs = np.concatenate(
            [now["qpos"][:, first:], np.clip(now["qvel"], -fastest, fastest)], axis=1
        )
        reward = env._forward_reward_weight * ((now["qpos"][:, 0] - before) / env.dt)
        ended = never(len(obs))
        if healthy is not None:
            well = healthy(now)
            reward, ended = (
                reward + well * env._healthy_reward,
                ~well & env._terminate_when_unhealthy,
            )
        return obs, reward - env._ctrl_cost_weight * squares(action), ended

    return Task(judge, before=lambda now: now["qpos"][:, 0], early=("qpos",))


def ant(env: Unwrapped) -> Task:
    body = env.data.body(env._main_body).id
    first = 2 if env._exclude_current_positions_from_observation else 0

    def judge(before: np.ndarray, now: Read, action: np.ndarray) -> Outcome:
        force = np.clip(now["cfrc_ext"], *env._contact_force_range)
        seen = [now["qpos"][:, first:], now["qvel"]]
        if env._include_cfrc_ext_in_observation:
            seen.append(force[:, 1:].reshape(len(force), -1))
        state, z = np.concatenate([now["qpos"], now["qvel"]], axis=1), now["qpos"][:, 2]
        well = (
            np.isfinite(state).all(axis=1)
            & (env._healthy_z_range[0] <= z)
            & (z <= env._healthy_z_range[1])
        )
        speed = (now["xpos"][:, body, 0] - before) / env.dt
        gain = speed * env._forward_reward_weight + well * env._healthy_reward
        cost = env._ctrl_cost_weight * squares(action) + env._contact_cost_weight * squares(force)
        return np.concatenate(seen, axis=1), gain - cost, ~well & env._terminate_when_unhealthy

    fields = ("qpos", "qvel", "xpos", "cfrc_ext")
    return Task(judge, fields, lambda now: now["xpos"][:, body, 0], ("xpos",), forces=True)


def humanoid(env: Unwrapped) -> Task:
    mass = env.model.body_mass

    def centre(now: Read) -> np.ndarray:
        return np.einsum("b,mb->m", mass, now["xipos"][..., 0]) / mass.sum()

    def judge(before: np.ndarray, now: Read, action: np.ndarray) -> Outcome:
        well = within(env._healthy_z_range[0], now["qpos"][:, 2], env._healthy_z_range[1])
        gain = (
            env._forward_reward_weight * ((centre(now) - before) / env.dt)
            + well * env._healthy_reward
        )
        contact = np.clip(
            env._contact_cost_weight * squares(now["cfrc_ext"]), *env._contact_cost_range
        )
        cost = env._ctrl_cost_weight * squares(action.astype(float)) + contact
        return _whole_body(env, now), gain - cost, ~well & env._terminate_when_unhealthy

    return Task(judge, (*BODY, "xipos"), centre, ("xipos",), forces=True)


def humanoid_standup(env: Unwrapped) -> Task:
    """How high the head got, in each step."""

    def judge(before: None, now: Read, action: np.ndarray) -> Outcome:
        height = now["qpos"][:, 2] / env.model.opt.timestep
        impact = np.clip(
            env._impact_cost_weight * squares(now["cfrc_ext"]), *env._impact_cost_range
        )
        reward = height - env._ctrl_cost_weight * squares(action.astype(float)) - impact + 1
        return _whole_body(env, now), reward, never(len(reward))

    return Task(judge, BODY, forces=True)


BODY = ("qpos", "qvel", "cinert", "cvel", "qfrc_actuator", "cfrc_ext")


def _whole_body(env: Unwrapped, now: Read) -> np.ndarray:
    m, first = len(now["qpos"]), 2 if env._exclude_current_positions_from_observation else 0
    seen = [now["qpos"][:, first:], now["qvel"]]
    seen += [now["cinert"][:, 1:]] if env._include_cinert_in_observation else []
    seen += [now["cvel"][:, 1:]] if env._include_cvel_in_observation else []
    seen += [now["qfrc_actuator"][:, 6:]] if env._include_qfrc_actuator_in_observation else []
    seen += [now["cfrc_ext"][:, 1:]] if env._include_cfrc_ext_in_observation else []
    return np.concatenate([part.reshape(m, -1) for part in seen], axis=1)


# poles to balance and arms that reach and push


def inverted_pendulum(env: Unwrapped) -> Task:
    def judge(before: None, now: Read, action: np.ndarray) -> Outcome:
        obs = np.concatenate([now["qpos"], now["qvel"]], axis=1)
        fallen = ~np.isfinite(obs).all(axis=1) | (np.abs(obs[:, 1]) > 0.2)
        return obs, (~fallen).astype(float), fallen

    return Task(judge)


def inverted_double_pendulum(env: Unwrapped) -> Task:
    def judge(before: None, now: Read, action: np.ndarray) -> Outcome:
        angles, w = now["qpos"][:, 1:], now["qvel"]
        limit = np.clip(now["qfrc_constraint"], -10, 10)[:, :1]
        obs = np.concatenate(
            [now["qpos"][:, :1], np.sin(angles), np.cos(angles), np.clip(w, -10, 10), limit], axis=1
        )
        x, y = now["site_xpos"][:, 0, 0], now["site_xpos"][:, 0, 2]
        fallen = y <= 1
        distance, speed = 0.01 * x**2 + (y - 2) ** 2, 1e-3 * w[:, 1] ** 2 + 5e-3 * w[:, 2] ** 2
        return obs, env._healthy_reward * ~fallen - distance - speed, fallen

    return Task(judge, ("qpos", "qvel", "qfrc_constraint", "site_xpos"))


def reacher(env: Unwrapped) -> Task:
    tip, target = (env.data.body(name).id for name in ("fingertip", "target"))

    def judge(before: None, now: Read, action: np.ndarray) -> Outcome:
        angles, gap = now["qpos"][:, :2], now["xpos"][:, tip] - now["xpos"][:, target]
        obs = np.concatenate(
            [np.cos(angles), np.sin(angles), now["qpos"][:, 2:], now["qvel"][:, :2], gap[:, :2]],
            axis=1,
        )
        reward = (
            -np.linalg.norm(gap, axis=1) * env._reward_dist_weight
            - squares(action) * env._reward_control_weight
        )
        return obs, reward, never(len(obs))

    return Task(judge, ("qpos", "qvel", "xpos"))


def pusher(env: Unwrapped) -> Task:
    tip, thing, goal = (env.data.body(name).id for name in ("tips_arm", "object", "goal"))

    def judge(before: None, now: Read, action: np.ndarray) -> Outcome:
        places = [now["xpos"][:, body] for body in (tip, thing, goal)]
        obs = np.concatenate([now["qpos"][:, :7], now["qvel"][:, :7], *places], axis=1)
        near = -np.linalg.norm(places[1] - places[0], axis=1) * env._reward_near_weight
        far = -np.linalg.norm(places[1] - places[2], axis=1) * env._reward_dist_weight
        return obs, far - squares(action) * env._reward_control_weight + near, never(len(obs))

    return Task(judge, ("qpos", "qvel", "xpos"))


TASKS = {
    "swimmer_v5.SwimmerEnv": swimmer,
    "half_cheetah_v5.HalfCheetahEnv": half_cheetah,
    "hopper_v5.HopperEnv": hopper,
    "walker2d_v5.Walker2dEnv": walker,
    "ant_v5.AntEnv": ant,
    "humanoid_v5.HumanoidEnv": humanoid,
    "humanoidstandup_v5.HumanoidStandupEnv": humanoid_standup,
    "inverted_pendulum_v5.InvertedPendulumEnv": inverted_pendulum,
    "inverted_double_pendulum_v5.InvertedDoublePendulumEnv": inverted_double_pendulum,
    "reacher_v5.ReacherEnv": reacher,
    "pusher_v5.PusherEnv": pusher,
}


def like(inner: Unwrapped) -> Task | None:
    """What this unwrapped environment does around the physics, or None.

    Of environments that are known here: exactly, not a subclass.
    """
    kind = f"{type(inner).__module__}.{type(inner).__qualname__}".removeprefix(
        "gymnasium.envs.mujoco."
    )
    return TASKS[kind](inner) if kind in TASKS else None
