"""Environments that run in Python.

All live individuals act together in one compiled call; those that have finished drop out.
A stage is where they act: single environments of Gymnasium in a loop, or an environment's own
vector form.
"""

import functools
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from phenes.rl.rollouts import keys as individual
from phenes.rl.rollouts import layouts
from phenes.rl.rollouts.keys import ActingPolicy, Own, Seen
from phenes.rl.rollouts.partial_eval import Early, Late, staged
from phenes.rl.rollouts.spaces import (
    Observation,
    Options,
    Spaces,
    library,
)
from phenes.rl.rollouts.trajectory import Trajectory, of_numpy, padded

if TYPE_CHECKING:
    from gymnasium import Env
    from gymnasium.vector import VectorEnv

FEW = 32  # policies: with fewer, the call itself is what costs time
ROWS = 16  # observations of a call of `best`
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
        actors = (
            Alike(policy, theta[0])
            if deterministic and _all_one(theta)
            else Actors(policy, theta, keys, bool(deterministic))
        )
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
            return self._seen(self.stage.reset(seeds))
        except Exception as error:
            raise RuntimeError(
                f"{self.spaces.name} could not be reset {self.stage.where()}: {_say(error)}"
            ) from error

    def _step(self, t: int, alive: np.ndarray, actions: np.ndarray) -> Step:
        try:
            obs, reward, terminated, truncated = self.stage.step(alive, actions)
            return self._seen(obs), reward, terminated, truncated
        except Exception as error:
            raise RuntimeError(
                f"{self.spaces.name} failed in step {t} {self.stage.where()}: {_say(error)}"
            ) from error

    def _seen(self, obs: np.ndarray) -> np.ndarray:
        if obs.shape[1] != self.spaces.obs_dim:
            raise ValueError(
                f"the observation has {obs.shape[1]} numbers, and by its observation_space"
                f" {self.spaces.obs_dim}"
            )
        return obs


def _say(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


@jax.jit
def _seeds(keys: Array) -> Array:
    """Integer seeds for Gymnasium."""
    return jax.vmap(lambda key: jax.random.bits(individual.initial(key), (), jnp.uint32))(keys)


class Log:
    """Growing arrays with time first, so that memory for later steps is not touched.

    Rewards keep the precision in which the environment pays them: a return is what a plain loop
    adds up.
    """

    def __init__(self, spaces: Spaces, obs: np.ndarray, dtype: np.dtype):
        self.size, self.limit, self.dtype = len(obs), spaces.limit, dtype
        self.obs = np.zeros((spaces.limit, *obs.shape), dtype)
        self.action: np.ndarray | None = None
        self.reward = np.zeros((spaces.limit, self.size))
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
    """Policies of the episodes that have not ended.

    The compiled call has few batch sizes: when three quarters have ended, the rest are compacted.
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


class Alike:
    """One policy in all episodes, with its best actions: it acts as `Trained.predict` does."""

    def __init__(self, policy: ActingPolicy, theta: Array):
        self.policy, self.theta = policy, theta

    def __call__(self, alive: np.ndarray, obs: np.ndarray, t: int) -> tuple[np.ndarray, np.ndarray]:
        """Actions of these, as chosen and as the environment takes them."""
        blocks = [
            best(self.policy, self.theta, obs[k : k + ROWS]) for k in range(0, len(obs), ROWS)
        ]
        action, given = (np.concatenate(each) for each in zip(*blocks, strict=True))
        return action, given


def _all_one(theta: Array) -> bool:
    rows = np.asarray(theta)
    return bool(np.all(rows == rows[:1]))


def best(
    policy: ActingPolicy, theta: Array, obs: Float[np.ndarray, "r o"]
) -> tuple[np.ndarray, np.ndarray]:
    """The best actions for up to `ROWS` observations, as chosen and as the environment takes them.

    A row has the same action, to the last bit, whatever the others are and however many: they are
    taken one by one by one program. In a product of matrices it would depend on their number.
    """
    seen = np.zeros((ROWS, obs.shape[1]), theta.dtype)
    seen[: len(obs)] = obs
    action, given = jax.device_get(_row_by_row(policy, theta, seen, np.int32(len(obs))))
    return action[: len(obs)], given[: len(obs)]


@eqx.filter_jit
def _row_by_row(
    policy: ActingPolicy,
    theta: Array,
    obs: Array | Float[np.ndarray, "r o"],
    n: Int[Array, ""] | np.integer,
) -> tuple[Array, Array]:
    def act(row: Float[Array, " o"]) -> tuple[Array, Array]:
        action = policy.head.mode(policy.output(theta, row))
        return action, policy.head.to_env(action)

    def one(k: Array, out: tuple[Array, Array]) -> tuple[Array, Array]:
        return jax.tree.map(lambda rows, row: rows.at[k].set(row), out, act(obs[k]))

    shapes = jax.eval_shape(act, obs[0])
    none = jax.tree.map(lambda row: jnp.zeros((ROWS, *row.shape), row.dtype), shapes)
    return lax.fori_loop(0, n, one, none)


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


class Loop:
    """One environment for each individual, made when first needed.

    None is reset before all have finished.
    """

    own_seeds = True

    def __init__(self, make: "Callable[[], Env]"):
        self.make, self.envs, self.now, self.seeds = make, [make()], 0, [0]
        self.flat, self.unflat = layouts.both(
            self.envs[0].observation_space, self.envs[0].action_space
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
            # some give arrays of one number
            np.array(reward, float).reshape(len(done)),
            np.array(terminated, bool).reshape(len(done)),
            np.array(truncated, bool).reshape(len(done)),
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
        self.flat, self.unflat = layouts.both(
            self.env.single_observation_space, self.env.single_action_space
        )
        self.own_seeds = _takes_many_seeds(self.env)
        self.actions: list[int | np.ndarray] | None = None

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
