"""The file of runs: which run is gone on with, and what is not there."""

import dataclasses

import numpy as np
import pytest

from phenes.store import Store, Stored

SETTINGS = {"seeds": 2, "functions": (1, 2)}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


def arrays(value):
    return {"gap": np.full((2, 3), value), "name": np.array("a")}


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


def test_what_is_not_there(path, tmp_path):
    with pytest.raises(ValueError, match="does not exist"):
        Store(path, create=False)
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="unable to open"):
        Store(tmp_path / "file" / "runs.db")
    with Store(path) as store, pytest.raises(ValueError, match="no run of 'toy'"):
        store.last("toy")


def test_settings_that_are_no_settings(tmp_path):
    path = tmp_path / "runs.db"
    with Store(path) as store:
        store.begin("toy", {})
        store.database.commit(("UPDATE runs SET settings = 'import os'", ()))
        with pytest.raises(ValueError, match="settings of a run are not JSON"):
            store.runs()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("UPDATE runs SET settings = replace(hex(zeroblob(50000)), '0', '[')", "not JSON"),
        ("UPDATE runs SET experiment = x'00ff'", "what is said of a run is not text"),
        ("UPDATE runs SET settings = x'7b7d'", "what is said of a run is not text"),
        ("UPDATE parts SET key = x'00ff'", "the key of a part is not text"),
    ],
)
def test_what_is_said_of_runs_must_be_what_we_write(path, change, message):
    with Store(path) as store:
        run = store.begin("toy", SETTINGS)
        run.add("a", arrays(1.0), 0.0)
        store.database.commit((change, ()))
        with pytest.raises(ValueError, match=rf"runs\.db is damaged: .*{message}"):
            list(store.last("toy"))


def test_runs_by_number(path):
    with Store(path) as store:
        store.begin("toy", SETTINGS)
        assert store[1].about == store.runs()[0]
        with pytest.raises(ValueError, match="holds no run 2"):
            store[2]


def test_settings_that_come_back():
    @dataclasses.dataclass(frozen=True)
    class Settings(Stored):
        seeds: int = 1

    assert Settings.from_stored({"seeds": 3}) == Settings(3)
    with pytest.raises(ValueError, match="not those of this version"):
        Settings.from_stored({"colour": "red"})
