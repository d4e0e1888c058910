"""`phenes optimize`: somebody's own function, from the command line."""

import json
import sys

import pytest

from tests.test_cli import call, one_line

MODULE = """
import numpy as np
calls = []
def f(x):
    return float(np.sum((x - [1.0, -2.0]) ** 2))
def rows(x):
    return np.sum((x - 1) ** 2, axis=1)
rng = np.random.default_rng(0)
def lab(theta):
    x = theta + 0.1 * rng.standard_normal(theta.shape)
    return x, f(x)
number = 3
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "designs.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield "designs"
    sys.modules.pop("designs", None)


def test_a_function_in_the_folder(module, capsys):
    options = (
        "--x0",
        "0,0",
        "--sigma0",
        0.5,
        "--noise",
        0.1,
        "--budget",
        1500,
        "--seed",
        3,
        "--json",
    )
    code, out, err = call(capsys, "optimize", "designs:f", *options)
    assert code == 0, err
    result = json.loads(out.splitlines()[-1])
    assert result["x"] == pytest.approx([1, -2], abs=0.01)
    assert result["fun"] == pytest.approx(0.02, abs=0.004)
    assert result["nfev"] <= 1500
    with open(result["picture"], "rb") as picture:
        assert picture.read(4) == b"\x89PNG"
    assert "coordinate" in out


def test_rows_bounds_and_many_coordinates(module, capsys):
    options = (
        "--x0",
        "0*14",
        "--sigma0",
        0.5,
        "--bounds",
        "-1:0.5",
        "--vectorized",
        "--budget",
        2000,
        "--json",
    )
    code, out, err = call(capsys, "optimize", "designs:rows", *options)
    assert code == 0, err
    assert json.loads(out.splitlines()[-1])["x"] == pytest.approx([0.5] * 14, abs=0.01)


def test_an_experiment_that_realises_x(module, capsys):
    options = (
        "--x0",
        "0,0",
        "--sigma0",
        0.5,
        "--noise",
        "learn",
        "--realises",
        "--budget",
        1500,
        "--json",
    )
    code, out, err = call(capsys, "optimize", "designs:lab", *options)
    assert code == 0, err
    assert json.loads(out.splitlines()[-1])["x"] == pytest.approx([1, -2], abs=0.02)


WRONG = {
    "no colon": (["designs", "--x0", "0", "--sigma0", "1"], "FUNCTION must be module:function"),
    "no module": (
        ["nowhere:f", "--x0", "0", "--sigma0", "1"],
        "module 'nowhere' cannot be imported",
    ),
    "no function": (
        ["designs:g", "--x0", "0", "--sigma0", "1"],
        "module 'designs' has no function 'g'",
    ),
    "not a function": (
        ["designs:number", "--x0", "0", "--sigma0", "1"],
        "module 'designs' has no function 'number'",
    ),
    "x0 in words": (
        ["designs:f", "--x0", "zero", "--sigma0", "1"],
        "--x0 must be numbers with commas between",
    ),
    "bounds": (
        ["designs:f", "--x0", "0,0", "--sigma0", "1", "--bounds", "3"],
        "--bounds must be low:high",
    ),
    "sigma0": (["designs:f", "--x0", "0,0", "--sigma0", "-1"], "sigma0 must be positive"),
    "noise": (
        ["designs:f", "--x0", "0,0", "--sigma0", "1", "--noise", "1,2,3"],
        "noise must have 2 coordinates",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_one_line(module, capsys, case):
    arguments, sentence = WRONG[case]
    code, _, err = call(capsys, "optimize", *arguments)
    assert code != 0
    assert sentence in err
    assert one_line(err)
