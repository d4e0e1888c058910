"""Compares short seeded runs of this work tree with those of another commit, bit for bit.

    python tools/golden.py BASE [name or part of a name ...]

BASE is any commit. Its results are kept in .golden/, so that a second comparison is quick. Exit
status 1 if any run differs. Adaptive runs amplify the last bit, so both trees must run on the same
machine with the same libraries.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from golden_runs import RUNS

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / ".golden"


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def play(tree: Path, out: Path, names: list[str]) -> None:
    """The runs with the package of `tree`; their results in `out`."""
    if not names:
        return
    out.mkdir(parents=True, exist_ok=True)
    paths = os.pathsep.join([str(tree), str(tree / "lab")])
    environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}
    script = ROOT / "tools" / "golden_runs.py"
    subprocess.run(
        [sys.executable, str(script), str(out), *names], cwd=tree, env=environment, check=True
    )


def of_base(commit: str, names: list[str]) -> Path:
    """Where the results of a commit are; those that are not kept yet are made now."""
    kept = KEPT / commit
    missing = [name for name in names if not (kept / f"{name}.npz").exists()]
    if missing:
        with tempfile.TemporaryDirectory() as folder:
            archive = subprocess.run(
                ["git", "archive", commit], cwd=ROOT, capture_output=True, check=True
            )
            subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
            play(Path(folder), kept, missing)
    return kept


def differences(before: Path, after: Path) -> list[str]:
    """Names of the arrays that differ in shape, type or any bit."""
    with np.load(before) as old, np.load(after) as new:
        names = sorted(set(old) | set(new))
        return [name for name in names if not _same(old.get(name), new.get(name))]


def _same(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    if a is None or b is None:
        return False
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def main() -> int:
    if len(sys.argv) < 2 or not sys.argv[1]:
        print("usage: make golden BASE=commit [ONLY='part of a name ...']")
        return 2
    commit = git("rev-parse", "--verify", f"{sys.argv[1]}^{{commit}}")
    parts = sys.argv[2:]
    names = [name for name in RUNS if not parts or any(part in name for part in parts)]
    before, after = of_base(commit, names), Path(tempfile.mkdtemp())
    play(ROOT, after, names)
    different = 0
    for name in names:
        file = f"{name}.npz"
        found = differences(before / file, after / file)
        different += bool(found)
        print(f"{'differs' if found else 'equal  '}  {name}  {', '.join(found)}".rstrip())
    shutil.rmtree(after)
    print(f"{len(names) - different} of {len(names)} runs equal to {commit[:9]}")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
