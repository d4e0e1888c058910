"""Vector environments of Gymnasium: what they are made of.

Episodes of a population are played side by side anyway, as many as there are individuals, so a
vector environment says which environment is meant and not how many.
"""

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from phenes.rl.rollouts.spaces import World, library, plain

if TYPE_CHECKING:
    from gymnasium import Env
    from gymnasium.vector import VectorEnv

AnyWorld: TypeAlias = "World | VectorEnv"
# wrappers of vectors that change neither what is seen nor what is paid
HARMLESS = {"RecordEpisodeStatistics"}
# options of `gymnasium.make_vec` that are not those of one environment
OF_VECTORS = {"num_envs", "vectorization_mode", "vector_kwargs", "wrappers"}
INSTEAD = (
    "give the id of the environment, one of them, or a function that makes one: train plays as many"
    " side by side as it needs"
)


def single(env: AnyWorld) -> World:
    """What makes one environment of a vector; anything else as it is.

    Parameters
    ----------
    env : str, gymnasium.Env, callable or gymnasium.vector.VectorEnv
        The environment, as in `phenes.rl.train`.

    Returns
    -------
    str, EnvSpec, gymnasium.Env or callable
        An id where that is all there is to say.

    Raises
    ------
    ValueError
        If the vector does not say how one of its environments is made, they are of several kinds,
        or a wrapper of the vector changes what is seen or paid.
    """
    if isinstance(env, str):
        return env
    vector = library().vector
    if not isinstance(env, vector.VectorEnv):
        return cast("World", env)
    inner: Any = env
    while isinstance(inner, vector.VectorWrapper):
        wrapper = type(inner).__name__
        if wrapper not in HARMLESS:
            raise ValueError(
                f"a vector environment in the wrapper {wrapper} cannot be taken apart: wrap a"
                " single environment and give that, or a function that makes it"
            )
        inner = inner.env
    makers = getattr(inner, "env_fns", None)
    return _registered(inner) if makers is None else _made(inner, makers)


def _made(vector: Any, makers: "Sequence[Callable[[], Env]]") -> World:
    """Of environments that functions make, as the synchronous and asynchronous vectors have."""
    kinds = sorted({type(one.unwrapped).__name__ for one in getattr(vector, "envs", ())})
    if len(kinds) > 1:
        raise ValueError(f"a vector of several environments ({', '.join(kinds)}): {INSTEAD}")
    one = makers[0]()
    try:
        spec = one.spec
        if spec is None or not plain(one) or spec.kwargs:
            return makers[0]
        return (
            spec.id if spec.max_episode_steps == library().spec(spec.id).max_episode_steps else spec
        )
    finally:
        one.close()


def _registered(vector: Any) -> World:
    """Of an environment with a vector form of its own, that an id makes."""
    spec = vector.spec
    if spec is None or spec.entry_point is None:
        raise ValueError(
            f"{type(vector).__name__} does not say how one of its environments is made: {INSTEAD}"
        )
    options = {name: value for name, value in spec.kwargs.items() if name not in OF_VECTORS}
    limit = options.pop("max_episode_steps", spec.max_episode_steps)
    if not options and limit == spec.max_episode_steps:
        return spec.id
    one = copy.deepcopy(spec)
    one.kwargs, one.max_episode_steps = options, limit
    return one
