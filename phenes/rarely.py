"""A branch for what seldom happens, which stays a branch under `jax.vmap`.

`lax.cond` under vmap computes both sides for everybody. An eigendecomposition that one run in a thousand needs would then cost all of
them in every generation. Here the batch takes the dear side only if somebody in it needs it.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_batching import custom_vmap


def rarely(needed: Callable[..., Any], rare: Callable[..., Any], common: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays: `rare(*args)` if `needed(*args)`, else `common(*args)`.

    `rare` must be right for everybody, since under vmap all of the batch take it together. Not for use inside `jax.grad`.
    """

    @custom_vmap
    def call(*args):
        return lax.cond(needed(*args), rare, common, *args)

    @call.def_vmap
    def _(size, batched, *args):
        def spread(is_batched, leaf):
            return leaf if is_batched else jnp.broadcast_to(leaf, (size, *jnp.shape(leaf)))

        args = jax.tree.map(spread, tuple(batched), args)
        together = rarely(lambda *a: jnp.any(jax.vmap(needed)(*a)), jax.vmap(rare), jax.vmap(common))
        out = together(*args)
        return out, jax.tree.map(lambda _: True, out)

    return call
