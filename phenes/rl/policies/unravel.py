"""The flat theta as the parameters of a network."""

from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Float


class Unravel:
    """theta [d] -> parameters of these shapes.

    Equal to another for the same network, and it survives the way to another process: it holds a
    tree of shapes, as a `PyTreeDef` with modules of equinox in it does not (their mark of a missing
    field is known by identity).
    """

    def __init__(self, parameters: Any):
        self.like = jax.tree.map(
            lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), parameters
        )

    def __call__(self, theta: Float[Array, " d"]) -> Any:
        leaves, tree = jax.tree.flatten(self.like)
        ends = np.cumsum([leaf.size for leaf in leaves])
        return jax.tree.unflatten(
            tree,
            [
                theta[end - leaf.size : end].reshape(leaf.shape)
                for leaf, end in zip(leaves, ends, strict=True)
            ],
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unravel) and self._value() == other._value()

    def __hash__(self) -> int:
        return hash(self._value())

    def _value(self) -> tuple[Any, ...]:
        leaves, tree = jax.tree.flatten(self.like)
        return tree, tuple((leaf.shape, leaf.dtype) for leaf in leaves)
