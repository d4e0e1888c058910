"""Draws the figures before the pages are read: docs/figures/NAME.py has `figure()`, whose picture
becomes _figures/NAME.png.
"""

import importlib.util
import time
from pathlib import Path
from typing import Any

from sphinx.util import logging

DOCS = Path(__file__).parents[1]
FIGURES = DOCS / "_figures"

logger = logging.getLogger(__name__)


def draw(path: Path, force: bool = False) -> Path:
    """The picture of one script, drawn unless it is newer than the script and the library."""
    target = FIGURES / f"{path.stem}.png"
    if force or not target.exists() or target.stat().st_mtime < _newest(path):
        from phenes import plots

        started = time.perf_counter()
        FIGURES.mkdir(exist_ok=True)
        plots.save(_load(path).figure(), target)
        logger.info("drew %s in %.1f s", target.name, time.perf_counter() - started)
    return target


def _newest(path: Path) -> float:
    return max(source.stat().st_mtime for source in [path, *(DOCS.parent / "phenes").rglob("*.py")])


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"figure_{path.stem}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def draw_all(_: Any = None) -> None:
    for path in sorted((DOCS / "figures").glob("*.py")):
        draw(path)


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", draw_all)
    return {"version": "1", "parallel_read_safe": True}
