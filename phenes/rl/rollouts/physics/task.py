"""A MuJoCo environment of Gymnasium without its physics, for many at once.

What is seen, what it is worth, and when it is over.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Read = dict[str, np.ndarray]  # fields of MjData, [M, ...]
Outcome = tuple[np.ndarray, np.ndarray, np.ndarray]


def nothing(now: Read) -> None:
    return None


class Task(NamedTuple):
    """judge(before, now, action) -> observations [M, o], rewards [M], terminated [M].

    fields: of MjData, as `judge` needs them after a step. before: what it needs from before the
    step, computed from `early` fields.
    forces: `now` holds contact forces, which MuJoCo computes only when asked.
    """

    judge: Callable[[Any, Read, np.ndarray], Outcome]
    fields: tuple[str, ...] = ("qpos", "qvel")
    before: Callable[[Read], Any] = nothing
    early: tuple[str, ...] = ()
    forces: bool = False


def squares(values: np.ndarray) -> np.ndarray:
    """Sum of squares of each row, in its precision: actions are single, as in Gymnasium."""
    return np.sum(np.square(values.reshape(len(values), -1)), axis=1)


def within(low: float, values: np.ndarray, high: float) -> np.ndarray:
    return (low < values) & (values < high)


def never(m: int) -> np.ndarray:
    return np.zeros(m, bool)
