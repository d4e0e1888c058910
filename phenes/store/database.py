"""The SQLite file: opened and checked, read, and written in transactions."""

import contextlib
import os
import sqlite3
import time
import urllib.parse
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

MAGIC = 0x70686E73  # "phns" in the header of the file: this is ours
FORMAT = 1
PATIENCE = 30.0  # seconds to wait for another process

RUNS = """CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    experiment TEXT NOT NULL,
    settings TEXT NOT NULL,
    version TEXT NOT NULL,
    started TEXT NOT NULL,
    status TEXT NOT NULL
)"""
PARTS = """CREATE TABLE parts (
    run INTEGER NOT NULL REFERENCES runs(id),
    key TEXT NOT NULL,
    payload BLOB NOT NULL,
    seconds REAL NOT NULL,
    finished TEXT NOT NULL,
    PRIMARY KEY (run, key)
)"""
TABLES = {"runs": " ".join(RUNS.split()), "parts": " ".join(PARTS.split())}


class Database:
    """An open file. Errors of SQLite become a ValueError that names the file.

    create: make the file if it is not there. Otherwise it is only read, which needs no permission
    to write it, nor its folder.
    """

    def __init__(self, path: Path, create: bool = True):
        self.path = path
        try:
            self.connection = _open(path) if create else _open_to_read(path)
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
        """An exclusive transaction: all or nothing, and no other process writes meanwhile.

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
        if _checked(connection, path):
            _create(connection)
        _write_ahead(connection)
        # in WAL mode NORMAL loses nothing when a process dies, and at most the last part when the
        # power does
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _open_to_read(path: Path) -> sqlite3.Connection:
    """A connection for reading, also without write permission.

    SQLite keeps new data in a write-ahead log beside the file, which even a reader creates if there
    is none. One that is created by a reader without write permission would block later writers.
    """
    log = path.with_name(f"{path.name}-wal")
    mode = "ro"
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        mode = "rw"
    elif not log.exists() or not log.stat().st_size:  # no writer is active
        mode = "ro&immutable=1"
    address = f"file:{urllib.parse.quote(str(path.absolute()))}?mode={mode}"
    connection = sqlite3.connect(address, timeout=PATIENCE, uri=True)
    try:
        if _checked(connection, path):
            raise ValueError(f"{path} is empty: there is no run to read")
    except BaseException:
        connection.close()
        raise
    return connection


def _checked(connection: sqlite3.Connection, path: Path) -> bool:
    """True if there is nothing in the file yet; refused if it is not a record of this format."""
    # what a foreign file defines may not call functions with side effects
    connection.execute("PRAGMA trusted_schema = OFF")
    magic, version, schema = _identity(connection)
    if magic != MAGIC and (schema or magic):
        raise ValueError(
            f"{path} is an SQLite file of another program, not a record of phenes runs"
        )
    if schema and version != FORMAT:
        raise ValueError(
            f"{path} has format {version} of the run record, this version of phenes reads"
            f" format {FORMAT}"
        )
    foreign = [name for kind, name, text in schema if TABLES.get(name) != _line(kind, text)]
    if foreign or (schema and len(schema) != len(TABLES)):
        what = f"it defines {foreign[0]!r}" if foreign else "a table is missing"
        raise ValueError(f"{path} is not as phenes writes its records: {what}")
    return not schema


def _line(kind: str, text: Any) -> str:
    return " ".join(str(text).split()) if kind == "table" else kind


def _identity(connection: sqlite3.Connection) -> tuple[int, int, list[tuple[str, str, Any]]]:
    """(application id, format, what is defined in it: kind, name, statement).

    In one transaction: another process may be creating the file at this moment.
    """
    connection.execute("BEGIN")
    try:
        # the SELECT comes first: it takes the read lock, a PRAGMA does not
        schema = connection.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL OR type != 'index'"
        ).fetchall()
        magic, version = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        )
    finally:
        connection.rollback()
    return magic, version, schema


def _create(connection: sqlite3.Connection) -> None:
    """All or nothing: a process that dies in here leaves an empty file, as good as none."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        # another process may have created it in the meantime
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            for statement in (RUNS, PARTS):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {MAGIC}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Turn the journal into a write-ahead log.

    SQLite's own timeout does not cover this statement, so a busy file is tried again here.
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
