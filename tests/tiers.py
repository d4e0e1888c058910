"""Tests that run only when the code they are about has changed since they last passed.

    python -m tests.tiers due           # those whose code or tests changed
    python -m tests.tiers run due       # run them; who passes gets a stamp (.ci/run does this)
    python -m tests.tiers run rl laws   # run these, changed or not

A test joins by `@pytest.mark.tier("rl")`, and `pytest` leaves it out unless PHENES_TIER=rl is set.
Where most of a file is dear, `pytestmark` marks it whole, and `@STAYS` what stays in `make test`:
a cheap representative of the same law. A stamp, tests/passed/NAME.txt,
is a digest of the code and the tests of a tier, without comments and docstrings; it is committed
with the change that the tier passed with.
"""

import ast
import functools
import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
STAMPS = Path("tests/passed")
KINDS = (".py", ".json", ".md")
CHOSEN = os.environ.get("PHENES_TIER")
STAYS = pytest.mark.tier(None)  # in `make test`, though its file has a tier


class Tier(NamedTuple):
    """Code: the files and folders that it is about. whole: folders of tests that it runs once more,
    with larger numbers (PHENES_TIER tells them); None: it has only what is marked with it.
    """

    code: tuple[str, ...]
    whole: str | None = None


MATHEMATICS = (
    "phenes/_arrays.py",
    "phenes/_batching.py",
    "phenes/_jax.py",
    "phenes/_population.py",
    "phenes/_random.py",
    "phenes/_score.py",
    "phenes/_trees.py",
    "phenes/batch.py",
    "phenes/covariance.py",
    "phenes/metric.py",
    "phenes/special.py",
    "phenes/triangular.py",
    "phenes/weightings.py",
    "phenes/estimators",
    "phenes/inputs",
    "phenes/laws",
    "phenes/search",
)
RUNS = (
    "phenes/_arrays.py",
    "phenes/_random.py",
    "phenes/_validate.py",
    "phenes/adaptive",
    "phenes/constraints",
    "phenes/evidence",
    "phenes/execution",
    "phenes/gp",
    "phenes/optimizer",
    "phenes/pareto",
    "phenes/risk",
    "phenes/space",
    "phenes/store",
)
LOOP = ("phenes/strategy.py", "phenes/loop.py")
TIERS = {
    # every pair of laws, a million individuals each, or a fifth where a formula had them once
    "laws": Tier((*MATHEMATICS, "phenes/contexts"), whole="tests/laws"),
    # learning to the end, every estimator in the loop, those of trajectories in the mean, killed
    # workers
    "rl": Tier((*MATHEMATICS, *LOOP, "phenes/execution", "phenes/rl")),
    # searches to the end, over many seeds; workers and devices
    "runs": Tier(RUNS),
    # benches, contenders and test problems in full
    "lab": Tier(
        (
            *MATHEMATICS,
            *RUNS,
            *LOOP,
            "phenes/contexts",
            "phenes/plots",
            "phenes/problems",
            "phenes/rl",
            "lab/phenes_lab",
        )
    ),
    # the longer pages of the documentation, the examples, the scripts of the README
    "pages": Tier(("phenes", "docs", "examples", "README.md")),
}


def sources(name: str, root: Path = ROOT) -> list[Path]:
    """Every file that the digest of a tier is of, relative to `root`."""
    tier = TIERS[name]
    homes = [root / path for path in tier.code + ((tier.whole,) if tier.whole else ())]
    files = [path for home in homes for path in ([home] if home.is_file() else home.rglob("*"))]
    kept = {path for path in files if path.suffix in KINDS and "_build" not in path.parts}
    return sorted(path.relative_to(root) for path in kept | set(marked(name, root)))


def marked(name: str, root: Path = ROOT) -> list[Path]:
    """The files with tests of a tier."""
    word = f'tier("{name}")'
    homes = (root / "tests", root / "lab" / "tests")
    return [path for home in homes for path in home.rglob("test_*.py") if word in path.read_text()]


def digest(name: str, root: Path = ROOT) -> str:
    """One digest of all of them, by name and code."""
    whole = hashlib.sha256()
    for path in sources(name, root):
        text = (root / path).read_text()
        code = bare(text) if path.suffix == ".py" else text
        whole.update(f"{path.as_posix()}\0{code}\0".encode())
    return whole.hexdigest()


@functools.cache
def bare(source: str) -> str:
    """The code without comments and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(node, kinds) and ast.get_docstring(node) is not None:
            node.body = body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def due(root: Path = ROOT) -> list[str]:
    """The tiers whose stamp is not that of their code."""
    stamps = {name: root / STAMPS / f"{name}.txt" for name in TIERS}
    return [
        name
        for name, stamp in stamps.items()
        if not stamp.exists() or stamp.read_text().strip() != digest(name, root)
    ]


def stamp(name: str, root: Path = ROOT) -> None:
    """It passed with what is there now."""
    path = root / STAMPS / f"{name}.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_text(digest(name, root) + "\n")


def run(name: str) -> int:
    """Pytest on the tier, and the stamp if it passes."""
    whole = TIERS[name].whole
    paths = {path.relative_to(ROOT).as_posix() for path in marked(name)} | ({whole} - {None})
    # what a file prepares for its tests is made once; the laws prepare nothing
    dist = "worksteal" if whole else "loadfile"
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", dist, *sorted(paths)]
    environment = os.environ | {"PHENES_TIER": name}
    code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    if code == 0:
        stamp(name)
    return code


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the tier that was chosen, or those of none."""
    unknown = {tier_of(item) for item in items} - {None, *TIERS}
    if unknown or CHOSEN not in {None, *TIERS}:
        named = ", ".join(sorted(map(str, unknown or {CHOSEN})))
        raise pytest.UsageError(f"no such tier: {named}. There are {', '.join(TIERS)}")
    keep = [item for item in items if belongs(item)]
    config.hook.pytest_deselected(items=[item for item in items if not belongs(item)])
    items[:] = keep


def tier_of(item: pytest.Item) -> str | None:
    marker = item.get_closest_marker("tier")
    return None if marker is None else marker.args[0]


def belongs(item: pytest.Item) -> bool:
    if CHOSEN is None or tier_of(item) == CHOSEN:
        return tier_of(item) == CHOSEN
    whole = TIERS[CHOSEN].whole
    return whole is not None and tier_of(item) is None and item.nodeid.startswith(whole + "/")


def main(arguments: Sequence[str]) -> int | str | None:
    """The exit code, or what to say instead."""
    match arguments:
        case ["due"]:
            print("\n".join(due()))
            return 0
        case ["run", "due"]:
            return max((run(name) for name in due()), default=0)
        case ["run", *names] if names and set(names) <= set(TIERS):
            return max(run(name) for name in names)
        case _:
            return __doc__


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
