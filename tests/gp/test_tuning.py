"""Every number of the search has a name, a meaning, a source and a use."""

import ast
import re
from pathlib import Path

import phenes.gp
from phenes.gp import tuning

ROOM = Path(phenes.gp.__file__).parent


def names():
    for node in ast.parse(Path(tuning.__file__).read_text()).body:
        if isinstance(node, ast.Assign):
            target = node.targets[0]
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            yield from (part.id for part in parts)


def test_every_number_is_named_once_and_used():
    found = list(names())
    assert len(found) == len(set(found)) > 30
    used = "\n".join(path.read_text() for path in ROOM.glob("*.py") if path.name != "tuning.py")
    assert [name for name in found if f"tuning.{name}" not in used] == []


def test_every_number_has_a_source():
    comment, fresh = "", True
    for line in Path(tuning.__file__).read_text().split("# --- kernel ---")[1].splitlines():
        if line.startswith("# ---"):
            comment = ""
        elif line.startswith("# "):
            comment = line if fresh else f"{comment} {line}"
            fresh = False
        elif line:
            assert re.search(r"\[(few|prior|guard)\]", comment), line
            fresh = True
