"""The rules of docs/architecture.md: the layers as data, and what breaks them in a tree of sources.

A tree maps names of modules to their source, so that the rules can be tried on a made-up one. A
room is a module or package right below `phenes`. Imports inside functions count like all others.
"""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# Lowest first: a room imports from rows before its own, never from its own or a later one.
LAYERS = (
    ("_version", "_extras", "_cores", "_files", "_jax", "_threads", "_trees", "_validate", "batch"),
    (
        *("_arrays", "_random", "_batching", "protocols", "special", "triangular", "space"),
        *("constraints", "risk"),
    ),
    ("_population", "covariance", "metric", "weightings"),
    ("laws",),
    ("search",),
    ("_score",),
    ("inputs",),
    ("estimators",),
    ("strategy", "diagnostics"),
    ("loop",),
    ("adaptive", "gp", "execution", "store", "plots"),
    ("evidence", "watch"),
    ("optimizer", "contexts", "rl"),
    ("problems", "demo", "integrations", "pareto"),
    ("cli",),
)

# Which rooms may import it, also inside functions: the others do without.
THIRD_PARTY = {
    "matplotlib": {"plots", "demo"},
    "typer": {"cli"},
    "rich": {"cli", "demo", "optimizer", "watch"},
    "gymnasium": {"rl"},
    "mujoco": {"rl"},
    "distributed": {"execution"},
    "ray": {"execution"},
    "optuna": {"integrations"},
    "ax": {"integrations"},
    "pandas": {"evidence"},
    "loky": {"execution"},
    "tensorboard": {"watch"},
}
WITHOUT_JAX = {
    *("adaptive", "constraints", "gp", "evidence", "risk", "space", "store", "watch", "plots")
}


class Use(NamedTuple):
    """An import, or a use of an imported module: `name` of `module`, in line `line` of `by`."""

    by: str
    module: str
    name: str | None
    line: int

    def __str__(self) -> str:
        what = f"{self.module}.{self.name}" if self.name else self.module
        return f"{self.by}:{self.line} -> {what}"


def read(folder: Path, package: str) -> dict[str, str]:
    """The tree of a package: the name of every module and its source."""
    tree = {}
    for path in sorted((folder / package).rglob("*.py")):
        name = ".".join(path.relative_to(folder).with_suffix("").parts)
        tree[name.removesuffix(".__init__")] = path.read_text()
    return tree


def room(module: str) -> str:
    """The part right below `phenes`; `phenes` itself is the facade."""
    return module.split(".")[1] if "." in module else module


def uses(tree: dict[str, str]) -> list[Use]:
    """Every import of a module, by name where one is taken, and every `module._private`."""
    modules = frozenset(tree)
    return [use for by, source in tree.items() for use in _uses(by, source, modules)]


@functools.cache
def _uses(by: str, source: str, modules: frozenset[str]) -> list[Use]:
    nodes = list(ast.walk(ast.parse(source)))
    found = [each for node in nodes for each in _imports(node, by, modules)]
    # names in this file that are modules of the tree
    bound = {alias: use.module for use, alias in found if not use.name and use.module in modules}
    attributes = [
        Use(by, bound[node.value.id], node.attr, node.lineno)
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if node.value.id in bound and node.attr.startswith("_") and not node.attr.startswith("__")
    ]
    return [use for use, _ in found] + attributes


def _imports(node: ast.AST, by: str, modules: frozenset[str]) -> Iterator[tuple[Use, str]]:
    if isinstance(node, ast.Import):
        for each in node.names:
            yield Use(by, each.name, None, node.lineno), each.asname or each.name
    elif isinstance(node, ast.ImportFrom):
        home = _absolute(node, by, modules)
        for each in node.names:
            whole = f"{home}.{each.name}"
            module, name = (whole, None) if whole in modules else (home, each.name)
            yield Use(by, module, name, node.lineno), each.asname or each.name
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "importlib.import_module":
        argument = node.args[0]
        if isinstance(argument, ast.Constant):
            yield Use(by, str(argument.value), None, node.lineno), ""


def _absolute(node: ast.ImportFrom, by: str, modules: frozenset[str]) -> str:
    if not node.level:
        return node.module or ""
    packages = {name.rpartition(".")[0] for name in modules}
    parts = by.split(".") if by in packages else by.split(".")[:-1]
    parts = parts[: len(parts) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])])


