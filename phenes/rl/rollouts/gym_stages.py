"""Stages of Gymnasium: single environments in a loop, or an environment's own vector form."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from phenes.rl.rollouts.python_envs import Step
from phenes.rl.rollouts.spaces import Action, Observation, Options, flattener, library, to_space

if TYPE_CHECKING:
    from gymnasium import Env
    from gymnasium.vector import VectorEnv


class Loop:
    """One environment for each individual, made when first needed.

    None is reset before all have finished.
    """

    own_seeds = True

    def __init__(self, make: "Callable[[], Env]"):
        self.make, self.envs, self.now, self.seeds = make, [make()], 0, [0]
        self.flat, self.unflat = (
            flattener(self.envs[0].observation_space),
            to_space(self.envs[0].action_space),
        )

    def reset(self, seeds: list[int]) -> np.ndarray:
        self.seeds = seeds
        self.envs += [self.make() for _ in range(len(seeds) - len(self.envs))]
        return np.stack(
            [self.flat(self._at(i).reset(seed=seed)[0]) for i, seed in enumerate(seeds)]
        )

    def step(self, who: np.ndarray, actions: np.ndarray) -> Step:
        # the loop holds only what cannot be vectorised
        done = [
            self._at(i).step(self.unflat(action))
            for i, action in zip(who.tolist(), actions, strict=True)
        ]
        obs, reward, terminated, truncated, _ = zip(*done, strict=True)
        return (
            np.stack([self.flat(o) for o in obs]),
            np.array(reward, float),
            np.array(terminated, bool),
            np.array(truncated, bool),
        )

    def where(self) -> str:
        return f"of individual {self.now} (seed {self.seeds[self.now]})"

    def close(self) -> None:
        for env in self.envs:
            env.close()

    def _at(self, i: int) -> "Env":
        self.now = i
        return self.envs[i]


class Vector:
    """An environment that comes in a vector form, and steps all of its parts at all times.

    Those that have finished as well. Most such environments take one seed for all parts. The first
    states then depend on the seeds of the whole population, and two individuals cannot be given the
    same one: own_seeds is False.
    """

    def __init__(self, env_id: str, options: Options):
        self.make = lambda n: library().make_vec(
            env_id, num_envs=n, vectorization_mode="vector_entry_point", **options
        )
        self.env = self.make(1)
        self.flat, self.unflat = (
            flattener(self.env.single_observation_space),
            to_space(self.env.single_action_space),
        )
        self.own_seeds = _takes_many_seeds(self.env)
        self.actions: list[Action] | None = None

    def reset(self, seeds: list[int]) -> np.ndarray:
        if self.env.num_envs != len(seeds):
            self.env.close()
            self.env = self.make(len(seeds))
        seed = (
            seeds
            if self.own_seeds
            else int(np.bitwise_xor.reduce(np.random.SeedSequence(seeds).generate_state(4)))
        )
        obs, _ = self.env.reset(seed=seed)
        self.actions = None
        return self._each(obs)

    def step(self, who: np.ndarray, actions: np.ndarray) -> Step:
        if self.actions is None:
            # all are alive in the first step
            self.actions = [self.unflat(action) for action in actions]
        for i, action in zip(who.tolist(), actions, strict=True):
            self.actions[i] = self.unflat(action)
        obs, reward, terminated, truncated, info = self.env.step(np.stack(self.actions))
        seen, ended = self._each(obs), np.asarray(terminated, bool) | np.asarray(truncated, bool)
        for i in np.flatnonzero(
            ended & np.asarray(info.get("_final_obs", np.zeros(len(ended))), bool)
        ):
            # same-step autoreset: the final observation is in info
            seen[i] = self.flat(info["final_obs"][i])
        self._restart(ended)
        return (
            seen[who],
            np.asarray(reward, float)[who],
            np.asarray(terminated, bool)[who],
            np.asarray(truncated, bool)[who],
        )

    def _restart(self, ended: np.ndarray) -> None:
        """Reset what has finished, where nothing resets by itself: the next step would fail."""
        mode = library().vector.AutoresetMode
        if ended.any() and self.env.metadata.get("autoreset_mode") == mode.DISABLED:
            self.env.reset(options={"reset_mask": ended})

    def _each(self, obs: Observation) -> np.ndarray:
        from gymnasium.vector.utils import iterate

        return np.stack([self.flat(one) for one in iterate(self.env.observation_space, obs)])

    def where(self) -> str:
        return f"of {self.env.num_envs} individuals together"

    def close(self) -> None:
        self.env.close()


def _takes_many_seeds(env: "VectorEnv") -> bool:
    try:
        env.reset(seed=[0])  # pyright: ignore[reportArgumentType]
    except Exception:  # environments raise different errors for a list of seeds
        return False
    return True
