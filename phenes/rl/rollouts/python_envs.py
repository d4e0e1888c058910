"""Environments that run in Python.

All live individuals act together in one compiled call; those that have finished drop out.
"""

import functools
from collections.abc import Callable, Hashable
from typing import Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from phenes.rl.rollouts import keys as individual
from phenes.rl.rollouts.keys import ActingPolicy, Own, Seen
from phenes.rl.rollouts.partial_eval import Early, Late, staged
from phenes.rl.rollouts.spaces import Spaces
from phenes.rl.rollouts.trajectory import Trajectory, of_numpy, padded

FEW = 32  # policies: with fewer, the call itself is what costs time
Step = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class Stage(Protocol):
    """N environments side by side. own_seeds: each is reset with a seed of its own."""

    own_seeds: bool

    def reset(self, seeds: list[int]) -> np.ndarray:
        """Observations [N, o]."""
        ...

    def step(self, who: np.ndarray, actions: np.ndarray) -> Step:
        """Observations [M, o], rewards, terminated and truncated [M] of M individuals.

        After their actions.
        """
        ...

    def where(self) -> str:
        """Text that names the individual whose step failed."""
        ...

    def close(self) -> None: ...


class Host:
    """Rollouts on a stage."""

    compiled = False

    def __init__(self, stage: Stage, spaces: Spaces):
        self.stage, self.spaces, self.own_seeds = stage, spaces, stage.own_seeds

    def play(
        self,
        policy: ActingPolicy,
        theta: Array,
        keys: PRNGKeyArray,
        deterministic: bool = False,
        initial_keys: PRNGKeyArray | None = None,
    ) -> Trajectory:
        """One episode of each individual, see `Rollouts.play`.

        T is the longest episode, rounded up.
        """
        theta, keys, initial = individual.population(theta, keys, initial_keys)
        obs = self._reset(initial)
        log, alive, t = Log(self.spaces, obs, theta.dtype), np.arange(len(theta)), 0
        actors = Actors(policy, theta, keys, bool(deterministic))
        while len(alive) and t < self.spaces.limit:
            action, given = actors(alive, obs, t)
            after, reward, terminated, truncated = self._step(t, alive, given)
            log.add(t, alive, obs, action, reward)
            going = ~(terminated | truncated)
            log.end(alive, after, terminated)
            alive, obs, t = alive[going], after[going], t + 1
        return log.trajectory(t)

    def close(self) -> None:
        self.stage.close()

    def _reset(self, initial: Array) -> np.ndarray:
        seeds = np.asarray(_seeds(initial)).tolist()
        try:
            return self.stage.reset(seeds)
        except Exception as error:
            raise RuntimeError(
                f"{self.spaces.name} could not be reset {self.stage.where()}: {_say(error)}"
            ) from error

    def _step(self, t: int, alive: np.ndarray, actions: np.ndarray) -> Step:
        try:
            return self.stage.step(alive, actions)
        except Exception as error:
            raise RuntimeError(
                f"{self.spaces.name} failed in step {t} {self.stage.where()}: {_say(error)}"
            ) from error


def _say(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


@jax.jit
def _seeds(keys: Array) -> Array:
    """Integer seeds for Gymnasium."""
    return jax.vmap(lambda key: jax.random.bits(individual.initial(key), (), jnp.uint32))(keys)


class Log:
    """Growing arrays with time first, so that memory for later steps is not touched."""

    def __init__(self, spaces: Spaces, obs: np.ndarray, dtype: np.dtype):
        self.size, self.limit, self.dtype = len(obs), spaces.limit, dtype
        self.obs = np.zeros((spaces.limit, *obs.shape), dtype)
        self.action: np.ndarray | None = None
        self.reward = np.zeros((spaces.limit, self.size), dtype)
        self.mask = np.zeros((spaces.limit, self.size), bool)
        self.ended, self.final = np.zeros(self.size, bool), np.zeros(obs.shape, dtype)

    def add(
        self, t: int, who: np.ndarray, obs: np.ndarray, action: np.ndarray, reward: np.ndarray
    ) -> None:
        if self.action is None:
            self.action = np.zeros((self.limit, self.size, *action.shape[1:]), action.dtype)
        self.obs[t, who], self.action[t, who], self.reward[t, who], self.mask[t, who] = (
            obs,
            action,
            reward,
            True,
        )

    def end(self, who: np.ndarray, after: np.ndarray, terminated: np.ndarray) -> None:
        """Records the final observation; a later call overwrites an earlier one."""
        self.final[who], self.ended[who] = after, terminated

    def trajectory(self, longest: int) -> Trajectory:
        kept = padded(longest, self.limit)
        log = (self.obs, self.action, self.reward, self.mask)
        whole = [np.ascontiguousarray(np.moveaxis(v[:kept], 0, 1)) for v in log if v is not None]
        return of_numpy([*whole, self.ended, self.final])


class Actors:
    """Policies of those who are alive.

    The compiled call has few sizes: when three quarters are gone, the rest move closer together.
    """

    def __init__(self, policy: ActingPolicy, theta: Array, keys: PRNGKeyArray, deterministic: bool):
        self.arrays, rest = eqx.partition(policy, eqx.is_array)
        leaves, tree = jax.tree.flatten(rest)
        self.prepare, self.decide = _stages(tree, tuple(leaves), deterministic)
        self.all, self.prepared = (theta, keys), None
        self._gather(np.arange(len(theta)), len(theta))

    def __call__(self, alive: np.ndarray, obs: np.ndarray, t: int) -> tuple[np.ndarray, np.ndarray]:
        """Actions of these, as drawn and as the environment takes them."""
        if 4 * len(alive) <= self.size and self.size > FEW:
            self._gather(alive, 1 << (len(alive) - 1).bit_length())
        (theta, keys), rows = self.near, self.row[alive]
        seen = np.zeros((self.size, obs.shape[1]), theta.dtype)
        seen[rows] = obs
        call = (self.arrays, theta), (seen, keys, np.int32(t))
        self.prepared = self.prepare(*call) if self.prepared is None else self.prepared
        action, given = jax.device_get(self.decide(self.prepared, *call))
        return action[rows], given[rows]

    def _gather(self, who: np.ndarray, size: int) -> None:
        """Gathers individuals into a call of this size, padded with the first."""
        self.size, self.row = size, np.zeros(len(self.all[0]), int)
        self.row[who] = np.arange(len(who))
        index = np.concatenate([who, np.repeat(who[:1], size - len(who))])
        self.near, self.prepared = tuple(whole[index] for whole in self.all), None


@functools.lru_cache(maxsize=32)
def _stages(
    tree: Hashable, leaves: tuple[Hashable, ...], deterministic: bool
) -> tuple[Callable[..., list[Array]], Callable[..., tuple[Array, Array]]]:
    """Compiled once for each kind of policy: its arrays change, and are arguments."""
    act = individual.actor(jax.tree.unflatten(tree, leaves), deterministic)

    def parts(own: Own, seen: Seen) -> tuple[Early[Own], Late[Seen, tuple[Array, Array]]]:
        (arrays, theta), (obs, keys, t) = own, seen
        return staged(act, (arrays, theta[0]), (obs[0], keys[0], t))

    def prepare(own: Own, seen: Seen) -> list[Array]:
        return jax.vmap(parts(own, seen)[0], ((None, 0),))(own)

    def decide(prepared: list[Array], own: Own, seen: Seen) -> tuple[Array, Array]:
        return jax.vmap(parts(own, seen)[1], (0, (0, 0, None)))(prepared, seen)

    return jax.jit(prepare), jax.jit(decide)
