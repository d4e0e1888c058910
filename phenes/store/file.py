"""The file of runs."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from phenes._version import __version__
from phenes.store.database import Database
from phenes.store.lock import Lock
from phenes.store.run import Run, RunInfo, now

LIST = "SELECT id, experiment, settings, version, started, status FROM runs ORDER BY id"
BEGIN = "INSERT INTO runs (experiment, settings, version, started, status) VALUES (?, ?, ?, ?, ?)"
GO_ON = "UPDATE runs SET status = 'running', settings = ? WHERE id = ?"


class OtherSettings(ValueError):
    """The run that was to be gone on with has other settings.

    Parameters
    ----------
    message : str
        One sentence.
    names : sequence of str
        Which settings differ.
    """

    def __init__(self, message: str, names: Sequence[str]):
        super().__init__(message)
        self.names = tuple(names)


class Stored:
    """A base for dataclasses of settings that runs are stored with."""

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Self:
        """Settings that come back from a record.

        Parameters
        ----------
        stored : mapping of str to object
            Settings as JSON returns them.

        Returns
        -------
        Stored
            An object of this class.

        Raises
        ------
        ValueError
            If the settings are not those of this version.
        """
        try:
            return cls(**stored)
        except TypeError as error:
            raise ValueError(
                f"the settings of the stored run are not those of this version: {error}"
            ) from error


class Store:
    """An open file of runs; use it with `with`.

    Parameters
    ----------
    path : str or Path
        The file. It is created if it does not exist.
    create : bool, optional
        False: the file must exist and is only read, which works without permission to write it.

    Raises
    ------
    ValueError
        If the file does not exist and is not to be created, or is not a record of phenes runs.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from phenes.store import Store
    >>> with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/runs.db") as record:
    ...     run = record.begin("sweep", {"dim": 3})
    ...     run.add("first", {"f": np.arange(3.0)}, seconds=0.1)
    ...     run.finish()
    ...     record.last("sweep")["first"]["f"]
    array([0., 1., 2.])
    """

    def __init__(self, path: str | Path, create: bool = True):
        self.path = Path(path)
        self.locks: dict[int, Lock] = {}
        if not create and not self.path.exists():
            raise ValueError(f"{self.path} does not exist: there is no run to read")
        self.database = Database(self.path, create)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, and let others write the runs that were begun here."""
        self.database.close()
        while self.locks:
            self.locks.popitem()[1].release()

    def runs(self) -> list[RunInfo]:
        """All runs of the file.

        Returns
        -------
        list of RunInfo
            The oldest first.
        """
        return [
            RunInfo(id_, experiment, self._settings(settings), *rest)
            for id_, experiment, settings, *rest in self._rows()
        ]

    def begin(
        self,
        experiment: str,
        settings: Mapping[str, Any],
        resume: bool = False,
        may_differ: Collection[str] = (),
    ) -> Run:
        """Begin a run, or go on with one.

        It is this process's until the store is closed: another that begins it is refused.

        Parameters
        ----------
        experiment : str
            Name of what is run.
        settings : mapping of str to object
            Settings that JSON can represent.
        resume : bool, optional
            Go on with the last run of this experiment, if there is one, which must have the same
            settings.
        may_differ : collection of str, optional
            Names of settings that may be others than those of the run, and replace them.

        Returns
        -------
        Run
            To be written.

        Raises
        ------
        OtherSettings
            If the run has other settings, by name; a ValueError.
        ValueError
            If another process writes the run, or the file cannot be written.
        """
        plain = _plain(settings)
        # one transaction: of two processes that begin a run at once, the second finds the first's
        with self.database.transaction() as execute:
            before = self._last(experiment) if resume else None
            if before is None:
                started = now()
                row = (experiment, json.dumps(plain), __version__, started, "running")
                info = RunInfo(
                    execute(BEGIN, row), experiment, plain, __version__, started, "running"
                )
            else:
                _check_same(before.settings, plain, self.path, may_differ)
                info = before._replace(settings=plain, status="running")
                execute(GO_ON, (json.dumps(plain), info.id))
            self._claim(info.id)
        return Run(self.database, info)

    def last(self, experiment: str) -> Run:
        """The last run of an experiment, to be read.

        Parameters
        ----------
        experiment : str
            Name of the experiment.

        Returns
        -------
        Run
            To be read.

        Raises
        ------
        ValueError
            If there is none.
        """
        info = self._last(experiment)
        if info is None:
            raise ValueError(f"{self.path} holds no run of {experiment!r}")
        return Run(self.database, info)

    def __getitem__(self, id_: int) -> Run:
        """The run of this number, to be read."""
        for info in self.runs():
            if info.id == id_:
                return Run(self.database, info)
        raise ValueError(f"{self.path} holds no run {id_}")

    def _claim(self, id_: int) -> None:
        if id_ not in self.locks:
            self.locks[id_] = Lock(self.path, id_)

    def _last(self, experiment: str) -> RunInfo | None:
        found = [info for info in self.runs() if info.experiment == experiment]
        return found[-1] if found else None

    def _rows(self) -> list[tuple[Any, ...]]:
        rows = self.database.select(LIST)
        if not all(isinstance(entry, str) for _, *texts in rows for entry in texts):
            raise ValueError(f"{self.path} is damaged: what is said of a run is not text")
        return rows

    def _settings(self, text: str) -> dict[str, Any]:
        try:
            return dict(json.loads(text))
        except (ValueError, TypeError, RecursionError) as error:
            raise ValueError(
                f"{self.path} is damaged: the settings of a run are not JSON"
            ) from error


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as JSON returns them, so that tuples equal the lists they were stored as."""
    return json.loads(json.dumps(dict(settings), allow_nan=False))


def _check_same(
    stored: dict[str, Any], given: dict[str, Any], path: Path, may_differ: Collection[str]
) -> None:
    names = [
        name
        for name in {**stored, **given}
        if name not in may_differ and stored.get(name, ...) != given.get(name, ...)
    ]
    if names:
        each = "; ".join(
            f"{name} was {stored.get(name, 'not there')} and is now {given.get(name, 'not there')}"
            for name in names
        )
        raise OtherSettings(
            f"the run in {path} has other settings and cannot be resumed: {each}", names
        )
