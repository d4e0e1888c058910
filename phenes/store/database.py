"""The SQLite file: opened and checked, read, and written in transactions."""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

MAGIC = 0x70686E73  # "phns" in the header of the file: this is ours
FORMAT = 1
PATIENCE = 30.0  # seconds to wait for another process

TABLES = """
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY,
    experiment TEXT NOT NULL,
    settings TEXT NOT NULL,
    version TEXT NOT NULL,
    started TEXT NOT NULL,
    status TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS parts (
    run INTEGER NOT NULL REFERENCES runs(id),
    key TEXT NOT NULL,
    payload BLOB NOT NULL,
    seconds REAL NOT NULL,
    finished TEXT NOT NULL,
    PRIMARY KEY (run, key)
);
"""


class Database:
    """An open file. Errors of SQLite become a ValueError that names the file."""

    def __init__(self, path: Path):
        self.path = path
        try:
            self.connection = _open(path)
        except sqlite3.Error as error:
            raise ValueError(
                f"{path} cannot be opened as a record of phenes runs: {error}"
            ) from error

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def select(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        try:
            return self.connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise ValueError(f"{self.path} cannot be read: {error}") from error

    def commit(self, *statements: tuple[str, tuple[Any, ...]]) -> None:
        """Statements with their values, in one transaction."""
        with self.transaction() as execute:
            for statement, values in statements:
                execute(statement, values)

    @contextlib.contextmanager
    def transaction(self) -> Generator[Callable[[str, tuple[Any, ...]], int]]:
        """All or nothing, and alone: nobody else writes the file inside.

        Gives a function that executes a statement and returns the number of its last row.
        """
        try:
            with self.connection:
                self.connection.execute("BEGIN IMMEDIATE")
                yield (
                    lambda statement, values: (
                        self.connection.execute(statement, values).lastrowid or 0
                    )
                )
        except sqlite3.IntegrityError as error:
            raise ValueError(f"{self.path} already holds this part: {error}") from error
        except sqlite3.Error as error:
            raise ValueError(
                f"{self.path} cannot be written: {error}; what it held before is intact"
            ) from error


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=PATIENCE)
    try:
        # triggers and views of untrusted files may not call functions with side effects
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
    """(application id, format, nothing in it).

    In one transaction: another process may be creating the file at this moment.
    """
    connection.execute("BEGIN")
    try:
        # the SELECT comes first: it takes the read lock, a PRAGMA does not
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        magic, version = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        )
    finally:
        connection.rollback()
    return magic, version, tables == 0


def _create(connection: sqlite3.Connection) -> None:
    """All or nothing: a process that dies in here leaves an empty file, as good as none."""
    with connection:
        script = f"PRAGMA application_id = {MAGIC}; PRAGMA user_version = {FORMAT}; {TABLES}"
        connection.executescript(f"BEGIN IMMEDIATE; {script} COMMIT;")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Turn the journal into a write-ahead log.

    SQLite does not wait here for those who are just doing the same.
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
