"""One run of the record, as a mapping from the key of a part to its arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from phenes.store.lock import held
from phenes.store.payload import pack, unpack
from phenes.store.times import now

if TYPE_CHECKING:
    from phenes.store.file import About, Store

INSERT = "INSERT INTO parts VALUES (?, ?, ?, ?, ?)"
REPLACE = "INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?, ?)"


class Run:
    """One run: a mapping from the key of a part to its arrays."""

    def __init__(self, store: Store, about: About):
        self.store, self.about = store, about

    def keys(self) -> set[str]:
        return {
            key for (key,) in self.store._all("SELECT key FROM parts WHERE run = ?", self.about.id)
        }

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.keys()))

    def __contains__(self, key: str) -> bool:
        return key in self.keys()

    def __getitem__(self, key: str) -> dict[str, np.ndarray]:
        rows = self.store._all(
            "SELECT payload FROM parts WHERE run = ? AND key = ?", self.about.id, key
        )
        if not rows:
            raise KeyError(key)
        return unpack(rows[0][0], f"part {key!r} of {self.store.path}")

    def seconds(self) -> dict[str, float]:
        """How long each part took."""
        return dict(self.store._all("SELECT key, seconds FROM parts WHERE run = ?", self.about.id))

    def add(self, key: str, arrays: Mapping[str, Any], seconds: float) -> None:
        self.store._commit((INSERT, (self.about.id, key, pack(arrays), float(seconds), now())))

    def write(
        self, parts: Mapping[str, Mapping[str, Any]], seconds: float, drop: Sequence[str] = ()
    ) -> None:
        """Several parts at once, in place of those in `drop` and of any of the same key: all or
        nothing.
        """
        gone = [
            ("DELETE FROM parts WHERE run = ? AND key = ?", (self.about.id, key)) for key in drop
        ]
        new = [
            (REPLACE, (self.about.id, key, pack(arrays, compress=False), float(seconds), now()))
            for key, arrays in parts.items()
        ]
        self.store._commit(*gone, *new)

    def finish(self, status: str = "done") -> None:
        self.store._commit(("UPDATE runs SET status = ? WHERE id = ?", (status, self.about.id)))

    @property
    def status(self) -> str:
        """As it is now: "running" while somebody writes, "interrupted" if its process ended before
        the run did.
        """
        ((status,),) = self.store._all("SELECT status FROM runs WHERE id = ?", self.about.id)
        return (
            "interrupted"
            if status == "running" and not held(self.store.path, self.about.id)
            else status
        )
