"""Examples draw with the laboratory, and say without it how to get it."""

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import phenes
from phenes.problems.engineering import COATING, FILTER, LAUNCH, REGULATOR

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = {
    "filter_yield": FILTER,
    "mirror_coating": COATING,
    "gravity_assist": LAUNCH,
    "noisy_actuator": REGULATOR,
}


# a trajectory, and a coating of many layers, take seconds to assess
DEAR = ("gravity_assist", "mirror_coating")
CASES = [
    pytest.param(name, marks=pytest.mark.tier("lab") if name in DEAR else ()) for name in NAMES
]


@pytest.fixture
def draw(monkeypatch, tmp_path):
    def run(name):
        found = SimpleNamespace(x=np.asarray(NAMES[name].nominal))
        monkeypatch.setattr(phenes, "maximize", lambda *given, **options: found, raising=False)
        monkeypatch.setattr(sys, "argv", [name, str(tmp_path / "picture.png")])
        runpy.run_path(str(EXAMPLES / f"{name}.py"))
        return tmp_path / "picture.png"

    return run


@pytest.mark.parametrize("name", CASES)
def test_the_picture_of_an_example(draw, name):
    assert draw(name).read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("name", CASES)
def test_without_the_laboratory(draw, name, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "phenes_lab", None)
    monkeypatch.setitem(sys.modules, "phenes_lab.plots", None)
    assert not draw(name).exists()
    assert "pip install -e ./lab" in capsys.readouterr().out.splitlines()[-1]
