"""Small environments of all kinds."""

from typing import ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

OBSERVATIONS = {
    "box": spaces.Box(-9, 9, (2,), np.float32),
    "discrete": spaces.Discrete(9),
    "dict": spaces.Dict(
        where=spaces.Discrete(9, start=-4), when=spaces.Box(0, 99, (2, 1), np.float32)
    ),
    "tuple": spaces.Tuple((spaces.Discrete(9, start=-4), spaces.MultiBinary(3))),
    "multi": spaces.MultiDiscrete([9, 21], start=[-4, 0]),
    "pixels": spaces.Box(0, 255, (3, 2, 1), np.uint8),
    "huge": spaces.Box(0, 255, (210, 160, 3), np.uint8),
    "graph": spaces.Sequence(spaces.Discrete(2)),
    "text": spaces.Text(5),
    "nothing": spaces.Box(0, 1, (0,)),
}
ACTIONS = {
    "two": spaces.Discrete(2, start=1),
    "box": spaces.Box(-1, 1, (1, 2), np.float32),
    "many": spaces.MultiDiscrete([3, 2], start=[0, 1]),
    "bits": spaces.MultiBinary(2),
    "whole": spaces.Box(0, 3, (1,), np.int64),
    "mixed": spaces.Dict(
        speed=spaces.Box(0, np.inf, (), np.float64),
        way=spaces.Tuple((spaces.Discrete(2, start=1), spaces.MultiBinary(1))),
        turn=spaces.Box(-1, 1, (1, 2), np.float32),
    ),
    "boxes": spaces.Tuple((spaces.Box(-1, 1, (1, 2), np.float32), spaces.Box(0, 9, (1,)))),
    "choices": spaces.Tuple((spaces.Discrete(2, start=1), spaces.MultiDiscrete([3]))),
    "none": spaces.MultiDiscrete([1, 1]),
}


class Walk(gymnasium.Env):
    """A walk on the line from 0: it ends at +-3, and a walker may be caught earlier, after `caught`
    steps (truncated).

    fails: the step in which a walker whose seed is even fails. strict: steps after the end are an
    error.
    """

    def __init__(self, observation="box", action="two", caught=None, fails=None):
        self.observation_space, self.action_space = OBSERVATIONS[observation], ACTIONS[action]
        self.observation, self.caught, self.fails = observation, caught, fails
        self.over = True

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.t, self.over, self.seed = int(self.np_random.integers(-1, 2)), 0, False, seed
        return self._seen(), {}

    def step(self, action):
        assert not self.over, "a step after the end"
        assert self.action_space.contains(action), f"{action!r} is not an action"
        if self.t == self.fails and self.seed % 2 == 0:
            raise ZeroDivisionError("the ground gave way")
        self.x, self.t = self.x + (1 if self._forward(action) else -1), self.t + 1
        terminated, truncated = abs(self.x) >= 3, self.t == self.caught
        self.over = terminated or truncated
        return self._seen(), float(self.x), terminated, truncated, {}

    def _forward(self, action):
        if isinstance(action, dict):
            return action["way"][0] == 2
        if isinstance(action, tuple):
            return action[0] == 2 if isinstance(action[0], int) else action[0][0, 1] > 0
        if isinstance(self.action_space, spaces.Discrete):
            return action == 2
        if isinstance(self.action_space, spaces.MultiDiscrete):
            return action[1] == 2
        return action[1] == 1 if action.dtype == np.int8 else action[0, 1] > 0

    def _seen(self):
        return {
            "box": np.array([self.x, self.t], np.float32),
            "discrete": self.x + 4,
            "dict": {"where": self.x, "when": np.array([[self.t], [1]], np.float32)},
            "tuple": (self.x, np.array([self.t % 2, self.x > 0, 1], np.int8)),
            "multi": np.array([self.x, self.t]),
            "pixels": np.full((3, 2, 1), 50 + self.x, np.uint8),
        }[self.observation]


class Echo(gymnasium.Env):
    """What is paid are real numbers that depend on every digit of the actions, for 7 to 12 steps.

    seeds: those with which one of this class was reset. broken: what is paid is NaN.
    """

    seeds: ClassVar[list[int]] = []
    observation_space, action_space = spaces.Box(-9, 9, (5,)), spaces.Box(-2, 3, (3,))

    def __init__(self, broken=False):
        self.broken = broken

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        Echo.seeds.append(seed)
        self.left, self.seen = int(self.np_random.integers(7, 13)), np.ones(5, np.float32)
        return self.seen, {}

    def step(self, action):
        paid, self.left = float(np.sum(self.seen[:3] * action)) / 3, self.left - 1
        noise = self.np_random.normal(size=5)
        self.seen = (0.9 * self.seen + 0.1 * np.sum(action) + noise).astype(np.float32)
        return self.seen, np.nan if self.broken else paid, self.left == 0, False, {}


def _vector(mode):
    def make(num_envs, max_episode_steps=None, **options):
        limited = lambda: gymnasium.wrappers.TimeLimit(Walk(**options), max_episode_steps)  # noqa: E731
        return SyncVectorEnv([limited] * num_envs, autoreset_mode=mode)

    return make


gymnasium.register("tests/Walk-v0", "tests.rl.rollouts.worlds:Walk", max_episode_steps=20)
gymnasium.register("tests/Echo-v0", "tests.rl.rollouts.worlds:Echo", max_episode_steps=20)
gymnasium.register("tests/Endless-v0", "tests.rl.rollouts.worlds:Walk")
for mode in AutoresetMode:
    gymnasium.register(
        f"tests/Walk{mode.name.title().replace('_', '')}-v0",
        Walk,
        vector_entry_point=_vector(mode),
        max_episode_steps=20,
    )
