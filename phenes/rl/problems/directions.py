"""Weights of mirrored pairs: those directions count of which one side was among the best.

A pair of two bad episodes says which of them is the less bad, and a step away from the worse one
leads back to where nothing is risked. Augmented random search leaves such pairs out.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


@dataclass(frozen=True)
class TopDirections:
    """Weights of the returns of N mirrored pairs (i, i + N): those of the best b count.

    w_i = 2N / b f_i / sigma_R for the pairs with the largest max(f_i, f_{i+N}), 0 for others, so
    that the mean of w_i delta_i is the step of augmented random search divided by alpha:
    1 / (b sigma_R) sum_k (f_k+ - f_k-) delta_k, with sigma_R the standard deviation of the 2b
    returns that count.

    Parameters
    ----------
    top : int, optional
        b; half of the pairs unless given.
    """

    top: int | None = None

    def __call__(self, f: Float[Array, " n"]) -> Float[Array, " n"]:
        pairs = f.size // 2
        b = (pairs + 1) // 2 if self.top is None else min(self.top, pairs)
        finite = jnp.isfinite(f)
        lowest = jnp.min(jnp.where(finite, f, jnp.inf))
        f = jnp.where(finite, f, jnp.where(jnp.isfinite(lowest), lowest, 0.0))
        each = f.reshape(2, pairs)
        best = jax.lax.top_k(jnp.max(each, axis=0), b)[1]
        chosen = each[:, best]
        # a weight common to both of a pair cancels: without it large returns lose no digits
        centred = chosen - jnp.mean(chosen)
        spread = jnp.std(chosen)
        scaled = centred / jnp.where(spread > 0, spread, 1.0)
        return jnp.zeros_like(each).at[:, best].set(scaled * (2 * pairs / b)).reshape(-1)
