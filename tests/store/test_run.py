"""One run: parts that come back as they were, written all or none."""

import numpy as np
import pytest

from phenes.store import Store

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


def test_a_part_can_be_read_by_another_as_soon_as_it_is_added(path):
    with Store(path) as writer, Store(path) as reader:
        run = writer.begin("toy", SETTINGS)
        run.add("a", arrays(1.0), 0.0)
        assert list(reader.last("toy")) == ["a"]


def test_objects_and_doubles_are_refused(path):
    with Store(path) as store:
        run = store.begin("toy", SETTINGS)
        with pytest.raises(ValueError, match="objects in f"):
            run.add("a", {"f": np.array([print])}, 0.0)
        run.add("a", arrays(1.0), 0.0)
        with pytest.raises(ValueError, match="already holds"):
            run.add("a", arrays(1.0), 0.0)


def test_several_parts_at_once(path):
    with Store(path) as store:
        run = store.begin("toy", {})
        run.write({"a": {"f": np.zeros(2)}, "b": {"f": np.ones(2)}}, 0.0)
        run.write({"c": {"f": np.ones(1)}}, 0.0, drop=["a", "b"])
        assert list(run) == ["c"]
        run.write({"c": {"f": np.zeros(1)}}, 0.0)
        np.testing.assert_array_equal(run["c"]["f"], 0.0)


@pytest.mark.parametrize(
    ("key", "value"), [("e", np.array([print])), (None, np.ones(1))], ids=["pack", "statement"]
)
def test_several_parts_or_none(path, key, value):
    """What fails before the first statement, or in the last of them, leaves the file as it was."""
    with Store(path) as store:
        run = store.begin("toy", {})
        run.add("c", {"f": np.ones(1)}, 0.0)
        with pytest.raises(ValueError, match=r"objects in f|NOT NULL constraint failed: parts.key"):
            run.write({"d": {"f": np.ones(1)}, key: {"f": value}}, 0.0, drop=["c"])
        assert list(run) == ["c"]
    with Store(path) as store:
        assert list(store.last("toy")) == ["c"]


def test_the_status_of_a_run(path):
    with Store(path) as store:
        run = store.begin("toy", {})
        assert run.status == "running"
        assert run.path == path
        run.finish("stopped")
        assert run.status == "stopped"
    with Store(path) as store:
        store.begin("toy", {}, resume=True)
    with Store(path) as store:
        assert store.last("toy").status == "interrupted", "nobody writes it any more"
