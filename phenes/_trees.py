# pyright: reportUnknownMemberType=false
"""Helpers for pytrees."""

from typing import Any, TypeVar, cast

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

T = TypeVar("T")


def replace(tree: T, **leaves: Any) -> T:
    """A copy with other leaves, unchecked: gradients, shaped like q, are built with it too."""
    names = tuple(leaves)

    def where(module: Any) -> tuple[Any, ...]:
        return tuple(getattr(module, name) for name in names)

    return cast(T, eqx.tree_at(where, tree, tuple(leaves.values())))


def shifted(tree: T, updates: T) -> T:
    """tree + updates, leaf by leaf."""
    return cast(T, eqx.apply_updates(tree, updates))


def parameters(tree: T) -> T:
    """The inexact arrays of a law, which are psi."""
    return cast(T, eqx.filter(tree, eqx.is_inexact_array))


def split_arrays(tree: T) -> tuple[T, T]:
    """The arrays of a tree, and everything else; `joined` puts them together again."""
    return cast(tuple[T, T], eqx.partition(tree, eqx.is_array))


def joined(arrays: T, rest: T) -> T:
    """What `split_arrays` took apart."""
    return eqx.combine(arrays, rest)


def dtype_of(tree: Any) -> jnp.dtype:
    """The dtype in which psi is kept."""
    return jnp.result_type(*jax.tree.leaves(parameters(tree)))


def rows(tree: Any) -> int:
    """The number of individuals: the length of the first axis."""
    return jax.tree.leaves(tree)[0].shape[0]


def take(tree: T, i: Any) -> T:
    """Individual, component or repeat i of every leaf."""

    def one(leaf: Array) -> Array:
        return leaf[i]

    return jax.tree.map(one, tree)


def sum_rows(tree: T) -> T:
    """The sum over the first axis of every leaf."""

    def total(leaf: Array) -> Array:
        return jnp.sum(leaf, axis=0)

    return jax.tree.map(total, tree)


def mean_rows(tree: T) -> T:
    """The mean over the first axis of every leaf."""

    def mean(leaf: Array) -> Array:
        return jnp.mean(leaf, axis=0)

    return jax.tree.map(mean, tree)


def stack(trees: list[T]) -> T:
    """Trees of one structure, stacked along a new first axis."""

    def together(*leaves: Array) -> Array:
        return jnp.stack(leaves)

    return jax.tree.map(together, *trees)


def join(first: T, second: T) -> T:
    """Two populations as one."""

    def both(a: Array, b: Array) -> Array:
        return jnp.concatenate([a, b])

    return jax.tree.map(both, first, second)
