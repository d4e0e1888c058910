"""`phenes front`: two objectives, from the command line."""

import csv
import json

import numpy as np
import pytest

import phenes
from tests.cli.calling import call

MODULE = """
def two(width, turns):
    return (width - 1) ** 2 + turns, (width + 1) ** 2 + turns
def one(x):
    return (x[0] - 1) ** 2 + 2 * x[0] * x[1]
"""
FILE = """
budget = 40
points = 3
seed = 2
objectives = ["mean", "quantile(0.8)"]
[space]
width = {real = [-2, 2], unit = "mm", noise = 0.1}
turns = {integer = [1, 3]}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "twodesigns.py").write_text(MODULE)
    (tmp_path / "front.toml").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.tier("pages")  # due whenever the library changes
def test_a_file_holds_all_that_a_front_needs(folder, capsys):
    code, out, _ = call(capsys, "front", "twodesigns:two", "--space", "front.toml", "--json")
    said = json.loads(out.splitlines()[-1])
    assert code == 0
    assert said["success"]
    assert said["nfev"] == 40
    found = phenes.Front.load(said["data"])
    assert found.seed == 2
    assert [axis.label for axis in found.axes] == ["E f1", "80 % quantile of f2"]
    assert len(found) <= 3
    assert said["front"]["width"] == [point["width"] for point in found.thetas]
    rows = list(csv.DictReader((folder / "out" / "front.csv").read_text().splitlines()))
    assert [float(row["width"]) for row in rows] == said["front"]["width"]
    assert (folder / "out" / "front.png").stat().st_size > 1000


def test_options_of_the_command_line_are_those_of_the_function(folder, capsys):
    words = ["--x0", "0.5,0", "--sigma0", "0.8,0.2", "--noise", "0,0.3", "--budget", "30"]
    more = ["--bounds", "-1:2.5,-0.5:0.5", "--objectives", "mean,std", "--json", "--seed", "0"]
    code, out, _ = call(capsys, "front", "twodesigns:one", *words, *more)
    assert code == 0
    same = phenes.front(
        lambda x: (x[0] - 1) ** 2 + 2 * x[0] * x[1],
        [0.5, 0.0],
        [0.8, 0.2],
        [0.0, 0.3],
        bounds=[(-1, 2.5), (-0.5, 0.5)],
        budget=30,
        seed=0,
    )
    said = json.loads(out.splitlines()[-1])
    assert np.array_equal(said["front"]["E f(x)"], same.values[:, 0])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--objectives", "mean"], "must be two risks"),
        (["--objectives", "mean,best"], "objective must be one of"),
        (["--maximize", "third"], "--maximize must be first, second or both"),
        (["--budget", "3"], "must be at least"),
    ],
)
def test_wrong_options_are_one_line(folder, capsys, options, words):
    plain = ["--x0", "0,0", "--sigma0", "1", "--noise", "0.1"]
    code, _, err = call(capsys, "front", "twodesigns:one", *plain, *options)
    assert code != 0
    assert words in err
    assert err.count("\n") == 1
