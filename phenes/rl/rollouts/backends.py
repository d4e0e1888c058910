"""Chooses the fastest backend that reproduces the environment of Gymnasium exactly."""

from collections.abc import Callable
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from jaxtyping import Array, PRNGKeyArray

from phenes import _validate
from phenes.rl.rollouts import classic, physics, processes
from phenes.rl.rollouts.compiled import Compiled
from phenes.rl.rollouts.keys import ActingPolicy
from phenes.rl.rollouts.python_envs import Host, Loop, Vector
from phenes.rl.rollouts.spaces import (
    Options,
    Spaces,
    World,
    make,
    name_of,
    of,
    plain,
)
from phenes.rl.rollouts.trajectory import Trajectory
from phenes.rl.rollouts.vectors import AnyWorld, single

if TYPE_CHECKING:
    from gymnasium import Env


class Cluster(Protocol):
    """A client of a cluster, such as that of Dask."""

    @property
    def submit(self) -> Callable[..., object]:
        """(function, *arguments) to a future."""
        ...


Workers: TypeAlias = int | str | Executor | Cluster | None
"""What `phenes.minimize` takes as workers, too."""


class Rollouts(Protocol):
    """Episodes of populations.

    Attributes
    ----------
    spaces : Spaces
        Spaces of the environment.
    compiled : bool
        `play` may be part of a function under `jax.jit` and `jax.vmap`.
    own_seeds : bool
        Individuals with the same initial key start from the same state.
    """

    spaces: Spaces
    compiled: bool
    own_seeds: bool

    def play(
        self,
        policy: ActingPolicy,
        theta: Array,
        keys: PRNGKeyArray,
        deterministic: bool = False,
        initial_keys: PRNGKeyArray | None = None,
    ) -> Trajectory:
        """One episode of each of N individuals.

        Parameters
        ----------
        policy : Policy
            `output(theta, obs) -> out` and `head.sample(key, out)`, `head.mode(out)`,
            `head.to_env(action)`, of one individual.
        theta : array, shape (N, D)
            Parameters of the individuals.
        keys : array of typed keys, shape (N,)
            What happens to individual i, its first state and the noise of its actions, depends on
            keys[i] alone.
        deterministic : bool
            Take the mode of each action.
        initial_keys : array of typed keys, shape (N,), optional
            For the first states instead, so that mirrored pairs can share theirs.

        Returns
        -------
        Trajectory
            Trajectories of the N individuals.
        """
        ...

    def close(self) -> None:
        """Let go of the environment."""
        ...


def check_workers(workers: Workers) -> None:
    """Refuse what cannot be workers, also where they have nothing to do."""
    count = _validate.whole(workers)
    named = isinstance(workers, str) and workers.startswith(("dask://", "ray"))
    works = hasattr(workers, "submit") and not isinstance(workers, type)
    if workers is None or named or works or (count is not None and count >= 1):
        return
    raise ValueError(
        "workers must be None, a number of processes of at least 1, 'dask://host:port', a Dask"
        f" Client, 'ray' or an Executor, got {_validate.quote(workers)}"
    )


def load(
    env: AnyWorld, backend: str | None = None, workers: Workers = None, **options: Any
) -> Rollouts:
    """Rollouts of an environment of Gymnasium, by the fastest backend that is exact for it.

    Parameters
    ----------
    env : str, gymnasium.Env, callable or gymnasium.vector.VectorEnv
        The environment, as in `phenes.rl.train`.
    backend : {"jax", "mujoco", "vector", "gymnasium"}, optional
        Compiled classic control, physics in threads, the environment's own vector form, or
        anything; the first of these that is there if none is given.
    workers : int, str or Executor, optional
        Threads of "mujoco" (as many as there are cores unless given), processes of "gymnasium".
    **options
        For `gymnasium.make`.

    Returns
    -------
    Rollouts
        Rollouts of this environment.

    Raises
    ------
    ValueError
        If Gymnasium cannot make it, or the backend cannot play it.
    """
    if backend is not None and backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, got {backend!r}")
    check_workers(workers)
    world = single(env)
    made = make(world, options)
    for name in BACKENDS if backend is None else (backend,):
        rollouts = BACKENDS[name](made, world, workers, options)
        if rollouts is not None:
            return rollouts
    made.close()
    raise ValueError(
        f"{name_of(world)} cannot be played by the back end {backend!r}; leave it out to get the"
        " fastest that can"
    )


def _compiled(env: "Env", world: World, workers: Workers, options: Options) -> Rollouts | None:
    written = classic.like(env.unwrapped) if plain(env) else None
    return Compiled(written, of(env)) if written else None


def _physics(env: "Env", world: World, workers: Workers, options: Options) -> Rollouts | None:
    if not (workers is None or isinstance(workers, int)):
        return None
    task = physics.like(env.unwrapped) if plain(env) else None
    return Host(physics.Threads(env, task, workers), of(env)) if task else None


def _vector(env: "Env", world: World, workers: Workers, options: Options) -> Rollouts | None:
    if workers is not None or not isinstance(world, str) or env.spec is None:
        return None
    spaces = of(env)
    if env.spec.vector_entry_point is None or (spaces.acts and spaces.acts.parts):
        return None
    env.close()
    return Host(Vector(world, options), spaces)


def _gymnasium(env: "Env", world: World, workers: Workers, options: Options) -> Rollouts:
    spaces = of(env)
    env.close()
    if workers is None or workers == 1:
        return Host(Loop(lambda: make(world, options)), spaces)
    if not isinstance(world, str):
        raise ValueError(
            f"workers must be None for {name_of(env)}, which no id makes: register it with"
            " gymnasium.register and give its id"
        )
    assert env.spec is not None  # made by its id
    return processes.Processes(env.spec, options, spaces, workers)


BACKENDS: dict[str, Callable[..., Rollouts | None]] = {
    "jax": _compiled,
    "mujoco": _physics,
    "vector": _vector,
    "gymnasium": _gymnasium,
}
