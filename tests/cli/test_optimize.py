"""`phenes optimize`: somebody's own function, from the command line."""

import dataclasses
import json
import os
import re
import shlex
import sys

import numpy as np
import pytest

import phenes
import phenes.plots.convergence
from phenes.cli.optimize import table
from phenes.optimizer.answer.result import Failing
from phenes.store import Store
from phenes.watch.snapshot import Reader
from tests.cli.calling import call

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
def held(x):
    return f(x), {"left": x[0] - 0.5, "right": -x[0] - 9}
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "designs.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield "designs"
    sys.modules.pop("designs", None)


@pytest.fixture
def drawn():
    """The picture of the run is drawn."""


@pytest.fixture(autouse=True)
def undrawn(request, monkeypatch):
    """It takes longer than most searches here, and is drawn for one of each kind."""
    if "drawn" not in request.fixturenames:
        monkeypatch.setattr(phenes.plots.convergence, "figure", lambda result: None)
        monkeypatch.setattr(phenes.plots, "save", lambda figure, path: path)


def test_a_function_in_the_folder(module, capsys, drawn):
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


def test_rows_bounds_and_many_coordinates(module, capsys, drawn):
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
    result = json.loads(out.splitlines()[-1])
    assert result["x"] == pytest.approx([1, -2], abs=0.02)
    (std,) = re.findall(r"standard deviation (0\.\d+)", result["noise"])
    assert float(std) == pytest.approx(0.1, rel=0.1)
    assert f"noise: {result['noise']}" in " ".join(out.split())


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


