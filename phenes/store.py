"""The run record: one SQLite file in WAL mode that holds what was run, with which settings, and every part as soon as it is there.

    with store.Store(path) as record:
        run = record.begin("bbob", settings, resume=True)     # the run to go on with, or a new one
        for part in parts:
            if part.key not in run.keys():
                run.add(part.key, {"gap": gap}, seconds)        # on disk when this returns
        run.finish()
    arrays = run["f07/PAES"]

A part is a dictionary of NumPy arrays. Files hold data only: settings as JSON, arrays in NumPy's npz form without pickled objects. A
process that is killed loses the part it was working on and nothing else; others may read while one writes.
"""

import datetime
import io
import json
import sqlite3
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

import phenes

MAGIC = 0x70686E73  # "phns" in the header of the file: this is ours
FORMAT = 1

TABLES = """
CREATE TABLE runs (id INTEGER PRIMARY KEY, experiment TEXT NOT NULL, settings TEXT NOT NULL, version TEXT NOT NULL,
                   started TEXT NOT NULL, status TEXT NOT NULL);
CREATE TABLE parts (run INTEGER NOT NULL REFERENCES runs(id), key TEXT NOT NULL, payload BLOB NOT NULL, seconds REAL NOT NULL,
                    finished TEXT NOT NULL, PRIMARY KEY (run, key));
"""


class About(NamedTuple):
    """A row of the table of runs. status: "running" (or killed while it was), "done" or "failed"."""

    id: int
    experiment: str
    settings: dict[str, Any]
    version: str
    started: str
    status: str


class Store:
    """An open file of runs. Use it with `with`; a path that does not exist is created, unless `create` is False."""

    def __init__(self, path: str | Path, create: bool = True):
        self.path = Path(path)
        if not create and not self.path.exists():
            raise ValueError(f"{self.path} does not exist: there is no run to read")
        try:
            self.connection = _open(self.path)
        except sqlite3.Error as error:
            raise ValueError(f"{self.path} cannot be opened as a record of phenes runs: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        self.connection.close()

    def runs(self) -> list[About]:
        """All runs of the file, the oldest first."""
        rows = self._all("SELECT id, experiment, settings, version, started, status FROM runs ORDER BY id")
        return [About(id_, experiment, json.loads(settings), *rest) for id_, experiment, settings, *rest in rows]

    def begin(self, experiment: str, settings: Mapping[str, Any], resume: bool = False) -> "Run":
        """A new run; with `resume` the last one of this experiment, if there is one, which must have the same settings."""
        plain = _plain(settings)
        before = self._last(experiment) if resume else None
        if before is not None:
            _check_same(before.settings, plain, self.path)
            self._commit("UPDATE runs SET status = 'running' WHERE id = ?", before.id)
            return Run(self, before._replace(status="running"))
        row = (experiment, json.dumps(plain), phenes.__version__, _now(), "running")
        id_ = self._commit("INSERT INTO runs (experiment, settings, version, started, status) VALUES (?, ?, ?, ?, ?)", *row)
        return Run(self, About(id_, experiment, plain, *row[2:]))

    def last(self, experiment: str) -> "Run":
        """The last run of an experiment, to be read."""
        about = self._last(experiment)
        if about is None:
            raise ValueError(f"{self.path} holds no run of {experiment!r}")
        return Run(self, about)

    def _last(self, experiment: str) -> About | None:
        return next((about for about in reversed(self.runs()) if about.experiment == experiment), None)

    def _all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        try:
            return self.connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise ValueError(f"{self.path} cannot be read: {error}") from error

    def _commit(self, statement: str, *values: Any) -> int:
        """One statement, one transaction."""
        try:
            with self.connection:
                return self.connection.execute(statement, values).lastrowid or 0
        except sqlite3.IntegrityError as error:
            raise ValueError(f"{self.path} already holds this part: {error}") from error
        except sqlite3.Error as error:
            raise ValueError(f"{self.path} cannot be written: {error}") from error


class Run:
    """One run: a mapping from the key of a part to its arrays."""

    def __init__(self, store: Store, about: About):
        self.store, self.about = store, about

    def keys(self) -> set[str]:
        return {key for (key,) in self.store._all("SELECT key FROM parts WHERE run = ?", self.about.id)}

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.keys()))

    def __contains__(self, key: str) -> bool:
        return key in self.keys()

    def __getitem__(self, key: str) -> dict[str, np.ndarray]:
        rows = self.store._all("SELECT payload FROM parts WHERE run = ? AND key = ?", self.about.id, key)
        if not rows:
            raise KeyError(key)
        return _unpack(rows[0][0], f"part {key!r} of {self.store.path}")

    def seconds(self) -> dict[str, float]:
        """How long each part took."""
        return dict(self.store._all("SELECT key, seconds FROM parts WHERE run = ?", self.about.id))

    def add(self, key: str, arrays: Mapping[str, Any], seconds: float) -> None:
        payload = _pack(arrays)
        self.store._commit("INSERT INTO parts VALUES (?, ?, ?, ?, ?)", self.about.id, key, payload, float(seconds), _now())

    def finish(self, status: str = "done") -> None:
        self.store._commit("UPDATE runs SET status = ? WHERE id = ?", status, self.about.id)


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=30)
    try:
        (magic,), (version,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version"))
        empty = not connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        if magic != MAGIC and not (empty and magic == 0):
            raise ValueError(f"{path} is an SQLite file of another program, not a record of phenes runs")
        if empty:
            _create(connection)
        elif version != FORMAT:
            raise ValueError(f"{path} has format {version} of the run record, this version of phenes reads format {FORMAT}")
        connection.execute("PRAGMA journal_mode = WAL")
        # in WAL mode NORMAL loses nothing when a process dies, and at most the last part when the power does
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _create(connection: sqlite3.Connection) -> None:
    """All or nothing: a process that dies in here leaves an empty file, which is as good as none."""
    with connection:
        script = f"PRAGMA application_id = {MAGIC}; PRAGMA user_version = {FORMAT}; {TABLES}"
        connection.executescript(f"BEGIN IMMEDIATE; {script} COMMIT;")


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON gives them back, so that tuples equal the lists they were stored as."""
    return json.loads(json.dumps(dict(settings), allow_nan=False))


def _check_same(stored: dict[str, Any], given: dict[str, Any], path: Path) -> None:
    names = [name for name in {**stored, **given} if stored.get(name, ...) != given.get(name, ...)]
    if names:
        each = "; ".join(f"{name} was {stored.get(name, 'not there')} and is now {given.get(name, 'not there')}" for name in names)
        raise ValueError(f"the run in {path} has other settings and cannot be resumed: {each}")


def _pack(arrays: Mapping[str, Any]) -> bytes:
    plain = {name: np.asarray(value) for name, value in arrays.items()}
    objects = [name for name, value in plain.items() if value.dtype.hasobject]
    if objects:
        raise ValueError(f"a part must be arrays of numbers or strings, got objects in {', '.join(objects)}")
    file = io.BytesIO()
    np.savez_compressed(file, **plain)  # pyright: ignore[reportArgumentType]
    return file.getvalue()


def _unpack(payload: bytes, name: str) -> dict[str, np.ndarray]:
    try:
        with np.load(io.BytesIO(payload), allow_pickle=False) as file:
            return {key: file[key] for key in file.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{name} is damaged: {error}") from error


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
