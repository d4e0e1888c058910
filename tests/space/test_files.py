"""TOML files with a space."""

import re

import pytest

from phenes.space import Choice, Integer, Log, Real, Space, read_file

TEXT = """
budget = 200

[space]
width = {real = [50, 300], unit = "mm", noise = 4.0}
feed = {log = [1e-3, 10], noise = 0.05}
turns = {integer = [3, 40]}
alloy = {choice = ["A", "B", "C"]}

[workers]
workers = 2
"""


def test_a_file_has_a_space_and_settings(tmp_path):
    (tmp_path / "space.toml").write_text(TEXT)
    space, settings = read_file(tmp_path / "space.toml")
    assert space == Space(
        width=Real(50, 300, unit="mm", noise=4.0),
        feed=Log(1e-3, 10, noise=0.05),
        turns=Integer(3, 40),
        alloy=Choice("A", "B", "C"),
    )
    assert settings == {"budget": 200, "workers": {"workers": 2}}


def test_noise_beside_the_space_is_one_law_for_all(tmp_path):
    (tmp_path / "a.toml").write_text('noise = "learn"\n[space]\na = {real = [0, 1]}\n')
    space, settings = read_file(tmp_path / "a.toml")
    assert space is not None
    assert space.noise == "learn"
    assert settings == {}
    (tmp_path / "b.toml").write_text("noise = 0.1\nbudget = 3\n")
    assert read_file(tmp_path / "b.toml") == (None, {"noise": 0.1, "budget": 3})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("space = 3", "must be a table of parameters, got 3"),
        ("[space", "must be a TOML file"),
        ("[space]\na = {real = [2, 1]}", "a: Real must have low below high, got 2 and 1"),
    ],
)
def test_bad_files_are_one_sentence(tmp_path, text, said):
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(ValueError, match=re.escape(said)):
        read_file(tmp_path / "a.toml")
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        read_file(tmp_path / "b.toml")
