"""`tools/slim.py`: some arrays in half precision, everything else as it was."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from phenes_lab import driver

from phenes.store import Store

TOOL = Path(__file__).parents[2] / "tools" / "slim.py"


@pytest.fixture
def tool():
    found = importlib.util.spec_from_file_location("slim", TOOL)
    assert found is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture
def full(tmp_path):
    path = tmp_path / "contexts.db"
    with Store(path) as store:
        run = store.begin("contexts", {"seeds": 3})
        signature = driver.Signature(run, "contexts")
        run.add("a/b", {"gate": np.array([0.1, 0.7]), "loss": np.array([0.1])}, 2.0)
        signature.renew()
        run.finish()
    return path


def test_only_what_is_named_loses_digits(tool, full, monkeypatch):
    monkeypatch.setattr(tool, "_summary", lambda name, store: {})
    target = full.with_name("small.db")
    tool.slim(full, target, {"gate"})
    with Store(target, create=False) as store, Store(full, create=False) as before:
        run, old = store.last("contexts"), before.last("contexts")
        assert run["a/b"]["gate"].dtype == np.float16
        np.testing.assert_array_equal(run["a/b"]["loss"], old["a/b"]["loss"])
        assert run.about.settings == old.about.settings
        assert run.about.status == "done"
        assert run.seconds() == old.seconds()
        assert driver.sessions(run) == driver.sessions(old)
    with pytest.raises(ValueError, match="is there already"):
        tool.slim(full, target, {"gate"})


def test_another_summary_is_refused(tool, full, monkeypatch):
    told = lambda name, store: float(store.last(name)["a/b"]["gate"].sum())  # noqa: E731
    monkeypatch.setattr(tool, "_summary", told)
    target = full.with_name("small.db")
    with pytest.raises(ValueError, match="would be another one"):
        tool.slim(full, target, {"gate"})
    assert not target.exists()
