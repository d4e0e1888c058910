"""Modules on their way to workers: a skeleton as bytes, and arrays as plain NumPy.

The skeleton stays the same and is opened once; the arrays change.

What is compiled is found again by the module it was compiled for, and one that has travelled is a
new one: even `jnp.tanh` arrives as another function. Arrays that travel in double precision would
arrive in single precision.
"""

import itertools
import pickle
from functools import lru_cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from phenes.protocols import Tree


class Hole:
    """The place of an array."""

    def __init__(self, number: int):
        self.number = number


def without_arrays(tree: Tree) -> Tree:
    """The tree with placeholders instead of arrays."""
    numbers = itertools.count()
    return jax.tree.map(lambda leaf: Hole(next(numbers)) if eqx.is_array(leaf) else leaf, tree)


def arrays(tree: Tree) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in jax.tree.leaves(eqx.filter(tree, eqx.is_array))]


def filled(tree: Tree, arrays: list[np.ndarray]) -> Tree:
    return jax.tree.map(
        lambda leaf: jnp.asarray(arrays[leaf.number]) if isinstance(leaf, Hole) else leaf, tree
    )


def pack(thing: object) -> bytes:
    import cloudpickle

    return cloudpickle.dumps(thing)


@lru_cache(maxsize=8)
def opened(blob: bytes) -> Any:
    """Unpickles, with a cache: equal bytes give the same object."""
    return pickle.loads(blob)
