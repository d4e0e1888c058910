"""Settings that come back from a record."""

from collections.abc import Mapping
from typing import Any, Self


class Stored:
    """A base for dataclasses of settings that runs are stored with."""

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Self:
        """As JSON gives them back."""
        try:
            return cls(**stored)
        except TypeError as error:
            raise ValueError(
                f"the settings of the stored run are not those of this version: {error}"
            ) from error