BROKEN = """
import numpy as np
def f(x):
    return (x
"""
RAISES = """
import numpy as np
table = np.load("nowhere.npy")
"""
START = ["--x0", "0,0", "--sigma0", "1"]
WRONG = {
    "no colon": (["designs", *START], "FUNCTION must be module:function"),
    "no module": (["nowhere:f", *START], "module 'nowhere' cannot be imported"),
    "no function": (["designs:g", *START], "module 'designs' has no function 'g'"),
    "not a function": (["designs:number", *START], "module 'designs' has no function 'number'"),
    "no file": (["nowhere.py:f", *START], "there is no file 'nowhere.py'"),
    "a syntax error": (["broken.py:f", *START], "broken.py, line 4: SyntaxError: '(' was never"),
    "a module that raises": (["raises:f", *START], "raises.py, line 3: FileNotFoundError"),
    "a file like a module": (["json.py:f", *START], "'json.py' has the name of another module"),
    "x0 in words": (
        ["designs:f", "--x0", "zero", "--sigma0", "1"],
        "--x0 must be numbers with commas between",
    ),
    "x0 not finite": (["designs:f", "--x0", "nan", "--sigma0", "1"], "--x0 must be finite"),
    "bounds": (["designs:f", *START, "--bounds", "3"], "--bounds must be low:high"),
    "bounds crossed": (["designs:f", *START, "--bounds", "1:-1"], "--bounds must have low below"),
    "x0 outside": (["designs:f", *START, "--bounds", "1:2"], "--x0 must lie within bounds"),
    "sigma0": (["designs:f", "--x0", "0,0", "--sigma0", "-1"], "--sigma0 must be positive"),
    "noise": (["designs:f", *START, "--noise", "1,2,3"], "--noise must have 2 coordinates"),
    "negative noise": (["designs:f", *START, "--noise", "-1"], "--noise "),
    "timeout": (["designs:f", *START, "--timeout", "0"], "--timeout must be a positive number"),
    "target": (["designs:f", *START, "--target", "nan"], "--target must be a finite number"),
    "attempts": (["designs:f", *START, "--max-attempts", "0"], "'--max-attempts': must be a"),
    "budget in words": (["designs:f", *START, "--budget", "many"], "'--budget': must be a whole"),
    "half an evaluation": (["designs:f", *START, "--budget", "1.5"], "least 1, got '1.5'"),
    "no budget": (["designs:f", *START, "--budget", "inf"], "least 1, got 'inf'"),
    "verify": (["designs:f", *START, "--budget", "9", "--verify", "9"], "--verify must "),
    "workers": (["designs:f", *START, "--workers", "0"], "--workers must be a number"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_one_line(module, capsys, case, tmp_path):
    for name, text in (("broken", BROKEN), ("raises", RAISES), ("json", "")):
        (tmp_path / f"{name}.py").write_text(text)
    arguments, sentence = WRONG[case]
    code, out, err = call(capsys, "optimize", *arguments)
    assert (code, out) == (2, ""), err
    assert sentence in err
    assert err.startswith("phenes: ")
    assert err.count("\n") == 1


def test_a_function_of_a_file_and_a_budget_in_powers_of_ten(module, capsys, tmp_path):
    """Of a file in another folder, whose neighbours it may import."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "helper.py").write_text("centre = 1.0")
    code = "from helper import centre\ndef f(x):\n    return float(sum((x - centre) ** 2))"
    (tmp_path / "deep" / "beam.py").write_text(code)
    options = ("--x0", "0,0", "--sigma0", "0.5", "--budget", "1e2", "--seed", "1e0", "--json")
    code, out, err = call(capsys, "optimize", "deep/beam.py:f", *options)
    assert code == 0, err
    assert json.loads(out.splitlines()[-1])["nfev"] <= 100
    for name in ("beam", "helper"):
        sys.modules.pop(name)


def test_ctrl_c_says_how_to_go_on_and_that_is_true(module, capsys, monkeypatch):
    """The command that is printed ends with all of the evaluations in one run."""
    import designs

    designs.calls = []

    def stopped(x):
        designs.calls.append(x)
        if len(designs.calls) == 30:
            raise KeyboardInterrupt
        return designs.number

    monkeypatch.setattr(designs, "f", stopped)
    options = ("--x0", "0,0", "--sigma0", "0.5", "--budget", "60", "--seed", "3", "--verify", "0")
    code, out, err = call(capsys, "optimize", "designs:f", *options, "--out", "my out")
    assert (code, out) == (130, "")
    assert err.startswith("phenes: stopped; what was done is in my out/runs.db; go on with: ")
    command = shlex.split(err.split("go on with: ")[1])
    assert command[:3] == ["phenes", "optimize", "designs:f"]
    assert command[-1] == "--resume"
    code, out, err = call(capsys, *command[1:], "--json")
    assert code == 0, err
    assert json.loads(out.splitlines()[-1])["nfev"] == 60
    assert len(designs.calls) <= 61  # the one that was interrupted is made again
    with Store("my out/runs.db", create=False) as store:
        assert len(store.runs()) == 1


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


PARAMETERS = """
from phenes import Integer, Real
import numpy as np
def cost(width, turns):
    return (width - 80) ** 2 / 100 + (turns - 9) ** 2
def annotated(width: Real(50, 300, unit="mm"), turns: Integer(3, 40)):
    return cost(width, turns)
"""
FILE = """
budget = 40
popsize = 4
seed = 4
engine = "gp"

[space]
width = {real = [50, 300], unit = "mm", noise = 1.0}
turns = {integer = [3, 40]}

[workers]
timeout = 60
"""


@pytest.fixture
def parameters(module, tmp_path):
    (tmp_path / "parts.py").write_text(PARAMETERS)
    (tmp_path / "space.toml").write_text(FILE)
    yield "parts"
    sys.modules.pop("parts", None)


def test_a_file_says_it_all(parameters, capsys, drawn):
    code, out, err = call(
        capsys, "optimize", "parts:cost", "--space", "space.toml", "--x0", "turns=20", "--json"
    )
    assert code == 0, err
    said = json.loads(out.splitlines()[-1])
    assert said["x"]["width"] == pytest.approx(80, abs=5)
    assert said["x"]["turns"] == 9
    assert said["nfev"] == 40
    assert "± 1" in out
    assert "exactly" in out
    assert "mm" in out
    with Store("out/runs.db") as kept:
        settings = kept.runs()[-1].settings
    assert settings["seed"] == 4
    assert settings["x0"]["turns"] == 20
    assert settings["space"]["width"] == {"real": [50, 300], "unit": "mm", "noise": 1.0}


WHOLE = """
budget = 24
popsize = 4
noise = [0.5, 0.0]
objective = "cvar(0.8)"
maximize = true
verify = 6
engine = "gp"
seed = 3
constraints = {wide = 0.9}
x0 = {turns = 20}
[workers]
workers = 2
timeout = 30.0
[space]
width = {real = [50, 300], unit = "mm"}
turns = {integer = [3, 40]}
"""
LOGGED = """
import os
def gain(width, turns):
    with open("who.txt", "a") as file:
        print(os.getpid(), file=file)
    return -((width - 80) ** 2) / 100 - (turns - 9) ** 2, {"wide": width - 120}
"""


def test_every_word_of_a_file_is_honoured(tmp_path, monkeypatch, capsys, drawn):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "whole.toml").write_text(WHOLE)
    (tmp_path / "logged.py").write_text(LOGGED)
    code, out, err = call(capsys, "optimize", "logged.py:gain", "--space", "whole.toml", "--json")
    assert code == 0, err
    said = json.loads(out.splitlines()[-1])
    assert said["objective"] == "cvar(0.8)"
    assert "lower CVaR 80 % of f(x)" in out
    assert said["nfev"] == 24
    assert "wide" in said["constraints"]
    pids = set((tmp_path / "who.txt").read_text().split())
    assert str(os.getpid()) not in pids, "workers evaluate, not this process"
    with Store("out/runs.db") as kept:
        run = kept[kept.runs()[-1].id]
        settings, parts = run.about.settings, [run[key] for key in run if key.isdigit()]
    known = ("verify", "seed", "maximize", "engine")
    assert [settings[name] for name in known] == [6, 3, True, "gp"]
    assert settings["x0"]["turns"] == 20
    assert settings["objective"] == {"name": "cvar", "level": 0.8}
    assert settings["constraints"]
    theta, x = (np.concatenate([part[name] for part in parts]) for name in ("theta", "x"))
    assert np.std((x - theta)[:, 0]) == pytest.approx(0.5, rel=0.5)  # noise, of 24 evaluations


def test_what_the_command_line_says_counts_more_than_the_file(parameters, capsys):
    code, out, err = call(
        capsys, "optimize", "parts:cost", "--space", "space.toml", "--budget", 20, "--json"
    )
    assert code == 0, err
    assert json.loads(out.splitlines()[-1])["nfev"] == 20


def test_the_space_may_be_in_the_function(parameters, capsys):
    code, out, err = call(capsys, "optimize", "parts:annotated", "--budget", 60, "--json")
    assert code == 0, err
    assert json.loads(out.splitlines()[-1])["x"]["turns"] in range(3, 41)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("budget", "budgte"), "got 'budgte'"),
        (("timeout", "time"), "workers in space.toml must be of workers, timeout"),
        (("[50, 300]", "[300, 50]"), "width: Real must have low below high, got 300 and 50"),
        (("40\n", '"many"\n'), "budget must be a whole number of at least 1, got 'many'"),
    ],
)
def test_a_wrong_file_is_one_line(parameters, capsys, tmp_path, change, said):
    (tmp_path / "space.toml").write_text(FILE.replace(*change))
    code, _, err = call(capsys, "optimize", "parts:cost", "--space", "space.toml")
    assert code != 0
    assert said in " ".join(err.split())


def test_nothing_to_search_is_one_line(module, capsys):
    code, _, err = call(capsys, "optimize", "designs:f")
    assert code != 0
    assert "a space or x0 must be given" in " ".join(err.split())
    code, _, err = call(capsys, "optimize", "designs:f", "--space", "nowhere.toml")
    assert code != 0
    assert "nowhere.toml cannot be read" in " ".join(err.split())


@pytest.mark.parametrize(
    ("given", "asked"), [("0.9", 0.9), ("left=0.9,right=0.5", None), ("average", None)]
)
def test_constraints(module, capsys, given, asked):
    start = ("--x0", "0,0", "--sigma0", 0.5, "--noise", 0.1, "--budget", 16, "--json")
    code, out, err = call(capsys, "optimize", "designs:held", *start, "--constraints", given)
    assert code == 0, err
    found = json.loads(out.splitlines()[-1])["constraints"]
    head = next(line for line in out.splitlines() if "at least (95 %)" in line)
    assert head.index("constraint") < head.index("draws") < head.index("mean")  # on one line
    assert list(found) == ["left", "right", "all"]
    assert found["all"]["wanted"] == asked
    assert found["left"]["draws"] > 0


@pytest.mark.parametrize("given", ["1.5", "much", "left=2"])
def test_constraints_that_are_none(module, capsys, given):
    start = ("--x0", "0,0", "--sigma0", 0.5, "--constraints", given)
    code, _, err = call(capsys, "optimize", "designs:held", *start)
    assert code == 2
    assert "constraints must be a probability between 0 and 1" in err
