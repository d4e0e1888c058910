"""What a message says about missing packages can be done."""

import re
import tomllib
from pathlib import Path

from phenes._extras import install_hint

ROOT = Path(__file__).parents[1]
HINT = re.compile(r"install_hint\(['\"]([\w,]+)['\"]\)")


def test_every_extra_that_is_named_exists():
    known = set(
        tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    )
    sources = [*(ROOT / "phenes").rglob("*.py"), *(ROOT / "lab" / "phenes_lab").rglob("*.py")]
    calls = [call for path in sources for call in HINT.findall(path.read_text())]
    named = {name for call in calls for name in call.split(",")}
    assert {"dask", "ray", "rl"} <= named <= known


def test_for_a_clone_and_for_an_index():
    assert (
        install_hint("rl")
        == "pip install -e '.[rl]' in a clone of phenes, pip install 'phenes[rl]' elsewhere"
    )
