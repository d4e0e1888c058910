"""An environment as its transition table.

What follows state s and action a, with which probability, at what reward.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar

import equinox as eqx
import numpy as np
import numpy.typing as npt
from jaxtyping import Bool, Float, Int

from phenes import _validate

Outcome = tuple[float, int, float, bool]  # probability, next state, reward, is it the end
T = TypeVar("T")
Numbered: TypeAlias = Mapping[int, T] | Sequence[T]
Transitions: TypeAlias = Numbered[Numbered[Sequence[Outcome]]]
SLACK = 1e-9  # tolerance for probabilities that should sum to 1


class Table(eqx.Module):
    """An environment as its transition table: S states, A actions, up to K outcomes of each.

    Outcomes of probability 0 fill up the rows. Arrays are NumPy's, in double precision whatever JAX
    computes in: a third is a third here, and values without a limit need that.

    Parameters
    ----------
    transitions : mapping or sequence
        transitions[s][a] lists the outcomes (probability, next state, reward, end), as
        `env.unwrapped.P` of Gymnasium does.
    start : array_like, shape (S,), or int
        The law of the first state, or that state.
    limit : int, optional
        Steps after which an episode is cut off; None if it is not.
    name : str
        Name of the environment.

    Raises
    ------
    ValueError
        If the transitions are no table of probabilities.
    """

    next: Int[np.ndarray, "s a k"]
    probability: Float[np.ndarray, "s a k"]
    reward: Float[np.ndarray, "s a k"]
    ends: Bool[np.ndarray, "s a k"]
    start: Float[np.ndarray, " s"]
    limit: int | None = eqx.field(static=True)
    name: str = eqx.field(static=True)

    def __init__(
        self,
        transitions: Transitions,
        start: npt.ArrayLike,
        limit: int | None = None,
        name: str = "table",
    ):
        rows = _rows(transitions)
        sizes = {len(row) for row in rows}
        if not rows or len(sizes) != 1 or 0 in sizes:
            raise ValueError(
                "transitions must list the same actions, at least one, for every state, got"
                f" {sorted(sizes)} of them"
            )
        merged = [
            [
                _merge(outcomes, len(rows), f"state {s}, action {a}")
                for a, outcomes in enumerate(row)
            ]
            for s, row in enumerate(rows)
        ]
        most = max(len(outcomes) for row in merged for outcomes in row)
        # padded with the last outcome at probability 0: if probabilities sum to less than 1 by
        # rounding, a valid outcome is chosen
        columns = [[[*o, *[(0.0, *o[-1][1:])] * (most - len(o))] for o in row] for row in merged]
        chance, follow, reward, ends = (
            np.array([[[o[k] for o in cell] for cell in row] for row in columns]) for k in range(4)
        )
        self.probability, self.reward = chance.astype(float), reward.astype(float)
        self.next, self.ends = follow.astype(np.int32), ends.astype(bool)
        self.start = _start(start, len(rows))
        self.limit = None if limit is None else _validate.count("limit", limit)
        self.name = name

    @property
    def states(self) -> int:
        """S."""
        return self.next.shape[0]

    @property
    def actions(self) -> int:
        """A."""
        return self.next.shape[1]

    @property
    def outcomes(self) -> int:
        """K."""
        return self.next.shape[2]

    def limited(self, limit: int | None) -> "Table":
        """The same table with another step limit.

        Parameters
        ----------
        limit : int or None
            Steps; None for no limit.

        Returns
        -------
        Table
            A table with this limit.
        """
        other = object.__new__(Table)  # what was checked once is not checked again
        for field in dataclasses.fields(self):
            object.__setattr__(other, field.name, getattr(self, field.name))
        object.__setattr__(
            other, "limit", None if limit is None else _validate.count("limit", limit)
        )
        return other

    def reachable(self) -> np.ndarray:
        """Which states an episode can get to, by any policy, and act in.

        The end of it is not one of them.

        Returns
        -------
        ndarray of bool, shape (S,)
            True for these.
        """
        seen = self.start > 0
        while True:
            more = seen.copy()
            more[self.next[seen][(self.probability[seen] > 0) & ~self.ends[seen]]] = True
            if np.array_equal(more, seen):
                return seen
            seen = more


def _rows(transitions: Transitions) -> list[list[Sequence[Outcome]]]:
    """Dictionaries by number, or lists, as lists."""
    try:
        return [_in_order(row) for row in _in_order(transitions)]
    except (TypeError, KeyError):
        raise ValueError(
            "transitions must be transitions[state][action] -> list of outcomes, got"
            f" {type(transitions).__name__}"
        ) from None


def _in_order(values: Numbered[T]) -> list[T]:
    return [values[k] for k in range(len(values))] if isinstance(values, Mapping) else list(values)


def _merge(outcomes: Sequence[Outcome], states: int, where: str) -> list[Outcome]:
    """Equal outcomes as one: against a wall, two ways of slipping lead to the same place."""
    chances: dict[tuple[int, float, bool], float] = {}
    for chance, follow, reward, end in outcomes:
        if not 0 <= follow < states:
            raise ValueError(
                f"{where}: the next state must be from 0 to {states - 1}, got {follow}"
            )
        if not (chance >= 0 and np.isfinite(reward)):
            raise ValueError(
                f"{where}: a probability must not be negative and a reward finite, got {chance} and"
                f" {reward}"
            )
        key = (int(follow), float(reward), bool(end))
        chances[key] = chances.get(key, 0.0) + float(chance)
    total = sum(chances.values())
    if abs(total - 1) > SLACK:
        raise ValueError(f"{where}: probabilities must add up to 1, got {total}")
    return [(chance / total, *key) for key, chance in chances.items() if chance > 0]


def _start(start: npt.ArrayLike, states: int) -> Float[np.ndarray, " s"]:
    """A law over states, or the number of the one state to start from."""
    if np.ndim(start) == 0:
        one = _validate.count("start", start, 0)
        if one >= states:
            raise ValueError(f"start must be from 0 to {states - 1}, got {one}")
        return np.eye(states)[one]
    law = np.asarray(start, float)
    if law.shape != (states,) or not np.all(law >= 0) or abs(law.sum() - 1) > SLACK:
        raise ValueError(
            f"start must be {states} probabilities that add up to 1, got shape {law.shape} and sum"
            f" {law.sum()}"
        )
    return law / law.sum()
