"""What a policy has to know of an environment.

The size of what it sees, the kind of what it does, the longest episode.
"""

import copy
import warnings
from collections.abc import Callable, Collection, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np

from phenes._extras import install_hint
from phenes.rl.rollouts import layouts
from phenes.rl.rollouts.layouts import Layout

if TYPE_CHECKING:
    from gymnasium import Env, Space
    from gymnasium.envs.registration import EnvSpec

Options: TypeAlias = dict[str, Any]
"""For `gymnasium.make`."""

Observation: TypeAlias = Any
"""As an environment gives it: a number, an array, or a container of them."""

Unwrapped: TypeAlias = Any
"""An environment without wrappers, of a class that was looked up: its own attributes are read."""

Action: TypeAlias = int | np.ndarray | tuple | dict

# wrappers that change nothing but the length of an episode
PLAIN = {"TimeLimit", "OrderEnforcing", "PassiveEnvChecker"}
World: TypeAlias = "str | EnvSpec | Env | Callable[..., Env]"
"""An environment: its id, its EnvSpec, one that is copied, or a function that makes one."""

LIMIT = "max_episode_steps"  # the option that limits the length of an episode

LARGEST = 20_000  # numbers in an observation; beyond that a dense layer is the wrong tool
LONGEST = 1000  # steps of an episode, where the environment has no limit and none is given


class Spaces(NamedTuple):
    """What a policy has to know of an environment.

    Parameters
    ----------
    name : str
        Id of the environment.
    obs_dim : int
        Numbers in the flattened observation.
    n : int or None
        Number of actions if they are discrete.
    low, high : ndarray, shape (a,), or None
        Bounds of the real numbers of an action, which may be infinite.
    limit : int
        Steps after which an episode is truncated.
    threshold : float or None
        Return at which the environment counts as solved, if it says so.
    sizes : tuple of int or None
        Numbers of choices, if an action is several choices at once.
    observes, acts : Layout or None
        How observations are read and actions written.
    """

    name: str
    obs_dim: int
    n: int | None
    low: np.ndarray | None
    high: np.ndarray | None
    limit: int
    threshold: float | None
    sizes: tuple[int, ...] | None = None
    observes: Layout | None = None
    acts: Layout | None = None

    @property
    def discrete(self) -> bool:
        """Whether actions are choices, if only in part."""
        return self.n is not None or self.sizes is not None

    @property
    def lopsided(self) -> bool:
        """Whether bounds of actions are not symmetric, so that 0 is not their middle."""
        return self.low is not None and bool(np.any(self.low != -np.asarray(self.high)))

    @property
    def action_dim(self) -> int:
        """Coordinates of an action, 1 if it is a choice."""
        if self.n is not None:
            return 1
        return len(self.sizes or ()) + (0 if self.low is None else len(self.low))


def spaces(env: World, **options: Any) -> Spaces:
    """The spaces of an environment of Gymnasium.

    Parameters
    ----------
    env : str, gymnasium.Env or callable
        The environment, as in `phenes.rl.train`.
    **options
        For `gymnasium.make`, or for the function.

    Returns
    -------
    Spaces
        Spaces of the environment.

    Raises
    ------
    ValueError
        If it cannot be made, or sees or does what policies here cannot.
    """
    made = make(env, options)
    try:
        return of(made)
    finally:
        made.close()


def make(env: World, options: Options) -> "Env":
    """An environment of Gymnasium, of whatever `phenes.rl.train` takes.

    By an id without the passive checker, a fifth of the time of a small environment.
    """
    gymnasium = library()
    if isinstance(env, str | gymnasium.envs.registration.EnvSpec):
        return _made(
            lambda: gymnasium.make(env, **{"disable_env_checker": True, **options}),
            f"{env} cannot be made by gymnasium",
        )
    rest = {name: value for name, value in options.items() if name != LIMIT}
    if isinstance(env, gymnasium.Env):
        if rest:
            given = ", ".join(rest)
            raise ValueError(f"options are for an id or a function that makes it, got {given}")
        said = f"{name_of(env)} cannot be copied, so give a function that makes one"
        made = _made(lambda: cast("Env", copy.deepcopy(env)), said)
    elif callable(env):
        made = _made(lambda: env(**rest), f"the environment cannot be made by {env!r}")
    else:
        raise ValueError(
            "the environment must be the id of one, such as 'CartPole-v1', a gymnasium.Env or a"
            f" function that makes one, got {env!r}"
        )
    if not isinstance(made, gymnasium.Env):
        raise ValueError(f"the environment must be a gymnasium.Env, got {made!r} from {env!r}")
    if LIMIT in options:
        made = gymnasium.wrappers.TimeLimit(made, options[LIMIT])
    return made