def facade(tree: dict[str, str]) -> list[Use]:
    """`import phenes` inside phenes: every leaf would depend on the root."""
    return [use for use in uses(tree) if use.module == "phenes" and use.by != "phenes"]


def laboratory(tree: dict[str, str]) -> list[Use]:
    """Uses of the laboratory, which is built on the library and not the other way round."""
    return [use for use in uses(tree) if use.module.split(".")[0] == "phenes_lab"]


def private(tree: dict[str, str]) -> list[Use]:
    """Underscore names taken from another module. Modules with such names are for everybody."""
    return [
        use
        for use in uses(tree)
        if use.name and use.name.startswith("_") and not use.name.startswith("__")
        if use.module.split(".")[0] == "phenes" and use.module != use.by
    ]


def arrows(tree: dict[str, str]) -> dict[tuple[str, str], list[Use]]:
    """Which room imports which, and where."""
    out: dict[tuple[str, str], list[Use]] = {}
    for use in uses(tree):
        ends = room(use.by), room(use.module)
        # the facade is spoken of by `facade`, and may load everything
        if use.module.startswith("phenes.") and "phenes" not in ends and ends[0] != ends[1]:
            out.setdefault(ends, []).append(use)
    return out


def upward(tree: dict[str, str], layers: tuple[tuple[str, ...], ...] = LAYERS) -> list[Use]:
    """Imports that do not point down the layers; a room that is in no layer is above them all."""
    height = {name: k for k, row in enumerate(layers) for name in row}
    return [
        use
        for (above, below), found in arrows(tree).items()
        if not height.get(below, len(layers)) < height.get(above, len(layers))
        for use in found
    ]


def strangers(tree: dict[str, str]) -> list[Use]:
    """Uses of third-party packages by rooms that do without them."""
    return [
        use
        for use in uses(tree)
        if (
            room(use.by) not in THIRD_PARTY.get(use.module.split(".")[0], {room(use.by)})
            or (use.module.split(".")[0] in ("jax", "equinox") and room(use.by) in WITHOUT_JAX)
        )
    ]


def cycle(tree: dict[str, str]) -> list[str]:
    """Rooms that import each other in a circle, the first again at the end; [] if none do."""
    graph: dict[str, set[str]] = {}
    for above, below in arrows(tree):
        graph.setdefault(above, set()).add(below)
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for below in sorted(graph.get(name, ())):
            found = visit(below, [*path, name])
            if found:
                return found
        done.add(name)
        return []

    return next((found for name in sorted(graph) if (found := visit(name, []))), [])


def nested(tree: dict[str, str]) -> list[Use]:
    """Conditional expressions inside conditional expressions: four decisions in a line."""
    return [
        Use(by, by, None, node.lineno)
        for by, source in tree.items()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.IfExp)
        if any(isinstance(part, ast.IfExp) for part in ast.walk(node) if part is not node)
    ]


# Rooms of which every module has a test file of its name, or a line in docs/architecture.md.
CORE = {
    "adaptive",
    "contexts",
    "estimators",
    "evidence",
    "execution",
    "inputs",
    "laws",
    "optimizer",
    "search",
    "store",
}
# | modules, or rooms with a slash at the end | their tests |
LINE = re.compile(r"^\| (`phenes/[^|]*) \| ([^|]*`tests/[^|]*) \|$", re.MULTILINE)


def mirrored(root: Path, page: str) -> dict[str, list[str]]:
    """The tests of every core module: the file of its name, and those that the page names."""
    named = {
        module: re.findall(r"`([^`]+)`", tests)
        for modules, tests in LINE.findall(page)
        for module in re.findall(r"`([^`]+)`", modules)
    }
    out = {}
    for path in sorted((root / "phenes").rglob("*.py")):
        module = path.relative_to(root)
        if path.stem in ("__init__", "_version") or not {*module.parts[1:2]} & {*CORE, path.name}:
            continue
        own = Path("tests", *module.parts[1:-1], f"test_{module.stem.lstrip('_')}.py")
        mine = [str(own)] if (root / own).exists() else []
        rooms = [f"{parent.as_posix()}/" for parent in module.parents]
        out[str(module)] = mine + [
            test for name in (str(module), *rooms) for test in named.get(name, [])
        ]
    gone = [name for name in named if not (root / name).exists()]
    return out | {name: ["there is no such module"] for name in gone}
