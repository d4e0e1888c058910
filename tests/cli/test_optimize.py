"""`phenes optimize`: somebody's own function, from the command line."""

import dataclasses
import json
import sys

import numpy as np
import pytest

import phenes
from phenes.cli.optimize import table
from phenes.optimizer.result import Failing
from phenes.store import Store
from phenes.watch.snapshot import Reader
from tests.cli.calling import call, one_line

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


def test_a_checkpoint_is_gone_on_with(module, capsys, tmp_path):
    """The second call finds the run of the first in the file: one run, 200 evaluations in all."""
    file = tmp_path / "kept.db"

    def optimize(budget):
        options = ("--x0", "0,0", "--sigma0", 0.5, "--noise", 0.1, "--seed", 3, "--verify", 0)
        command = ("optimize", "designs:f", *options, "--checkpoint", file, "--budget", budget)
        code, out, err = call(capsys, *command, "--json")
        assert code == 0, err
        with Store(file, create=False) as store:
            stored = [Reader(store[about.id]).snapshot()["done"] for about in store.runs()]
        return json.loads(out.splitlines()[-1])["nfev"], stored

    assert optimize(100) == (100, [100])
    assert optimize(200) == (200, [200])


def test_without_a_checkpoint_every_call_is_a_run_unless_resumed(module, capsys, tmp_path):
    def optimize(*more):
        options = ("--x0", "0,0", "--sigma0", 0.5, "--budget", 40, "--seed", 3, "--out", tmp_path)
        code, _, err = call(capsys, "optimize", "designs:f", *options, *more)
        assert code == 0, err
        with Store(tmp_path / "runs.db", create=False) as store:
            return len(store.runs())

    assert [optimize(), optimize(), optimize("--resume")] == [1, 2, 2]


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


def test_the_table_has_the_interval_and_what_fails():
    result = phenes.minimize(
        lambda x: float(np.sum(x**2)), x0=np.zeros(2), sigma0=0.5, noise=0.1, budget=200, seed=0
    )
    title = table(result).title
    low, high = result.interval
    assert (
        f"95 %: {low:.4g} to {high:.4g}, from {result.verified} evaluations at x; 200 evaluations"
        " in all" in title
    )
    assert "failing" not in title
    some = dataclasses.replace(
        result, failed=7, failing=Failing(0.1, 0.02, 0.3, 20), success=False, message="too few"
    )
    title = table(some).title
    assert "failing: 10.0% of 20 evaluations at x (95 %: 2.0% to 30.0%)" in title
    assert title.endswith("not a success: too few")


def test_the_table_of_many_coordinates_has_the_first_and_the_last():
    many = phenes.Result(np.arange(30.0), 1.0, 0.1, 50, 5, True, "done", spread=np.ones(30))
    assert [cell for cell in table(many).columns[0].cells] == [
        *(str(k) for k in range(10)),
        *(str(k) for k in range(25, 30)),
    ]