def _made(make: "Callable[[], Env]", said: str) -> "Env":
    try:
        return make()
    except Exception as error:  # of any kind: the environment's own code runs in here
        raise ValueError(f"{said}: {' '.join(str(error).split())}") from error


def name_of(env: World) -> str:
    """The id of an environment, or the name of its class or function."""
    if isinstance(env, str):
        return env
    spec = getattr(env, "spec", None)
    if spec is not None or hasattr(env, "id"):
        return str(getattr(spec or env, "id"))  # noqa: B009  # an EnvSpec, or what has one
    inner = getattr(env, "unwrapped", env)
    return getattr(inner, "__name__", type(inner).__name__)


def library() -> ModuleType:
    try:
        import gymnasium
    except ImportError:
        raise RuntimeError(
            f"reinforcement learning needs gymnasium: {install_hint('rl')}"
        ) from None
    return gymnasium


def of(env: "Env") -> Spaces:
    """The spaces of an environment, or of one part of a vector environment."""
    spec, name = env.spec, name_of(env)
    for space in ("observation_space", "action_space"):
        if not hasattr(env, space):
            raise ValueError(f"{name} has no {space}, which says what it gives or takes")
    watched = getattr(env, "single_observation_space", env.observation_space)
    acted = getattr(env, "single_action_space", env.action_space)
    limit = limit_of(env) if spec is None else spec.max_episode_steps
    if limit is None:
        # from one place, whoever asks: Python shows it once, not at every look at the spaces
        warnings.warn(
            f"{name} has no step limit, so episodes end after {LONGEST} steps; max_steps gives"
            " another",
            stacklevel=1,
        )
        limit = LONGEST
    observes, acts = layouts.of_space(watched), layouts.of_space(acted)
    n, sizes, low, high = _actions(name, acted, acts)
    return Spaces(
        name,
        _size(name, watched, observes),
        n,
        low,
        high,
        limit,
        None if spec is None else spec.reward_threshold,
        sizes,
        observes,
        acts,
    )


def plain(env: Unwrapped, beside: Collection[str] = ()) -> bool:
    """Whether nothing around an environment changes more than the length of an episode.

    beside: names of other wrappers that do not matter.
    """
    while env is not env.unwrapped:
        if type(env).__name__ not in {*PLAIN, *beside}:
            return False
        env = env.env
    return True


def limit_of(env: Unwrapped) -> int | None:
    """The shortest step limit among the wrappers of an environment that no id made."""
    limits = []
    while env is not env.unwrapped:
        if type(env).__name__ == "TimeLimit":
            limits.append(int(env._max_episode_steps))
        env = env.env
    return min(limits, default=None)


def _size(name: str, space: "Space", layout: Layout | None) -> int:
    if layout is None:
        raise ValueError(
            f"{name} observes {space}, which cannot be flattened to a vector of fixed size"
        )
    if layout.size < 1:
        raise ValueError(f"{name} observes {space}, where there is nothing to see")
    if layout.size > LARGEST:
        raise ValueError(
            f"{name} observes {layout.size} numbers at once, and policies here take up to"
            f" {LARGEST}: wrap it in something smaller"
        )
    return layout.size


def _actions(
    name: str, space: "Space", layout: Layout | None
) -> tuple[int | None, tuple[int, ...] | None, np.ndarray | None, np.ndarray | None]:
    """How many alternatives; or of several choices how many each, and bounds of real numbers."""
    boxes = [] if layout is None else [part for part in _parts(space) if hasattr(part, "high")]
    if layout is None or not all(np.issubdtype(box.dtype, np.floating) for box in boxes):
        raise ValueError(
            f"{name} takes actions from {space}, and policies here choose from Discrete,"
            " MultiDiscrete, MultiBinary or a Box of real numbers, and Tuple or Dict of these"
        )
    sizes = layout.choices
    if layout.reals == 0 and sum(sizes) == len(sizes):
        raise ValueError(f"{name} takes actions from {space}, where there is nothing to choose")
    if layout.kind == "discrete":
        return sizes[0], None, None, None
    if not boxes:
        return None, sizes, None, None
    low, high = (np.concatenate([getattr(b, n).ravel() for b in boxes]) for n in ("low", "high"))
    return None, sizes or None, low, high


def _parts(space: Any) -> "list[Any]":
    """The spaces in a Tuple or Dict, in the order of the leaves of its layout."""
    inner = getattr(space, "spaces", None)
    if inner is None:
        return [space]
    parts = inner.values() if isinstance(inner, Mapping) else inner
    return [leaf for part in parts for leaf in _parts(part)]
