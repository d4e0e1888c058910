"""Dataclasses as plain data and back: for checkpoints that hold no code."""

import dataclasses
import typing
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def to_record(value: Any) -> Any:
    """A dataclass as a dict of arrays, numbers, strings and dicts; nothing is shared with the
    original.
    """
    if dataclasses.is_dataclass(value):
        return {
            field.name: to_record(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    return value.copy() if isinstance(value, np.ndarray) else value


def from_record(kind: type[T], record: dict[str, Any]) -> T:
    """The dataclass of this kind from its record."""
    hints = typing.get_type_hints(kind)
    return kind(**{name: _restore(hints[name], value) for name, value in record.items()})


def _restore(hint: Any, value: Any) -> Any:
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return from_record(hint, value)
    if value is None:
        return None
    if hint in (int, float, str, bool):
        return hint(value)
    return np.array(value)
