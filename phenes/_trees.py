"""Helpers for pytrees."""

from typing import Any, TypeVar

import equinox as eqx

Q = TypeVar("Q")


def replace(q: Q, **leaves: Any) -> Q:
    """A copy of `q` with other leaves: no checks, so that gradients, which are shaped like q, can
    be built with it too.
    """
    names = tuple(leaves)
    return eqx.tree_at(lambda m: tuple(getattr(m, n) for n in names), q, tuple(leaves.values()))
