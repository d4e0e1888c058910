"""How much of a gradient is signal: |E g|^2 / E|g|^2, estimated without bias from what the
individuals contribute.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float


class Signal(NamedTuple):
    """size: |E g|^2, may come out negative. second: E|g|^2. Both can be averaged over generations
    before they are divided.
    """

    size: Float[Array, ""]
    second: Float[Array, ""]

    @property
    def fraction(self) -> Float[Array, ""]:
        return self.size / jnp.where(self.second > 0, self.second, 1.0)


def signal(contributions: Float[Array, "n d"], paired: bool = False) -> Signal:
    """g is the mean of the contributions. Products of different individuals have mean |E g|^2;
    mirrored pairs count as one.
    """
    each = (
        contributions.reshape(2, -1, contributions.shape[1]).mean(axis=0)
        if paired
        else contributions
    )
    n = each.shape[0]
    g = jnp.mean(each, axis=0)
    second = g @ g
    own = jnp.sum(each**2) / n**2
    return Signal((second - own) * n / max(n - 1, 1), second)


def agreement(
    a: Float[Array, "n d"], b: Float[Array, "n d"], paired: bool = False
) -> Float[Array, ""]:
    """E g_a . E g_b without bias: products of what different individuals contribute to one and to
    the other.
    """
    if paired:
        a, b = (c.reshape(2, -1, c.shape[1]).mean(axis=0) for c in (a, b))
    n = a.shape[0]
    return (jnp.mean(a, axis=0) @ jnp.mean(b, axis=0) - jnp.sum(a * b) / n**2) * n / max(n - 1, 1)


def averaged(old: Any, new: Any, memory: float) -> Any:
    """A running mean, for anything whose entries can be added."""
    return type(old)(*(memory * a + (1 - memory) * b for a, b in zip(old, new, strict=True)))
