"""The house keeps its rules (tests/architecture.py), and every rule can fail."""

from pathlib import Path

import pytest

from tests import architecture

ROOT = Path(__file__).parents[1]
# what is known to break a rule, by rule and module; it only ever gets shorter
KNOWN: dict[str, set[str]] = {}
RULES = {
    rule.__name__: rule
    for rule in (
        architecture.facade,
        architecture.laboratory,
        architecture.nested,
        architecture.private,
        architecture.strangers,
        architecture.upward,
    )
}


@pytest.fixture(scope="module")
def house():
    return architecture.read(ROOT, "phenes")


@pytest.mark.parametrize("rule", RULES)
def test_the_house_keeps_the_rule(house, rule):
    found = RULES[rule](house)
    assert [str(use) for use in found if use.by not in KNOWN.get(rule, ())] == []
    assert KNOWN.get(rule, set()) - {use.by for use in found} == set()  # repaired: off the list


def test_rooms_do_not_import_each_other_in_a_circle(house):
    assert architecture.cycle(house) == []


def test_every_room_has_a_layer_and_every_layer_rooms(house):
    rooms = {architecture.room(name) for name in house} - {"phenes"}
    assert rooms == {name for row in architecture.LAYERS for name in row}


def test_the_map_in_the_documentation_is_that_of_the_rules():
    """docs/architecture.md draws the layers, highest first, one row a line."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    section = page.split("## Rooms and layers")[1]
    drawn = section.split("```text\n")[1].split("```")[0].splitlines()
    rows = [tuple(line.split("#")[0].split()) for line in drawn]
    assert rows == list(reversed(architecture.LAYERS))


def test_every_module_of_the_core_has_a_test():
    """A file of its name, or a line of docs/architecture.md that names one which is there."""
    tests = architecture.mirrored(ROOT, (ROOT / "docs" / "architecture.md").read_text())
    assert len(tests) > 60
    assert [module for module, files in tests.items() if not files] == []
    assert [file for files in tests.values() for file in files if not (ROOT / file).exists()] == []


def test_a_module_without_a_test_is_noticed(tmp_path):
    files = "phenes/search/a.py phenes/_b.py phenes/inputs/c.py phenes/inputs/d.py tests/test_b.py"
    for file in files.split():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    page = (
        "| `phenes/inputs/` | `tests/laws/x.py`, `tests/y.py` |\n"
        "| `phenes/inputs/d.py`, `phenes/gone.py` | here `tests/z.py` |\n"
    )
    assert architecture.mirrored(tmp_path, page) == {
        "phenes/_b.py": ["tests/test_b.py"],
        "phenes/search/a.py": [],
        "phenes/inputs/c.py": ["tests/laws/x.py", "tests/y.py"],
        "phenes/inputs/d.py": ["tests/z.py", "tests/laws/x.py", "tests/y.py"],
        "phenes/gone.py": ["there is no such module"],
    }


def test_the_laboratory_takes_no_private_names():
    tree = architecture.read(ROOT, "phenes") | architecture.read(ROOT / "lab", "phenes_lab")
    found = [use for use in architecture.private(tree) if use.by.startswith("phenes_lab")]
    assert [str(use) for use in found] == []


BAD = {
    "facade": [
        {"phenes": "", "phenes.search": "import phenes"},
        {"phenes": "", "phenes.search": "def late():\n    from phenes import minimize"},
        {"phenes": "", "phenes.search": "import importlib\nimportlib.import_module('phenes')"},
    ],
    "laboratory": [
        {"phenes.search": "from phenes_lab.driver import run"},
        {"phenes.cli": "def late():\n    import phenes_lab"},
    ],
    "nested": [
        {"phenes.search": "a = 1 if b else 2 if c else 3"},
        {"phenes.search": "a = (1 if b else 2) if c else 3"},
    ],
    "private": [
        {"phenes.search": "from phenes.checks import _settle", "phenes.checks": ""},
        {"phenes.search.a": "from phenes.search.b import _settle", "phenes.search.b": ""},
        {"phenes.search.a": "from .b import _settle", "phenes.search.b": ""},
        {"phenes.search": "from phenes import checks\nchecks._settle()", "phenes.checks": ""},
    ],
    "strangers": [
        {"phenes.optimizer": "def plot():\n    import matplotlib.pyplot"},
        {"phenes.adaptive.cma": "import jax.numpy as jnp"},
    ],
    "upward": [
        {"phenes.search": "import phenes.inputs", "phenes.inputs": ""},
        {"phenes.search": "from phenes import inputs", "phenes.inputs": ""},
        {"phenes.search": "def late():\n    from phenes.cli import app", "phenes.cli": ""},
        {"phenes.search.a": "from ..cli import app", "phenes.cli": "", "phenes.search": ""},
        {"phenes.loop": "from phenes.attic import x", "phenes.attic": ""},
    ],
}
GOOD = {
    "phenes": "from phenes.loop import run\nimport phenes.cli",
    "phenes.loop": "from phenes import _random\nfrom phenes._random import normal\nimport jax",
    "phenes._random": "from jax import random\nrandom._secret()",
    "phenes.search": "",
    "phenes.search.a": "from .b import public\nfrom phenes._version import __version__",
    "phenes.search.b": "",
    "phenes._version": "",
    "phenes.cli": "import typer\na = 1 if b else 2",
}


@pytest.mark.parametrize(("rule", "k"), [(rule, k) for rule in BAD for k in range(len(BAD[rule]))])
def test_the_rule_can_fail(rule, k):
    assert len(RULES[rule](BAD[rule][k])) == 1


@pytest.mark.parametrize("rule", RULES)
def test_the_rule_says_nothing_of_a_good_tree(rule):
    assert RULES[rule](GOOD) == []


def test_a_circle_is_found_and_named():
    tree = {
        "phenes.a": "import phenes.b.one",
        "phenes.b.one": "",
        "phenes.b.two": "def late():\n    from phenes import c",
        "phenes.c": "from phenes.a import x",
    }
    assert architecture.cycle(tree) == ["a", "b", "c", "a"]
    assert architecture.cycle(GOOD) == []
