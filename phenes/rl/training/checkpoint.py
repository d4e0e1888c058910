"""The checkpoint of `train`: a run in the run record, so that it can be listed, shown and watched.

Every chunk of generations is a part, `00000005`, `00000010`, ..., with its rows of the learning
curve. The part `state` holds the arrays on which the rest of the run depends; it is replaced in the
same transaction, so that a kill at any time leaves a run that can be resumed exactly.
"""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from phenes import _validate
from phenes.protocols import Tree
from phenes.rl.curve import Curve
from phenes.store import Run, Store

EXPERIMENT = "train"  # followed by the id of the environment
STATE = "state"

T = TypeVar("T")


class Checkpoint:
    """An open run; None keeps nothing."""

    def __init__(self, run: Run | None):
        self.run, self.written = run, Curve.start()

    def restore(self, state: T) -> tuple[T, Curve]:
        """What was saved, in the place of a fresh state of the same structure, and its curve."""
        if self.run is None or STATE not in self.run:
            return state, Curve.start()
        saved, where = self.run[STATE], f"run {self.run.about.id} of {self.run.path}"
        leaves = [saved[name] for name in sorted(saved)]
        kinds = [[(leaf.shape, leaf.dtype) for leaf in part] for part in (_leaves(state), leaves)]
        if kinds[0] != kinds[1]:
            raise ValueError(
                f"{where} was written in another precision or by another version of phenes"
            )
        self.written = curve_of(self.run)
        arrays, rest = eqx.partition(state, eqx.is_array)
        loaded = [jnp.asarray(leaf) for leaf in leaves]
        return eqx.combine(
            jax.tree.unflatten(jax.tree.structure(arrays), loaded), rest
        ), self.written

    def save(self, state: Tree, curve: Curve) -> None:
        """What is new of the curve, and the state: both or nothing."""
        if self.run is None:
            return
        new = curve.since(self.written)
        began = self.written.seconds[-1] if self.written.generations else 0.0
        leaves = {f"{i:04d}": np.asarray(leaf) for i, leaf in enumerate(_leaves(state))}
        parts = {f"{curve.generations:08d}": new._asdict(), STATE: leaves}
        self.run.write(parts, float(curve.seconds[-1] - began))
        self.written = curve

    def finish(self) -> None:
        """The run is complete."""
        if self.run is not None:
            self.run.finish()


@contextlib.contextmanager
def opened(
    path: str | Path | None, name: str, settings: Mapping[str, object], resume: bool
) -> Iterator[Checkpoint]:
    """The checkpoint at `path` of a training in the environment `name`; None keeps nothing.

    resume: go on with the last such run in the file, which must have the same settings.
    """
    _validate.path("checkpoint", path)
    resume = _validate.flag("resume", resume)
    if path is None:
        yield Checkpoint(None)
        return
    with Store(path) as store:
        run = store.begin(f"{EXPERIMENT} {name}", settings, resume)
        try:
            yield Checkpoint(run)
        except Exception:
            with contextlib.suppress(ValueError):  # errors of the file were raised already
                run.finish("failed")
            raise


def curve_of(run: Run) -> Curve:
    """The learning curve of a run so far."""
    return Curve.joined([Curve(**run[key]) for key in run if key.isdigit()])


def _leaves(tree: Tree) -> list[Array]:
    return jax.tree.leaves(eqx.filter(tree, eqx.is_array))
