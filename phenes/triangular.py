# pyright: reportUnknownMemberType=false
"""The inverse of a lower triangular matrix out of matrix products.

LAPACK's triangular solver wakes threads that keep spinning for a while after their work; inside a
compiled loop they take the cores away from everything else (a generation at d = 40 becomes twice as
slow). Small matrices are therefore inverted here, by blocks.
"""

import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float

from phenes._jax import diagonal

LARGEST = 160  # above this LAPACK's speed outweighs its threads


def inverse_lower(L: Float[Array, "d d"]) -> Float[Array, "d d"]:
    """L^-1 for lower triangular L."""
    d = L.shape[0]
    if d > LARGEST:
        return solve_triangular(L, jnp.eye(d, dtype=L.dtype), lower=True)
    levels = max((d - 1).bit_length() - 2, 0)
    size = -(-d // 2**levels)  # smallest blocks: at most 4 (5 to 8 for the least padding)
    padded = jnp.eye(size * 2**levels, dtype=L.dtype).at[:d, :d].set(L)
    inverse = _small_inverses(_blocks(padded, size, offset=0, stride=1))
    for level in range(levels):
        width = size * 2**level
        first, second = inverse[0::2], inverse[1::2]
        below = -second @ _blocks(padded, width, offset=1, stride=2) @ first
        top = jnp.concatenate([first, jnp.zeros_like(first)], axis=2)
        inverse = jnp.concatenate([top, jnp.concatenate([below, second], axis=2)], axis=1)
    return inverse[0, :d, :d]


def _blocks(a: Float[Array, "d d"], width: int, offset: int, stride: int) -> Float[Array, "k b b"]:
    """Blocks (i + offset, i) of the given width for i = 0, stride, 2 stride, ..."""
    count = a.shape[0] // width
    column = jnp.arange(0, count - offset, stride)
    return a.reshape(count, width, count, width)[column + offset, :, column, :]


def _small_inverses(blocks: Float[Array, "k b b"]) -> Float[Array, "k b b"]:
    """L = D (I + N) with N nilpotent: (I + N)^-1 = (I - N)(I + N^2)(I + N^4)..."""
    width = blocks.shape[1]
    pivots = diagonal(blocks, axis1=1, axis2=2)
    eye = jnp.eye(width, dtype=blocks.dtype)[None]
    nilpotent = blocks / pivots[:, :, None] - eye
    product, power, done = eye - nilpotent, nilpotent, 2
    while done < width:
        power = power @ power
        product = product + product @ power
        done *= 2
    return product / pivots[:, None, :]
