"""tests/tiers.py: a tier runs if, and only if, the code or the tests it is about have changed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import tiers

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """The sources of every tier alone, with stamps of them."""
    root = tmp_path_factory.mktemp("sources")
    for name in tiers.TIERS:
        for path in tiers.sources(name):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, root / path)
    for name in tiers.TIERS:
        tiers.stamp(name, root)
    assert tiers.due(root) == []
    return root


@pytest.fixture
def copy(original, tmp_path):
    return shutil.copytree(original, tmp_path / "copy")


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize("name", tiers.TIERS)
def test_every_room_of_a_tier_is_there(name):
    files = {path.as_posix() for path in tiers.sources(name)}
    for home in tiers.TIERS[name].code:
        assert [file for file in files if file.startswith(home)], home
    assert [file for file in files if "tests/" in file]


@pytest.mark.parametrize("name", tiers.TIERS)
def test_make_knows_every_tier(name):
    assert f" {name} " in f" {(ROOT / 'Makefile').read_text()} ".replace(":", " ")


def test_comments_and_docstrings_do_not_count(copy):
    edit(copy / "phenes/metric.py", '"""', '"""Another sentence. ')
    with open(copy / "phenes/metric.py", "a") as file:
        file.write("# a comment\n")
    assert tiers.due(copy) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda root: edit(root / "phenes/search/gaussian.py", "return ", "return 1 * "),
        lambda root: edit(root / "tests/laws/test_laws.py", "assert ", "assert not "),
        lambda root: edit(root / "tests/laws/oracles.json", "1", "2"),
        lambda root: (root / "phenes/inputs/new.py").write_text("x = 1\n"),
        lambda root: (root / "phenes/metric.py").unlink(),
        lambda root: (root / tiers.STAMPS / "laws.txt").unlink(),
        lambda root: (root / "tests/test_new.py").write_text("laws".join(['tier("', '")\n'])),
    ],
    ids=["code", "law", "data", "new file", "removed", "no stamp", "new test"],
)
def test_code_tests_and_new_files_count(copy, change):
    change(copy)
    changed = tiers.due(copy)
    assert "laws" in changed
    for name in changed:
        tiers.stamp(name, copy)
    assert tiers.due(copy) == []


def test_other_tiers_are_left_alone(copy):
    (copy / "phenes/rl/new.py").write_text("x = 1\n")
    assert tiers.due(copy) == ["rl", "lab", "pages"]


TESTS = """
import pytest
def test_cheap(): pass
@pytest.mark.tier('laws')
def test_dear(): pass
@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.tier('laws'))])
def test_some(n): pass
"""
WHOLE = """
import pytest
from tests.tiers import STAYS
pytestmark = pytest.mark.tier('laws')
def test_dear(): pass
@STAYS
def test_cheap(): pass
@pytest.mark.parametrize("n", [1, 2, pytest.param(3, marks=STAYS)])
def test_some(n): pass
"""


@pytest.mark.parametrize(
    ("tier", "text", "said"),
    [
        (None, TESTS, "2 passed, 2 deselected"),
        ("laws", TESTS, "2 passed, 2 deselected"),
        (None, WHOLE, "2 passed, 3 deselected"),
        ("laws", WHOLE, "3 passed, 2 deselected"),
        ("lows", TESTS, "no such tier: lows"),
        (None, TESTS.replace("laws", "lows"), "no such tier: lows"),
    ],
)
def test_a_tier_is_left_out_unless_it_is_chosen(tmp_path, tier, text, said):
    (tmp_path / "test_some.py").write_text(text)
    own = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment = {name: value for name, value in os.environ.items() if name != "PHENES_TIER"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.tiers", "-c", os.devnull, tmp_path],
        env=environment | own | ({"PHENES_TIER": tier} if tier else {}),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert said in done.stdout + done.stderr


def test_what_can_be_asked_of_it(capsys, monkeypatch):
    ran, codes = [], {"laws": 1}
    monkeypatch.setattr(tiers, "run", lambda name: ran.append(name) or codes.get(name, 0))
    monkeypatch.setattr(tiers, "due", lambda: ["laws"])
    assert tiers.main(["due"]) == 0
    assert capsys.readouterr().out == "laws\n"
    assert tiers.main(["run", "due"]) == 1
    assert ran == ["laws"]
    monkeypatch.setattr(tiers, "due", list)
    assert tiers.main(["run", "due"]) == 0
    assert tiers.main(["run", "lows"]) == tiers.__doc__
    assert tiers.main(["run"]) == tiers.__doc__
