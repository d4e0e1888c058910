"""Populations in parts, each played in a process of its own.

Parts know nothing of each other: the result is that of one process.
"""

import copy
import threading
from concurrent.futures import Executor
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from phenes.execution import executor
from phenes.rl.rollouts import keys as individual
from phenes.rl.rollouts import serialise
from phenes.rl.rollouts.python_envs import Host, Loop
from phenes.rl.rollouts.spaces import Options, Spaces, make
from phenes.rl.rollouts.trajectory import Trajectory, of_numpy

if TYPE_CHECKING:
    from gymnasium.envs.registration import EnvSpec

    from phenes.rl.rollouts.backends import Workers

PARTS = 2  # parts for each worker, as episodes differ in length
_here: dict[str, Host] = {}  # environments of this process, kept from one generation to the next


class Processes:
    """Rollouts on worker processes, or on any Executor."""

    compiled = False
    own_seeds = True

    def __init__(self, spec: "EnvSpec", options: Options, spaces: Spaces, workers: "Workers"):
        self.executor, self.spaces = executor(workers), spaces
        self.job = spec, options, spaces
        self.parts = (
            PARTS * workers
            if isinstance(workers, int)
            else PARTS * getattr(workers, "_max_workers", 4)
        )

    def on(self, executor: Executor) -> "Processes":
        """The same rollouts on other workers."""
        other = copy.copy(self)
        other.executor = executor
        return other

    def play(
        self,
        policy: individual.ActingPolicy,
        theta: Array,
        keys: PRNGKeyArray,
        deterministic: bool = False,
        initial_keys: PRNGKeyArray | None = None,
    ) -> Trajectory:
        """One episode of each individual, see `Rollouts.play`."""
        theta, keys, initial = individual.population(theta, keys, initial_keys)
        double, impl = jnp.result_type(float) == jnp.float64, str(jax.random.key_impl(keys))
        data = [
            np.asarray(v) for v in (theta, jax.random.key_data(keys), jax.random.key_data(initial))
        ]
        parts = list(
            zip(*(np.array_split(v, min(self.parts, len(theta))) for v in data), strict=True)
        )
        rest = (
            serialise.pack(serialise.without_arrays(policy)),
            serialise.arrays(policy),
            bool(deterministic),
            double,
            impl,
        )
        assert self.executor is not None
        return _join(
            list(
                self.executor.map(
                    _part, *zip(*((*self.job, part, *rest) for part in parts), strict=True)
                )
            )
        )

    def close(self) -> None:
        """The processes are shared by the whole program, and end when they are idle."""


def _part(
    spec: "EnvSpec",
    options: Options,
    spaces: Spaces,
    part: tuple[np.ndarray, np.ndarray, np.ndarray],
    policy: bytes,
    own: list[np.ndarray],
    deterministic: bool,
    *rest: *tuple[bool, str],
) -> Trajectory:
    """Plays one part on a worker. policy: without its arrays, which are in `own`."""
    double, impl = rest
    with jax.enable_x64(double):
        name = repr((threading.get_ident(), spec, options))
        if name not in _here:
            _here[name] = Host(Loop(lambda: make(spec, options)), spaces)
        theta, keys, initial = (
            jnp.asarray(part[0]),
            *(jax.random.wrap_key_data(jnp.asarray(v), impl=impl) for v in part[1:]),
        )
        return _here[name].play(
            serialise.filled(serialise.opened(policy), own), theta, keys, deterministic, initial
        )


def _join(parts: list[Trajectory]) -> Trajectory:
    longest = max(part.mask.shape[1] for part in parts)

    def wide(leaf: Array) -> np.ndarray:
        return np.pad(leaf, [(0, 0), (0, longest - leaf.shape[1])] + [(0, 0)] * (leaf.ndim - 2))

    even = [of_numpy([*(wide(v) for v in part[:4]), *map(np.asarray, part[4:])]) for part in parts]
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *even)
