"""The run record: data that survive, and one clear sentence for what is not a record."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from phenes.store import Store

pytestmark = pytest.mark.machine

SETTINGS = {"seeds": 2, "functions": (1, 2)}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


def arrays(value):
    return {"gap": np.full((2, 3), value), "name": np.array("a")}


def test_parts_come_back_as_they_were(path):
    with Store(path) as store:
        run = store.begin("toy", SETTINGS)
        run.add("f01/ES", arrays(1.5), 0.25)
        run.finish()
    with Store(path, create=False) as store:
        run = store.last("toy")
        assert list(run) == ["f01/ES"]
        assert "f01/ES" in run
        assert run.seconds() == {"f01/ES": 0.25}
        assert run.about.status == "done"
        assert run.about.settings == {"seeds": 2, "functions": [1, 2]}
        np.testing.assert_array_equal(run["f01/ES"]["gap"], arrays(1.5)["gap"])
        assert str(run["f01/ES"]["name"]) == "a"
        with pytest.raises(KeyError):
            run["f02/ES"]


def test_the_journal_is_a_write_ahead_log(path):
    with Store(path) as store:
        assert store.database.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_part_can_be_read_by_another_as_soon_as_it_is_added(path):
    with Store(path) as writer, Store(path) as reader:
        run = writer.begin("toy", SETTINGS)
        run.add("a", arrays(1.0), 0.0)
        assert list(reader.last("toy")) == ["a"]


def test_resume_goes_on_with_the_last_run_and_a_new_one_is_apart(path):
    with Store(path) as store:
        store.begin("toy", SETTINGS).add("a", arrays(1.0), 0.0)
        assert list(store.begin("toy", SETTINGS, resume=True)) == ["a"]
        assert list(store.begin("other", SETTINGS, resume=True)) == []
        assert list(store.begin("toy", SETTINGS)) == []
        assert [about.id for about in store.runs()] == [1, 2, 3]


def test_resume_with_other_settings_names_the_difference(path):
    with Store(path) as store:
        store.begin("toy", SETTINGS)
        with pytest.raises(ValueError, match=r"seeds was 2 and is now 3$"):
            store.begin("toy", {**SETTINGS, "seeds": 3}, resume=True)
        with pytest.raises(ValueError, match="dim was not there and is now 5"):
            store.begin("toy", {**SETTINGS, "dim": 5}, resume=True)


WRITER = """
import sys, time
import numpy as np
from phenes.store import Store
with Store(sys.argv[1]) as store:
    run = store.begin("toy", {"seeds": 2, "functions": (1, 2)})
    for k in range(1000):
        run.add(str(k), {"gap": np.full(1000, float(k))}, 0.0)
        print(k, flush=True)
        time.sleep(0.01)
"""


def test_a_killed_writer_loses_no_finished_part(path):
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        said = [writer.stdout.readline() for _ in range(5)]
        os.kill(writer.pid, signal.SIGKILL)
        said += writer.stdout.readlines()
    done = [line.strip() for line in said if line.endswith("\n")]
    assert writer.returncode == -signal.SIGKILL
    with Store(path) as store:
        run = store.begin("toy", SETTINGS, resume=True)
        assert run.keys() >= set(done)
        assert len(run.keys()) <= len(done) + 1
        for key in run:
            np.testing.assert_array_equal(run[key]["gap"], float(key))
        run.add("after", arrays(0.0), 0.0)


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


def test_a_damaged_part(path):
    with Store(path) as store:
        run = store.begin("toy", SETTINGS)
        run.add("a", arrays(1.0), 0.0)
        store.database.commit(("UPDATE parts SET payload = ?", (b"PK",)))
        with pytest.raises(ValueError, match=r"part 'a' of .* is damaged"):
            run["a"]


def test_a_newer_format(path):
    with Store(path) as store:
        store.database.connection.execute("PRAGMA user_version = 99")
    with pytest.raises(ValueError, match="format 99"):
        Store(path)


def test_objects_and_doubles_are_refused(path):
    with Store(path) as store:
        run = store.begin("toy", SETTINGS)
        with pytest.raises(ValueError, match="objects in f"):
            run.add("a", {"f": np.array([print])}, 0.0)
        run.add("a", arrays(1.0), 0.0)
        with pytest.raises(ValueError, match="already holds"):
            run.add("a", arrays(1.0), 0.0)


def test_what_is_not_there(path, tmp_path):
    with pytest.raises(ValueError, match="does not exist"):
        Store(path, create=False)
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="unable to open"):
        Store(tmp_path / "file" / "runs.db")
    with Store(path) as store, pytest.raises(ValueError, match="no run of 'toy'"):
        store.last("toy")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere"
)
def test_a_folder_that_cannot_be_written(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(ValueError, match=r"runs\.db"):
        Store(tmp_path / "runs.db")
    tmp_path.chmod(0o700)


def test_many_may_create_the_file_at_once(tmp_path):
    """Nobody takes the half-made file of another for a foreign one."""

    def look(path):
        start.wait()
        with Store(path) as store:
            return store.runs()

    for k in range(20):
        start = threading.Barrier(6)
        with ThreadPoolExecutor(6) as pool:
            assert list(pool.map(look, [tmp_path / f"{k}.db"] * 6)) == [[]] * 6
