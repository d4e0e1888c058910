"""The SQLite file: ours or not, whole or damaged, safe to open."""

import contextlib
import os
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from phenes.store import Store
from phenes.store.database import FORMAT, MAGIC, PARTS, RUNS

SETTINGS = {"seeds": 2, "functions": (1, 2)}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


def test_the_journal_is_a_write_ahead_log(path):
    with Store(path) as store:
        assert store.database.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_file_of_another_program(path):
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE recipes (id INTEGER)")
    other.close()
    with pytest.raises(ValueError, match="another program"):
        Store(path)


def test_a_file_that_is_no_database(path):
    path.write_bytes(b"not a database, and long enough to be sure of it. " * 50)
    with pytest.raises(ValueError, match="cannot be opened as a record of phenes runs"):
        Store(path)
    assert path.read_bytes().startswith(b"not a database")


def read_all(path):
    with Store(path) as store:
        run = store.last("toy")
        return [run[key] for key in run]


def test_a_file_cut_in_half(path):
    with Store(path) as store:
        run = store.begin("toy", SETTINGS)
        for k in range(20):
            run.add(str(k), {"gap": np.random.default_rng(k).normal(size=5000)}, 0.0)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"runs\.db"):
        read_all(path)


def test_a_newer_format(path):
    with Store(path) as store:
        store.database.connection.execute("PRAGMA user_version = 99")
    with pytest.raises(ValueError, match="format 99"):
        Store(path)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere"
)
def test_a_folder_that_cannot_be_written(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(ValueError, match=r"runs\.db"):
        Store(tmp_path / "runs.db")
    tmp_path.chmod(0o700)


@pytest.mark.machine
def test_many_may_create_the_file_at_once(tmp_path):
    """Nobody takes the half-made file of another for a foreign one."""

    def look(path):
        start.wait()
        with Store(path) as store:
            return store.runs()

    for k in range(10):
        start = threading.Barrier(6)
        with ThreadPoolExecutor(6) as pool:
            assert list(pool.map(look, [tmp_path / f"{k}.db"] * 6)) == [[]] * 6


FOREIGN = {
    "a view": "CREATE VIEW seen AS SELECT * FROM runs",
    "a view in place of a table": (
        "ALTER TABLE runs RENAME TO hidden; CREATE VIEW runs AS SELECT * FROM hidden"
    ),
    "a trigger": "CREATE TRIGGER trap AFTER INSERT ON parts BEGIN SELECT random(); END",
    "a table": "CREATE TABLE more (id INTEGER)",
    "a virtual table": "CREATE VIRTUAL TABLE more USING fts5(text)",
    "an index": "CREATE INDEX quick ON parts (random())",
    "a column": "ALTER TABLE runs ADD COLUMN more TEXT AS (upper(status))",
    "a table that is missing": "DROP TABLE parts",
}


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize("statement", FOREIGN.values(), ids=FOREIGN)
def test_a_schema_that_is_not_ours_is_refused(path, statement, create):
    Store(path).close()
    with contextlib.closing(sqlite3.connect(path)) as other:
        try:
            other.executescript(statement)
        except sqlite3.OperationalError:  # not with this version of SQLite: then nobody else can
            pytest.skip(f"SQLite {sqlite3.sqlite_version} refuses it by itself")
    with pytest.raises(ValueError, match=r"runs\.db is not as phenes writes its records: "):
        Store(path, create)


def test_functions_with_side_effects_are_not_called_by_a_file(path):
    with Store(path) as store:
        assert store.database.connection.execute("PRAGMA trusted_schema").fetchone() == (0,)


def test_a_file_of_the_first_version_is_read(path):
    """Its tables were created by IF NOT EXISTS, which SQLite leaves out."""
    with contextlib.closing(sqlite3.connect(path)) as old:
        for table in (RUNS, PARTS):
            old.execute(table.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
        old.executescript(f"PRAGMA application_id = {MAGIC}; PRAGMA user_version = {FORMAT}")
    with Store(path) as store:
        assert store.begin("toy", SETTINGS).about.id == 1


def test_an_empty_file_has_no_run_to_read(path):
    path.touch()
    with pytest.raises(ValueError, match="is empty: there is no run to read"):
        Store(path, create=False)
    assert path.stat().st_size == 0


def test_a_reader_writes_nothing(path):
    with Store(path) as store:
        store.begin("toy", SETTINGS).finish()
    with Store(path, create=False) as store:
        assert store.last("toy").status == "done"
    assert [file.name for file in path.parent.iterdir()] == ["runs.db"]
