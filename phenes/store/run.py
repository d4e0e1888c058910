"""One run of the record, as a mapping from the key of a part to its arrays."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from phenes.store.database import Database
from phenes.store.lock import held
from phenes.store.payload import pack, unpack

INSERT = "INSERT INTO parts VALUES (?, ?, ?, ?, ?)"
REPLACE = "INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?, ?)"
DELETE = "DELETE FROM parts WHERE run = ? AND key = ?"
SET_STATUS = "UPDATE runs SET status = ? WHERE id = ?"


def now() -> str:
    """The time of day in the record."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


class RunInfo(NamedTuple):
    """A row of the table of runs.

    Attributes
    ----------
    id : int
        Number of the run in its file.
    experiment : str
        Name of what was run.
    settings : dict
        Settings with which the run was begun.
    version : str
        Version of phenes.
    started : str
        Time of day, ISO 8601.
    status : str
        "running" (or killed while it was), "done", "stopped" or "failed".
    """

    id: int
    experiment: str
    settings: dict[str, Any]
    version: str
    started: str
    status: str


class Run:
    """One run: a mapping from the key of a part to its arrays.

    Parameters
    ----------
    database : Database
        The file it is in.
    about : RunInfo
        The row of the run in the table of runs.

    Attributes
    ----------
    about : RunInfo
        As it was when the run was opened.
    """

    def __init__(self, database: Database, about: RunInfo):
        self.database, self.about = database, about

    @property
    def path(self) -> Path:
        """The file it is in."""
        return self.database.path

    def keys(self) -> set[str]:
        """Keys of all parts.

        Returns
        -------
        set of str
        """
        rows = self.database.select("SELECT key FROM parts WHERE run = ?", self.about.id)
        if not all(isinstance(key, str) for (key,) in rows):
            raise ValueError(f"{self.path} is damaged: the key of a part is not text")
        return {key for (key,) in rows}

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.keys()))

    def __contains__(self, key: str) -> bool:
        return key in self.keys()

    def __getitem__(self, key: str) -> dict[str, NDArray[Any]]:
        statement = "SELECT payload FROM parts WHERE run = ? AND key = ?"
        rows = self.database.select(statement, self.about.id, key)
        if not rows:
            raise KeyError(key)
        return unpack(rows[0][0], f"part {key!r} of {self.path}")

    def seconds(self) -> dict[str, float]:
        """How long each part took, by key.

        Returns
        -------
        dict of str to float
        """
        rows = self.database.select("SELECT key, seconds FROM parts WHERE run = ?", self.about.id)
        return {key: seconds for key, seconds in rows}

    def add(self, key: str, arrays: Mapping[str, Any], seconds: float) -> None:
        """Write a new part; it is on disk when this returns.

        Parameters
        ----------
        key : str
            Key of the part.
        arrays : mapping of str to array_like
            Numbers or strings.
        seconds : float
            How long it took.

        Raises
        ------
        ValueError
            If there is a part of this key, or the file cannot be written.
        """
        row = (self.about.id, key, pack(arrays), float(seconds), now())
        self.database.commit((INSERT, row))

    def write(
        self, parts: Mapping[str, Mapping[str, Any]], seconds: float, drop: Sequence[str] = ()
    ) -> None:
        """Write several parts at once, all or nothing.

        Parameters
        ----------
        parts : mapping of str to mapping of str to array_like
            Arrays by key; parts of the same key are replaced.
        seconds : float
            How long each took.
        drop : sequence of str, optional
            Keys of parts that are removed.

        Raises
        ------
        ValueError
            If the file cannot be written; it then holds what it held before.
        """
        gone = [(DELETE, (self.about.id, key)) for key in drop]
        new = [
            (REPLACE, (self.about.id, key, pack(arrays, compress=False), float(seconds), now()))
            for key, arrays in parts.items()
        ]
        self.database.commit(*gone, *new)

    def finish(self, status: str = "done") -> None:
        """Write how the run ended.

        Parameters
        ----------
        status : str, optional
            "done", "stopped" or "failed".
        """
        self.database.commit((SET_STATUS, (status, self.about.id)))

    @property
    def status(self) -> str:
        """The present status; "interrupted" if its process ended before the run did."""
        rows = self.database.select("SELECT status FROM runs WHERE id = ?", self.about.id)
        status = str(rows[0][0])
        if status == "running" and not held(self.path, self.about.id):
            return "interrupted"
        return status
