# pyright: reportUnknownMemberType=false
"""A branch for what seldom happens, which stays a branch under `jax.vmap`.

`lax.cond` under vmap computes both branches for every element of the batch. An eigendecomposition
that one run in a thousand needs would then cost all of them in every generation. Here the batch
takes the expensive branch only if at least one of its elements needs it.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_batching import custom_vmap


def cond_rare(
    needed: Callable[..., Any], rare: Callable[..., Any], common: Callable[..., Any]
) -> Callable[..., Any]:
    """A function of arrays: `rare(*args)` if `needed(*args)`, else `common(*args)`.

    `rare` must be correct for every element: under vmap the whole batch takes it together. Not for
    use inside `jax.grad`.
    """

    @custom_vmap
    def call(*args: Any) -> Any:
        return lax.cond(needed(*args), rare, common, *args)  # pyright: ignore[reportUnknownVariableType]  # lax.cond's own

    @call.def_vmap
    def _(_: int, batched: Any, *args: Any) -> tuple[Any, Any]:  # pyright: ignore[reportUnusedFunction]  # registered
        # unbatched arguments stay unbatched: work that depends on these alone is done once
        axes = jax.tree.map(_axis, tuple(batched))
        some, rare_all, common_all = (jax.vmap(f, in_axes=axes) for f in (needed, rare, common))

        def anybody(*args: Any) -> Any:
            return jnp.any(some(*args))

        out = cond_rare(anybody, rare_all, common_all)(*args)
        return out, jax.tree.map(_is_batched, out)

    return call


def _axis(is_batched: bool) -> int | None:
    return 0 if is_batched else None


def _is_batched(leaf: Any) -> bool:
    return True
