"""What the BBOB functions share: weights, products, symmetry-breaking maps and the box penalty."""

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike


def like(values: np.ndarray, z: Array) -> Array:
    """Host constants as an array of the dtype of z."""
    return jnp.asarray(values, dtype=z.dtype)


def ramp(z: Array) -> Array:
    """The numbers i / (d - 1), i = 0 .. d - 1, for z [d]."""
    return like(np.arange(z.size) / (z.size - 1), z)


def geometric(ratio: float, z: Array) -> Array:
    """The numbers ratio^(i / (d - 1)), i = 0 .. d - 1, for z [d]."""
    return like(ratio ** (np.arange(z.size) / (z.size - 1)), z)


def dot(a: ArrayLike, b: Array) -> Array:
    """Product of a ([d] or [m, d]) and b [d] at full precision; a matrix product under vmap."""
    return jnp.matmul(a, b, precision="highest")


def oscillate(z: Array) -> Array:
    """T_osz, elementwise: sign(z) exp(l + 0.049 (sin(a l) + sin(b l))) with l = log|z|.

    The frequencies (a, b) are (10, 7.9) for positive and (5.5, 3.1) for negative entries; zero
    stays zero.
    """
    positive = z > 0
    log = jnp.log(jnp.where(z == 0, 1.0, jnp.abs(z)))
    a = jnp.where(positive, 10.0, 5.5)
    b = jnp.where(positive, 7.9, 3.1)
    return jnp.sign(z) * jnp.exp(log + 0.049 * (jnp.sin(a * log) + jnp.sin(b * log)))


def skew(z: Array, beta: float) -> Array:
    """T_asy^beta of z [d]: z_i^(1 + beta i / (d - 1) sqrt(z_i)) where z_i > 0, z_i elsewhere."""
    positive = z > 0
    base = jnp.where(positive, z, 1.0)
    return jnp.where(positive, base ** (1 + beta * ramp(z) * jnp.sqrt(base)), z)


def penalty(x: Array) -> Array:
    """Squared distance of x [d] to the box [-5, 5]^d."""
    return jnp.sum(jnp.square(jnp.maximum(jnp.abs(x) - 5, 0)))


def sine_of_pi(z: Array) -> Array:
    """sin(pi z) up to sign.

    Subtracting the nearest integer from z is exact and keeps the argument of the sine small.
    """
    return jnp.sin(jnp.pi * (z - jnp.round(z)))
