"""Swimmer, HalfCheetah, Hopper, Walker2d, Ant, Humanoid.

Forward speed, less what it costs, plus a bonus for staying upright.
"""

from collections.abc import Callable

import numpy as np

from phenes.rl.rollouts.physics.task import Outcome, Read, Task, never, squares, within
from phenes.rl.rollouts.spaces import Unwrapped


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
