"""Command-line arguments as Python objects: functions, vectors, values by name."""

import importlib
import sys
import traceback
from pathlib import Path
from typing import Any

import typer


def load_function(name: str) -> Any:
    """The function of module:function, or of file.py:function."""
    module, _, attribute = name.rpartition(":")
    if not module or not attribute:
        raise typer.BadParameter(f"FUNCTION must be module:function, got {name!r}")
    file = Path(module).resolve() if module.endswith(".py") else None
    if file is not None and not file.exists():
        raise typer.BadParameter(f"there is no file {module!r}")
    # as python -m does: what lies in the current folder, or in that of the file, can be named
    sys.path.insert(0, "" if file is None else str(file.parent))
    found = _imported(module if file is None else file.stem)
    if file is not None and Path(found.__file__ or "").resolve() != file:
        raise typer.BadParameter(
            f"{module!r} has the name of another module, {found.__file__}: give it another one"
        )
    if not callable(getattr(found, attribute, None)):
        raise typer.BadParameter(f"module {module!r} has no function {attribute!r}")
    return getattr(found, attribute)


def _imported(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except SyntaxError as error:
        where = f"{error.filename}, line {error.lineno}"
        raise typer.BadParameter(f"{where}: {type(error).__name__}: {error.msg}") from error
    except Exception as error:  # of any kind: the module's own code runs in here
        what = f"{type(error).__name__}: {error}"
        if not isinstance(error, ImportError):
            frames = traceback.extract_tb(error.__traceback__)
            # the line of a module that was being imported, not that of a function it called
            last = [frame for frame in frames if frame.name == "<module>"][-1]
            what = f"{last.filename}, line {last.lineno}: {what}"
        raise typer.BadParameter(f"module {module!r} cannot be imported: {what}") from error


def read_workers(text: str) -> int | str:
    """The argument of --workers: a number of processes or an address."""
    if text.isdigit() and int(text) > 0:
        return int(text)
    if text == "ray" or text.startswith(("dask://", "ray://")):
        return text
    raise typer.BadParameter(
        "--workers must be a number of processes of at least 1, dask://host:port or ray, got"
        f" {text!r}"
    )


def read_numbers(option: str, text: str) -> Any:
    """Parses a vector written as 1,2,3 or 2*10."""
    import numpy as np

    value, star, times = text.partition("*")
    try:
        if star:
            return np.full(int(times), float(value))
        return np.array([float(part) for part in text.split(",")])
    except ValueError:
        raise typer.BadParameter(
            f"{option} must be numbers with commas between, or number*dimension, got {text!r}"
        ) from None


def read_named(text: str) -> dict[str, Any]:
    """Parses values by name, written as width=100,alloy=B."""
    parts = [part.partition("=") for part in text.split(",")]
    return {name.strip(): read_value(value.strip()) for name, _, value in parts}


def read_value(text: str) -> Any:
    """A number if it is one, else the text itself."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)


def read_scale(option: str, text: str) -> Any:
    """A number, or one for each coordinate."""
    values = read_numbers(option, text)
    return float(values[0]) if values.size == 1 and "*" not in text else values


def read_bounds(text: str, dim: int) -> list[tuple[float | None, ...]]:
    """The argument of --bounds as pairs (low, high)."""
    try:
        pairs = [
            tuple(float(side) if side else None for side in part.split(":"))
            for part in text.split(",")
        ]
    except ValueError:
        pairs = []
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise typer.BadParameter(
            "--bounds must be low:high, or one for each coordinate with commas between, got"
            f" {text!r}"
        )
    return pairs * dim if len(pairs) == 1 else pairs


def read_problem(
    x0: str | None, sigma0: str | None, noise: str | None, bounds: str | None, workers: str | None
) -> dict[str, Any]:
    """Keywords of `minimize` from the options that describe a problem and were given."""
    options: dict[str, Any] = {}
    if workers is not None:
        options["workers"] = read_workers(workers)
    if noise is not None:
        options["noise"] = "learn" if noise == "learn" else read_scale("--noise", noise)
    if x0 is not None:
        options["x0"] = read_named(x0) if "=" in x0 else read_numbers("--x0", x0)
    if sigma0 is not None:
        options["sigma0"] = read_scale("--sigma0", sigma0)
    if bounds is not None:
        options["bounds"] = read_bounds(bounds, len(options.get("x0", [0])))
    return options
