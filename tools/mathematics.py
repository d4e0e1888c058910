"""Has the mathematics changed since `make laws` last passed?

    python tools/mathematics.py changed    # exit code 0 if it has: .ci/run then runs `make laws`
    python tools/mathematics.py passed     # `make laws` passed: write the digest down

The digest is of the code of the rooms that the laws are about and of the laws themselves, without
comments and docstrings. It is kept in tests/laws/passed.txt, beside the laws, and committed with a
change that they passed with.
"""

import ast
import functools
import hashlib
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
STAMP = Path("tests/laws/passed.txt")
# rooms and modules below phenes/, and the laws
MATHEMATICS = [
    "_arrays.py",
    "_batching.py",
    "_jax.py",
    "_population.py",
    "_random.py",
    "_score.py",
    "_trees.py",
    "batch.py",
    "covariance.py",
    "metric.py",
    "special.py",
    "triangular.py",
    "weightings.py",
    "estimators",
    "inputs",
    "laws",
    "search",
]


def sources(root: Path) -> list[Path]:
    """Every file that the digest is of, relative to `root`."""
    homes = [root / "phenes" / name for name in MATHEMATICS] + [root / "tests" / "laws"]
    files = [path for home in homes for path in ([home] if home.is_file() else home.rglob("*"))]
    kept = (path for path in files if path.suffix in (".py", ".json"))
    return sorted(path.relative_to(root) for path in kept)


def digest(root: Path = ROOT) -> str:
    """One digest of all of them, by name and code."""
    whole = hashlib.sha256()
    for path in sources(root):
        text = (root / path).read_text()
        code = text if path.suffix == ".json" else bare(text)
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


def changed(root: Path = ROOT) -> bool:
    stamp = root / STAMP
    return not stamp.exists() or stamp.read_text().strip() != digest(root)


if __name__ == "__main__":
    if sys.argv[1:] == ["changed"]:
        sys.exit(0 if changed() else 1)
    elif sys.argv[1:] == ["passed"]:
        (ROOT / STAMP).write_text(digest() + "\n")
    else:
        sys.exit(__doc__)
