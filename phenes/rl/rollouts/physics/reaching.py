"""Poles to balance and arms that reach and push."""

import numpy as np

from phenes.rl.rollouts.physics.task import Outcome, Read, Task, never, squares
from phenes.rl.rollouts.spaces import Unwrapped


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
