"""Where a result comes from: the command, the commit, the machine, and a digest of the code.

Every session of a run is stored with them. `phenes reproduce --check` compares the digests with the
code as it is now, and says which results are older. The digest is of what a result depends on,
`CODE`, without comments and docstrings.
"""

import ast
import datetime
import functools
import hashlib
import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

import phenes
import phenes_lab

# the homes of both distributions, whose folders in a clone these are
HOMES = {
    "phenes": Path(phenes.__file__).parent,
    "lab/phenes_lab": Path(phenes_lab.__file__).parent,
}
LIBRARIES = (
    *("phenes", "numpy", "scipy", "jax", "jaxlib", "gymnasium"),
    *("cma", "cmaes", "evosax", "torch", "botorch"),
)
# options of a command that do not change what it computes
ASIDE = {"--out": 1, "--resume": 0, "--json": 0}
FIELDS = ("command", "commit", "when", "machine", "code")  # of what `made` says

MATHEMATICS = tuple(
    f"phenes/{name}"
    for name in (
        "_population.py",
        "_random.py",
        "_score.py",
        "covariance.py",
        "estimators",
        "inputs",
        "laws",
        "loop.py",
        "metric.py",
        "search",
        "special.py",
        "strategy.py",
        "triangular.py",
        "weightings.py",
    )
)
OPTIMIZER = tuple(
    f"phenes/{name}"
    for name in ("adaptive", "constraints", "evidence", "gp", "optimizer", "risk", "space")
)
RIVALS = tuple(
    f"lab/phenes_lab/{name}.py"
    for name in ("contenders", "jax_rivals", "restarts", "rivals", "simulator")
)


def _lab(package: str, *modules: str) -> tuple[str, ...]:
    return tuple(f"lab/phenes_lab/{package}/{module}.py" for module in modules)


CONTROL = (
    *MATHEMATICS,
    "phenes/rl",
    *_lab("reproduce/control", "compute", "rival", "settings"),
)
PEERS = (
    *OPTIMIZER,
    "phenes/problems",
    *RIVALS,
    *_lab("bench/peers", "compute", "objective", "settings"),
)
CODE: dict[str, tuple[str, ...]] = {
    "bbob": (*MATHEMATICS, "phenes/problems", *_lab("reproduce/bbob", "compute", "settings")),
    "cartpole": CONTROL,
    "constraints": (
        *OPTIMIZER,
        *_lab("bench/constraints", "compute", "contenders", "problems", "settings"),
    ),
    "contexts": (
        *MATHEMATICS,
        "phenes/contexts",
        "phenes/diagnostics.py",
        *_lab("reproduce/contexts", "compute", "data", "learners", "settings"),
    ),
    "engineering": (
        *OPTIMIZER,
        "phenes/problems",
        *RIVALS,
        *_lab("bench/engineering", "compute", "contenders", "searches", "settings"),
    ),
    "few": (
        *OPTIMIZER,
        *_lab("bench/few", "compute", "contenders", "problems", "searches", "settings"),
    ),
    "frozenlake": (
        *MATHEMATICS,
        "phenes/rl/tabular",
        *_lab("reproduce/frozenlake", "compute", "settings"),
    ),
    "peers": PEERS,
    "peers-d40": PEERS,
    "peers-noise0": PEERS,
    "peers-tuning": PEERS,
    "pendulum": CONTROL,
    "regimes": (*OPTIMIZER, *_lab("bench/regimes", "compute", "functions", "settings")),
    "risk": (
        *OPTIMIZER,
        *_lab("bench/risk", "compute", "contenders", "problems", "settings", "surrogates"),
        *_lab("bench/few", "surrogates"),
    ),
    "survive": ("phenes/execution", "phenes/store", "phenes/optimizer"),
    "swimmer": CONTROL,
    "trust": (*OPTIMIZER, "lab/phenes_lab/bench/trust"),
    "untuned": (*CONTROL, "lab/phenes_lab/reproduce/held_out_environments.py"),
    "wild": (*OPTIMIZER, "lab/phenes_lab/bench/fuzz.py"),
}

