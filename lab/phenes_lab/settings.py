"""A base class for the settings of experiments and benches: checks, and conversion from JSON."""

import dataclasses
from collections.abc import Collection
from typing import Any

from phenes import _validate
from phenes.store import Stored


class Checked(Stored):
    """A base for frozen dataclasses of settings. Lists, as JSON has them, become tuples."""

    def tuples(self) -> None:
        """Convert lists to tuples, and every field whose default is a tuple."""
        for field in dataclasses.fields(self):  # pyright: ignore[reportArgumentType]
            value = getattr(self, field.name)
            if isinstance(field.default, tuple) or isinstance(value, list):
                object.__setattr__(self, field.name, tuple(value))

    def default(self, name: str, value: Any) -> None:
        """Set a field to `value` if nothing was given for it."""
        object.__setattr__(self, name, getattr(self, name) or value)

    def counts(self, *names: str, least: int = 1) -> None:
        for name in names:
            _validate.count(name, getattr(self, name), least)

    def positive(self, *names: str) -> None:
        for name in names:
            _validate.positive(name, getattr(self, name))

    def filled(self, *names: str) -> None:
        for name in names:
            if not getattr(self, name):
                raise ValueError(f"{name} must hold at least one number, got none")

    def among(self, name: str, known: Collection[Any]) -> None:
        given = getattr(self, name)
        strange = [str(each) for each in given if each not in known]
        if strange or not given:
            raise ValueError(
                f"{name} must be of {', '.join(map(str, known))}, got"
                f" {', '.join(strange) or 'none'}"
            )
