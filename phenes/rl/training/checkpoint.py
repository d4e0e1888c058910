"""The checkpoint of `train`: what is carried and what was measured, in one file that is replaced as
a whole.
"""

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from phenes.rl.problems.network import Best, Carry
from phenes.rl.training.curve import Curve

FORMAT = "phenes training 1"


def save(path: Path, about: dict[str, Any], carry: Carry, best: Best, curve: Curve) -> None:
    """A kill in the middle of it leaves the file that was there before."""
    leaves = {f"leaf.{i:04d}": np.asarray(leaf) for i, leaf in enumerate(_arrays((carry, best)))}
    parts = {f"curve.{name}": part for name, part in curve._asdict().items()}
    new = path.with_name(path.name + ".new")
    with new.open("wb") as file:
        np.savez(file, about=json.dumps({"format": FORMAT, **about}), **leaves, **parts)  # pyright: ignore[reportArgumentType]
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def load(path: Path, about: dict[str, Any], carry: Carry, best: Best) -> tuple[Carry, Best, Curve]:
    """What was saved, in the place of a fresh (carry, best) with the same structure."""
    try:
        with np.load(path, allow_pickle=False) as file:
            saved = json.loads(str(file["about"]))
            leaves = [file[name] for name in sorted(file.files) if name.startswith("leaf.")]
            curve = Curve(**{name: file[f"curve.{name}"] for name in Curve._fields})
        if saved.pop("format") != FORMAT:
            raise KeyError("format")
    except (KeyError, EOFError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is not a checkpoint of train: {error}") from error
    then, now = (_fixed(a) for a in (saved, json.loads(json.dumps(about))))
    for name in sorted({*then, *now}):
        if then.get(name) != now.get(name):
            raise ValueError(
                f"{path} was written with other settings: {name} was {then.get(name)!r} there and"
                f" is {now.get(name)!r} now"
            )
    fresh = _arrays((carry, best))
    if [(leaf.shape, leaf.dtype) for leaf in fresh] != [
        (leaf.shape, leaf.dtype) for leaf in leaves
    ]:
        raise ValueError(f"{path} was written in another precision or by another version of phenes")
    arrays, rest = eqx.partition((carry, best), eqx.is_array)
    carry, best = eqx.combine(
        jax.tree.unflatten(jax.tree.structure(arrays), [jnp.asarray(leaf) for leaf in leaves]), rest
    )
    return carry, best, curve


def _fixed(about: dict[str, Any]) -> dict[str, Any]:
    """What must be the same; a longer run may follow a shorter one."""
    return {
        name: value
        for name, value in {**about, **about["settings"]}.items()
        if name not in ("generations", "settings")
    }


def _arrays(tree: Any) -> list[Any]:
    return jax.tree.leaves(eqx.filter(tree, eqx.is_array))
