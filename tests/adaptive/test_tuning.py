"""Every tuned number is in one file, once, with its source; and one module writes the state."""

import ast
import re
from pathlib import Path

import pytest

import phenes.adaptive
from phenes.adaptive import tuning

ROOM = Path(phenes.adaptive.__file__).parent
MODULES = sorted(path for path in ROOM.rglob("*.py") if path.name != "tuning.py")
PLAIN = {0, 1, 2, 0.5}
# functions whose numbers are no choice of ours: file, function, numbers
FORMULAS = {
    ("cma.py", "rates"): {1.3, 3, 4, 5, 0.25, 64},  # of the tutorial; the last is a cache's size
    ("cma.py", "is_calm"): {1.4},  # of the tutorial
    ("cma.py", "expected_length"): {4, 21},  # of the tutorial
    ("features.py", "pairs"): {8},  # a cache's size
    ("features.py", "higher"): {3, 4, 6, 24},  # Hermite polynomials
    ("newton.py", "edge_of"): {4},  # the largest of normal numbers
    ("restarts.py", "challenge"): {10},  # powers of ten
}


def numbers(path):
    """Numbers in a module: line, value, function around it."""
    found = []

    def visit(node, function):
        if isinstance(node, ast.FunctionDef):
            function = node.name
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            found.append((node.lineno, node.value, function))
        for child in ast.iter_child_nodes(node):
            visit(child, function)

    visit(ast.parse(path.read_text()), "")
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_other_module_has_tuned_numbers(path):
    for line, value, function in numbers(path):
        allowed = PLAIN | FORMULAS.get((path.name, function), set())
        assert value in allowed, f"{path.name}:{line} has {value}: name it in tuning.py"


def assignments():
    tree = ast.parse(Path(tuning.__file__).read_text())
    return [node.targets[0].id for node in tree.body if isinstance(node, ast.Assign)]


def test_every_number_is_named_once_and_used():
    names = assignments()
    assert len(names) == len(set(names)) > 90
    used = "\n".join(path.read_text() for path in MODULES)
    assert [name for name in names if f"tuning.{name}" not in used] == []


def test_every_number_has_a_meaning_and_a_source():
    """The comment above a number, or above the numbers that it belongs to."""
    body = Path(tuning.__file__).read_text().split("# --- arithmetic ---")[1]
    for block in re.split(r"# --- .* ---", body):
        comment, numbers = "", 0
        for line in [*block.strip().splitlines(), "# end"]:
            if line.startswith("# "):
                if numbers:
                    comment, numbers = "", 0
                comment += line[2:] + " "
            elif line:
                assert re.search(r"\[(tutorial|BIPOP|bench|guard)", comment), line
                numbers += 1


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_only_the_descent_writes_phase_mean_and_covariance(path):
    """A marginal is frozen, so that mean and covariance change with it only."""
    if path.name == "descent.py":
        return
    written = {
        node.attr
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    assert not written & {"phase", "marginal", "mean", "cov", "paths", "why", "claim"}