# modules of these rooms that no result uses: laws of counts and rates
UNUSED = ("phenes/search/conjugate.py",)


def here(path: str) -> Path:
    """A path of the clone, wherever the distribution is installed."""
    for name, home in HOMES.items():
        if path == name or path.startswith(f"{name}/"):
            return home / path.removeprefix(name).lstrip("/")
    raise ValueError(f"{path!r} belongs to none of {', '.join(HOMES)}")


def digests(paths: Iterable[str]) -> dict[str, str]:
    """A digest for each room; of one that is gone, "gone"."""
    return {path: digest(here(path)) for path in paths}


@functools.cache
def digest(path: Path) -> str:
    """Of a module, or of all modules of a folder, by name and code."""
    if not path.exists():
        return "gone"
    whole = hashlib.sha256()
    for module in [path] if path.is_file() else sorted(path.rglob("*.py")):
        name = module.relative_to(path.parent).as_posix()
        whole.update(f"{name}\0{bare(module.read_text(encoding='utf-8'))}\0".encode())
    return whole.hexdigest()[:16]


def bare(source: str) -> str:
    """The code without comments and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and ast.get_docstring(node) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def only_unused(path: str, commit: str) -> bool:
    """Whether what has changed of a room since a commit, but for words, is unused by all results.

    False where git cannot tell.
    """
    home = HOMES["phenes"].parent
    changed = [
        name
        for name in git(home, "diff", "--name-only", commit, "--", path).splitlines()
        if not here(name).exists()
        or bare(git(home, "show", f"{commit}:{name}")) != bare(here(name).read_text("utf-8"))
    ]
    return bool(changed) and set(changed) <= set(UNUSED)


def made(name: str) -> dict[str, str]:
    """Provenance of a session that begins now, as texts. name: of the result."""
    return {
        "command": command(),
        "commit": commit(),
        "when": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": json.dumps(machine()),
        "code": json.dumps(digests(CODE.get(name, ("phenes", "lab/phenes_lab")))),
    }


def shown(said: dict[str, str]) -> dict[str, Any]:
    """What `made` says, for people: without the digests."""
    return {
        name: json.loads(text) if name == "machine" else text
        for name, text in said.items()
        if name != "code"
    }


def command() -> str:
    """What was typed, without where the files go; "" where no command was."""
    program = Path(sys.argv[0])
    if program.name != "phenes" and program.parts[-3:] != ("phenes", "cli", "__main__.py"):
        return ""
    words, given = [], iter(sys.argv[1:])
    for word in given:
        option, equals, _ = word.partition("=")
        if option in ASIDE:
            for _ in range(0 if equals else ASIDE[option]):
                next(given, None)
        else:
            words.append(word)
    return shlex.join(["phenes", *words])


@functools.cache
def commit() -> str:
    """Of the clone that the code is in, with "+" if it has been changed since; "" without one."""
    home = HOMES["phenes"].parent
    name = git(home, "rev-parse", "--short=10", "HEAD")
    if not name or git(home, "rev-parse", "--show-toplevel") != str(home):
        return ""
    changed = git(home, "status", "--porcelain", "--", "phenes", "lab/phenes_lab")
    return f"{name}+" if changed else name


def git(home: Path, *words: str) -> str:
    """What git says, "" if it cannot."""
    try:
        said = subprocess.run(
            ["git", "-C", str(home), *words], capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return said.stdout.strip()


def machine() -> dict[str, Any]:
    """Processor, cores, how busy they are, and versions; no name of a host or a user."""
    versions = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0,
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else 0.0,
        "system": f"{platform.system()} {platform.machine()}",
        "versions": versions,
    }


def processor() -> str:
    """The model, as Linux says it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor()
