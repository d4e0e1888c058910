"""The file of runs: opened, checked, written in transactions."""

import json
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from phenes._version import __version__
from phenes.store.lock import Lock
from phenes.store.run import Run
from phenes.store.times import now

MAGIC = 0x70686E73  # "phns" in the header of the file: this is ours
FORMAT = 1
PATIENCE = 30.0  # seconds to wait for another process

TABLES = """
CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY, experiment TEXT NOT NULL, settings TEXT NOT NULL, version TEXT NOT NULL,
                                 started TEXT NOT NULL, status TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS parts (run INTEGER NOT NULL REFERENCES runs(id), key TEXT NOT NULL, payload BLOB NOT NULL, seconds REAL NOT NULL,
                                  finished TEXT NOT NULL, PRIMARY KEY (run, key));
"""


class About(NamedTuple):
    """A row of the table of runs. status: "running" (or killed while it was), "done" or
    "failed".
    """

    id: int
    experiment: str
    settings: dict[str, Any]
    version: str
    started: str
    status: str


class Store:
    """An open file of runs. Use it with `with`; a path that does not exist is created, unless
    `create` is False.
    """

    def __init__(self, path: str | Path, create: bool = True):
        self.path = Path(path)
        self.locks: dict[int, Lock] = {}
        if not create and not self.path.exists():
            raise ValueError(f"{self.path} does not exist: there is no run to read")
        try:
            self.connection = _open(self.path)
        except sqlite3.Error as error:
            raise ValueError(
                f"{self.path} cannot be opened as a record of phenes runs: {error}"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        self.connection.close()
        while self.locks:
            self.locks.popitem()[1].release()

    def runs(self) -> list[About]:
        """All runs of the file, the oldest first."""
        rows = self._all(
            "SELECT id, experiment, settings, version, started, status FROM runs ORDER BY id"
        )
        return [
            About(id_, experiment, self._settings(settings), *rest)
            for id_, experiment, settings, *rest in rows
        ]

    def begin(self, experiment: str, settings: Mapping[str, Any], resume: bool = False) -> Run:
        """A new run; with `resume` the last one of this experiment, if there is one, which must
        have the same settings.

        It is this process's until the store is closed: another that begins it is refused.
        """
        plain = _plain(settings)
        before = self._last(experiment) if resume else None
        if before is not None:
            _check_same(before.settings, plain, self.path)
            self._claim(before.id)
            self._commit(("UPDATE runs SET status = 'running' WHERE id = ?", (before.id,)))
            return Run(self, before._replace(status="running"))
        row = (experiment, json.dumps(plain), __version__, now(), "running")
        id_ = self._commit(
            (
                (
                    "INSERT INTO runs (experiment, settings, version, started, status) VALUES (?,"
                    " ?, ?, ?, ?)"
                ),
                row,
            )
        )
        self._claim(id_)
        return Run(self, About(id_, experiment, plain, *row[2:]))

    def last(self, experiment: str) -> Run:
        """The last run of an experiment, to be read."""
        about = self._last(experiment)
        if about is None:
            raise ValueError(f"{self.path} holds no run of {experiment!r}")
        return Run(self, about)

    def __getitem__(self, id_: int) -> Run:
        """The run of this number, to be read."""
        for about in self.runs():
            if about.id == id_:
                return Run(self, about)
        raise ValueError(f"{self.path} holds no run {id_}")

    def _claim(self, id_: int) -> None:
        if id_ not in self.locks:
            self.locks[id_] = Lock(self.path, id_)

    def _last(self, experiment: str) -> About | None:
        return next(
            (about for about in reversed(self.runs()) if about.experiment == experiment), None
        )

    def _settings(self, text: str) -> dict[str, Any]:
        try:
            return dict(json.loads(text))
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"{self.path} is damaged: the settings of a run are not JSON"
            ) from error

    def _all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        try:
            return self.connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise ValueError(f"{self.path} cannot be read: {error}") from error

    def _commit(self, *statements: tuple[str, tuple[Any, ...]]) -> int:
        """One transaction."""
        last = 0
        try:
            with self.connection:
                for statement, values in statements:
                    last = self.connection.execute(statement, values).lastrowid or 0
            return last
        except sqlite3.IntegrityError as error:
            raise ValueError(f"{self.path} already holds this part: {error}") from error
        except sqlite3.Error as error:
            raise ValueError(
                f"{self.path} cannot be written: {error}; what it held before is intact"
            ) from error


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=PATIENCE)
    try:
        # a file from elsewhere may hold triggers and views: plain SQL is all they get
        connection.execute("PRAGMA trusted_schema = OFF")
        magic, version, empty = _identity(connection)
        if magic != MAGIC and not (empty and magic == 0):
            raise ValueError(
                f"{path} is an SQLite file of another program, not a record of phenes runs"
            )
        if empty:
            _create(connection)
        elif version != FORMAT:
            raise ValueError(
                f"{path} has format {version} of the run record, this version of phenes reads"
                f" format {FORMAT}"
            )
        _write_ahead(connection)
        # in WAL mode NORMAL loses nothing when a process dies, and at most the last part when the
        # power does
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _identity(connection: sqlite3.Connection) -> tuple[int, int, bool]:
    """(application id, format, nothing in it), in one transaction: another process may be creating
    the file at this moment.
    """
    connection.execute("BEGIN")
    try:
        # first: it takes the lock, a PRAGMA does not
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        magic, version = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        )
    finally:
        connection.rollback()
    return magic, version, tables == 0


def _create(connection: sqlite3.Connection) -> None:
    """All or nothing: a process that dies in here leaves an empty file, which is as good as
    none.
    """
    with connection:
        script = f"PRAGMA application_id = {MAGIC}; PRAGMA user_version = {FORMAT}; {TABLES}"
        connection.executescript(f"BEGIN IMMEDIATE; {script} COMMIT;")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Turn the journal into a write-ahead log. SQLite does not wait here for those who are just
    doing the same.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON gives them back, so that tuples equal the lists they were stored as."""
    return json.loads(json.dumps(dict(settings), allow_nan=False))


def _check_same(stored: dict[str, Any], given: dict[str, Any], path: Path) -> None:
    names = [name for name in {**stored, **given} if stored.get(name, ...) != given.get(name, ...)]
    if names:
        each = "; ".join(
            f"{name} was {stored.get(name, 'not there')} and is now {given.get(name, 'not there')}"
            for name in names
        )
        raise ValueError(f"the run in {path} has other settings and cannot be resumed: {each}")
