"""tools/mathematics.py: CI runs the whole laws if, and only if, the code they are about changed."""

import importlib.util
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def load():
    spec = importlib.util.spec_from_file_location("mathematics", ROOT / "tools" / "mathematics.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


mathematics = load()


@pytest.fixture
def copy(tmp_path):
    """The sources alone, with the digest of them written down."""
    for path in mathematics.sources(ROOT):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    (tmp_path / mathematics.STAMP).write_text(mathematics.digest(tmp_path) + "\n")
    assert not mathematics.changed(tmp_path)
    return tmp_path


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_every_room_of_the_mathematics_is_there():
    files = {path.as_posix() for path in mathematics.sources(ROOT)}
    for name in mathematics.MATHEMATICS:
        assert [file for file in files if file.startswith(f"phenes/{name}")], name
    assert {"tests/laws/test_laws.py", "tests/laws/oracles.json"} <= files


def test_comments_and_docstrings_do_not_count(copy):
    edit(copy / "phenes/metric.py", '"""', '"""Another sentence. ')
    with open(copy / "phenes/metric.py", "a") as file:
        file.write("# a comment\n")
    assert not mathematics.changed(copy)


def test_code_laws_and_new_files_count(copy):
    for change in (
        lambda: edit(copy / "phenes/search/gaussian.py", "return ", "return 1 * "),
        lambda: edit(copy / "tests/laws/test_laws.py", "assert ", "assert not "),
        lambda: edit(copy / "tests/laws/oracles.json", "1", "2"),
        lambda: (copy / "phenes/inputs/new.py").write_text("x = 1\n"),
        lambda: (copy / "phenes/metric.py").unlink(),
        lambda: (copy / mathematics.STAMP).unlink(),
    ):
        change()
        assert mathematics.changed(copy)
        (copy / mathematics.STAMP).write_text(mathematics.digest(copy) + "\n")
        assert not mathematics.changed(copy)
