"""From Gymnasium to a table."""

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from phenes.rl.rollouts.spaces import World, limit_of, make, name_of, plain
from phenes.rl.tabular.table import Outcome, Table

if TYPE_CHECKING:
    from gymnasium import Env

ARROWS = {"UP": "↑", "RIGHT": "→", "DOWN": "↓", "LEFT": "←"}

# wrappers that look on
WATCHING = {"RecordEpisodeStatistics", "RecordVideo"}


class Scene(NamedTuple):
    """A map to draw a policy on.

    states: at each place; signs: of places where no action is taken (else "").
    """

    title: str
    states: np.ndarray
    signs: np.ndarray


class Environment(NamedTuple):
    """An environment with a transition table.

    Parameters
    ----------
    table : Table
        All there is to know.
    actions : tuple of str
        A sign for each action.
    scenes : tuple of Scene
        Maps of the environment, if there are any.
    """

    table: Table
    actions: tuple[str, ...]
    scenes: tuple[Scene, ...]

    def signs(self, scene: Scene, policy: np.ndarray) -> np.ndarray:
        """What stands at each place of a map.

        Parameters
        ----------
        scene : Scene
            The map.
        policy : ndarray of int, shape (S,)
            The action in each state.

        Returns
        -------
        ndarray of str, shape (r, c)
            The sign of the action, or of the place.
        """
        taken = np.array(self.actions)[np.asarray(policy)[scene.states]]
        return np.where(scene.signs == "", taken, scene.signs)


@runtime_checkable
class HasTable(Protocol):
    """An unwrapped environment of Gymnasium that says what follows each state and action."""

    P: Mapping[int, Mapping[int, Sequence[Outcome]]]
    initial_state_distrib: np.ndarray


def load(env: World, **options: Any) -> Environment:
    """The table of an environment of Gymnasium.

    Parameters
    ----------
    env : str, gymnasium.Env or callable
        The environment, as in `phenes.rl.train`.
    **options
        For `gymnasium.make`: map_name="8x8", is_slippery=False, desc=[...].

    Returns
    -------
    Environment
        With its table, and its maps if it has any.

    Raises
    ------
    ValueError
        If it cannot be made, or has no table.
    """
    made = make(env, options)
    inner, name = made.unwrapped, name_of(made)
    if not isinstance(inner, HasTable):
        raise ValueError(
            f"{name} has no transition table (env.unwrapped.P and initial_state_distrib);"
            " FrozenLake-v1, FrozenLake8x8-v1, CliffWalking-v1, CliffWalkingSlippery-v1 and Taxi-v4"
            " do"
        )
    if not plain(made, WATCHING):
        raise ValueError(
            f"{name} is in a wrapper of which its transition table knows nothing: give it without,"
            " or learn a network (preset='network')"
        )
    if getattr(inner, "fickle_passenger", False):
        raise ValueError(
            f"the table of {name} does not say what fickle_passenger=True does: only"
            " fickle_passenger=False can be used"
        )
    table = Table(
        inner.P,
        inner.initial_state_distrib,
        made.spec.max_episode_steps if made.spec else limit_of(made),
        name,
    )
    return Environment(table, _actions(inner, table), _scenes(inner, table))


def has_table(env: "Env") -> bool:
    """Whether an environment of Gymnasium says what follows each state and action.

    Of one in a wrapper that changes what is seen or paid the table says something else.
    """
    return isinstance(env.unwrapped, HasTable) and plain(env, WATCHING)


def _actions(inner: HasTable, table: Table) -> tuple[str, ...]:
    """Names of the actions: arrows if the environment's module names directions, else numbers."""
    if type(inner).__name__ == "TaxiEnv":
        return ("↓", "↑", "→", "←", "P", "D")
    module = sys.modules.get(type(inner).__module__)
    named = {
        getattr(module, name): arrow
        for name, arrow in ARROWS.items()
        if isinstance(getattr(module, name, None), int)
    }
    return tuple(named.get(a, str(a)) for a in range(table.actions))


def _scenes(inner: HasTable, table: Table) -> tuple[Scene, ...]:
    if type(inner).__name__ == "TaxiEnv":
        return _taxi()
    letters = getattr(inner, "desc", None)
    shape = getattr(letters, "shape", None) or getattr(inner, "shape", ())
    if len(shape) != 2 or shape[0] * shape[1] != table.states:
        return ()
    states = np.arange(table.states).reshape(shape)
    ends = np.zeros(table.states, bool)
    ends[table.next[(table.probability > 0) & table.ends]] = True
    signs = np.where(
        ends,
        "G" if letters is None else np.char.decode(letters).ravel(),
        np.where(table.reachable(), "", "#"),
    )
    return (Scene("", states, signs.reshape(shape)),)


def _taxi() -> tuple[Scene, ...]:
    """Maps of the way to the passenger at each stand, and to each destination.

    The passenger wants to go to the next stand.
    """
    place, stands = np.arange(25).reshape(5, 5), "RGYB"
    signs = np.full((5, 5), "", dtype="<U1")
    fetch = [
        Scene(f"to fetch at {stands[k]}", (place * 5 + k) * 4 + (k + 1) % 4, signs)
        for k in range(4)
    ]
    bring = [Scene(f"to bring to {stands[k]}", (place * 5 + 4) * 4 + k, signs) for k in range(4)]
    return (*fetch, *bring)
