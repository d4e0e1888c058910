"""The file of a policy: arrays as npz, the rest as JSON. Nothing in it is ever run or imported."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from phenes import _validate as validate
from phenes._files import load_arrays, replaced
from phenes.rl.curve import Curve

FORMAT = "phenes policy 2"
# files that were saved before 2: of networks, and of tables
NETWORK_1, TABLE_1 = "phenes policy 1", "phenes tabular policy 1"
# bytes of all arrays: 33 million numbers, as of 20,000 observations into a layer of 1600
LARGEST = 2**28
KINDS = ("table", "network")
TEXT = "about"  # the array with the JSON
OF_LOOKS = ("at", "deterministic")  # columns of a curve with a row for each look


class Saved(NamedTuple):
    """What a file holds."""

    kind: str
    about: dict[str, Any]
    readout: dict[str, Any]
    arrays: dict[str, np.ndarray]
    curve: Curve


def write(
    path: str | Path,
    kind: str,
    about: Mapping[str, Any],
    readout: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    curve: Curve,
) -> None:
    """All of it, or what was there before."""
    contents = {"format": FORMAT, "kind": kind, "about": dict(about), "readout": dict(readout)}
    columns = {f"curve.{name}": column for name, column in curve._asdict().items()}
    plain: dict[str, Any] = {TEXT: json.dumps(contents, default=float), **arrays, **columns}
    with replaced(path) as file:
        np.savez_compressed(file, **plain)


@contextlib.contextmanager
def opened(path: str | Path) -> Iterator[IO[bytes]]:
    """The file to read; whatever goes wrong with its contents is one ValueError."""
    with Path(path).open("rb") as file:
        try:
            yield file
        except Exception as error:  # of any kind: zip, zlib, NumPy or JSON meet the damage first
            raise ValueError(f"{path} is not a policy that was saved by phenes: {error}") from error


def read(file: IO[bytes], trusted: bool = False, name: str | None = None) -> Saved:
    """What a file holds, with everything checked that does not depend on the kind of policy.

    trusted: the environment is given, and what the file says of it has nothing imported. name: of
    the environment in place of the one in the file.
    """
    arrays = load_arrays(file, LARGEST)
    contents = _of_this_format(json.loads(str(arrays.pop(TEXT))), arrays)
    if contents["kind"] not in KINDS:
        raise ValueError(f"its kind is {contents['kind']!r}")
    about = dict(contents["about"])
    if name is not None:
        about["name"] = name
    for entry, kind in (("name", str), ("options", dict), ("settings", dict)):
        if not isinstance(about[entry], kind):
            raise ValueError(
                f"{entry} must be of type {kind.__name__}, got {validate.quote(about[entry])}"
            )
    validate.count("popsize", about["popsize"])
    if not trusted:
        _refuse_modules(about)
    curve = _curve({field: arrays.pop(f"curve.{field}") for field in Curve._fields})
    return Saved(contents["kind"], about, dict(contents["readout"]), arrays, curve)


def _refuse_modules(about: dict[str, Any]) -> None:
    """Gymnasium imports the module of an id module:Id-v0, and wrappers that of such an option."""
    if ":" in about["name"]:
        raise ValueError(
            f"it names the environment {about['name']!r}, and a file must not have a module"
            f" imported; if you trust that module: load(path, env={about['name']!r})"
        )
    for text in _texts(about["options"]):
        if ":" in text:
            raise ValueError(
                f"it gives {text!r} to the environment in options, which may name a module, and a"
                f" file must not have one imported; if you trust it: load(path,"
                f" env={about['name']!r})"
            )


def _texts(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict | list):
        for part in tree.values() if isinstance(tree, dict) else tree:
            yield from _texts(part)


def _curve(columns: dict[str, np.ndarray]) -> Curve:
    for name, column in columns.items():
        first = "at" if name in OF_LOOKS else "mean"
        if column.dtype.kind not in "iuf" or column.ndim != 1:
            raise ValueError(f"curve.{name} must be a vector of numbers")
        validate.shape(f"curve.{name}", column, columns[first].shape, f"curve.{first}")
    return Curve(**columns)


def _of_this_format(saved: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """What older versions saved, as it is saved now."""
    if saved["format"] == FORMAT:
        return saved
    if saved["format"] == NETWORK_1:
        about = {"kind": "network", **saved["about"]}
        return {"kind": "network", "about": about, "readout": {"spaces": saved["spaces"]}}
    if saved["format"] != TABLE_1:
        raise ValueError(f"its format is {saved['format']!r}")
    values, means = arrays["curve"], arrays["population"]
    n = values.size
    unknown, none = np.full(n, np.nan), np.zeros(n, np.int64)
    steps = np.diff(np.linspace(0, saved["steps"], n + 1).round()).astype(np.int64)
    seconds = np.linspace(0, saved["seconds"], n + 1)[1:]
    columns = (means, unknown, steps, none, none, unknown, unknown, seconds, 1 + np.arange(n))
    arrays |= {
        f"curve.{name}": column
        for name, column in zip(Curve._fields, (*columns, values), strict=True)
    }
    about = {name: saved[name] for name in ("name", "options", "seed", "seconds")}
    about |= {"kind": "table", "popsize": saved["episodes"] // max(n, 1), "target": None}
    about |= {"solved": False, "value": saved["score"]["greedy"], "settings": {}}
    return {"kind": "table", "about": about, "readout": {"score": saved["score"]}}
