"""What a message says about missing packages can be done."""

import re
import tomllib
from pathlib import Path

from phenes._extras import install_hint

ROOT = Path(__file__).parents[1]


def test_every_extra_that_is_named_exists():
    known = set(
        tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    )
    named = {
        name
        for path in (ROOT / "phenes").rglob("*.py")
        for name in re.findall(r"install\('(\w+)'\)", path.read_text())
    }
    assert {"bench", "contexts", "dask", "ray", "rl"} <= named <= known


def test_for_a_clone_and_for_an_index():
    assert (
        install_hint("rl")
        == "pip install -e '.[rl]' in a clone of phenes, pip install 'phenes[rl]' elsewhere"
    )
