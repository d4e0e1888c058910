"""The SQLite file: ours or not, whole or damaged, safe to open."""

import os
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from phenes.store import Store

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


def test_what_a_schema_from_elsewhere_calls_is_not_run(path):
    """A trigger or a view may use no function but the harmless ones that SQLite itself has."""
    with Store(path) as store:
        run = store.begin("toy", SETTINGS)
        run.add("a", {"f": np.ones(1)}, 0.0)
        execute = store.database.connection.execute
        execute("CREATE TRIGGER trap AFTER INSERT ON parts BEGIN SELECT evil(new.key); END")
        execute("ALTER TABLE runs RENAME TO hidden")
        execute("CREATE VIEW runs AS SELECT *, evil(id) FROM hidden")
        store.database.connection.commit()
    calls = []
    with Store(path) as store:
        store.database.connection.create_function("evil", 1, calls.append)
        with pytest.raises(ValueError, match=r"unsafe use of evil"):
            store.runs()
        with pytest.raises(ValueError, match=r"unsafe use of evil"):
            store.database.commit(("INSERT INTO parts VALUES (1, 'b', x'00', 0.0, '')", ()))
    assert calls == []
