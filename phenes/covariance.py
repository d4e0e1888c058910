# pyright: reportUnknownMemberType=false
"""Covariance matrices of three shapes, each as cheap as its structure allows.

`Diagonal` (one number or d of them), `LowRank` (diagonal plus a few shared directions) and `Dense`.
They add up, so that the marginal covariance M = S + C of a diagonal search under diagonal noise
stays O(d) and only what has to be dense is dense.
"""

from typing import Self

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from numpy.typing import ArrayLike

from phenes import _arrays, _validate
from phenes._jax import cholesky, diagonal
from phenes._random import normal
from phenes.triangular import inverse_lower


class Diagonal(eqx.Module):
    """diag(var); a scalar `var` stands for var * I in any dimension."""

    var: Float[Array, ""] | Float[Array, " d"]

    def vector(self, d: int) -> Float[Array, " d"]:
        return jnp.broadcast_to(self.var, (d,))

    def matrix(self, d: int) -> Float[Array, "d d"]:
        return jnp.diag(self.vector(d))

    def sample(self, key: PRNGKeyArray, n: int, d: int) -> Float[Array, "n d"]:
        return jnp.sqrt(self.vector(d))[None] * normal(key, (n, d), self.var.dtype)

    def times(self, r: Float[Array, "n d"]) -> Float[Array, "n d"]:
        return r * self.vector(r.shape[1])[None]

    def solve(self, r: Float[Array, "n d"]) -> Float[Array, "n d"]:
        return r / self.vector(r.shape[1])[None]

    def logdet(self, d: int) -> Float[Array, ""]:
        return jnp.sum(jnp.log(self.vector(d)))

    def inverse(self, d: int) -> Float[Array, "d d"]:
        return jnp.diag(1 / self.vector(d))

    def inverse_diagonal(self, d: int) -> Float[Array, " d"]:
        return 1 / self.vector(d)

    def scaled(self, factor: Float[Array, ""] | float) -> Self:
        return type(self)(self.var * factor)

    def masked(self, mask: Array) -> "Diagonal":
        """Unit variance, uncorrelated, where `mask` is False: those coordinates carry nothing."""
        return Diagonal(jnp.where(mask, self.var, 1.0))


class LowRank(eqx.Module):
    """diag(var) + factor factor': independent errors and k shared ones.

    A shared one is a batch, a temperature, a mis-set zero.
    """

    var: Float[Array, ""] | Float[Array, " d"]
    factor: Float[Array, "d k"]

    def vector(self, d: int) -> Float[Array, " d"]:
        return jnp.broadcast_to(self.var, (d,))

    def matrix(self, d: int) -> Float[Array, "d d"]:
        return jnp.diag(self.vector(d)) + self.factor @ self.factor.T

    def sample(self, key: PRNGKeyArray, n: int, d: int) -> Float[Array, "n d"]:
        own, shared = jax.random.split(key)
        z = normal(shared, (n, self.factor.shape[1]), self.factor.dtype)
        return Diagonal(self.var).sample(own, n, d) + z @ self.factor.T

    def times(self, r: Float[Array, "n d"]) -> Float[Array, "n d"]:
        return Diagonal(self.var).times(r) + (r @ self.factor) @ self.factor.T

    def solve(self, r: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """Woodbury: O(n d k)."""
        base = Diagonal(self.var)
        half = inverse_lower(self._capacitance())
        inner = ((base.solve(r) @ self.factor) @ half.T) @ half
        return base.solve(r - inner @ self.factor.T)

    def logdet(self, d: int) -> Float[Array, ""]:
        pivots = diagonal(self._capacitance())
        return Diagonal(self.var).logdet(d) + 2 * jnp.sum(jnp.log(pivots))

    def inverse(self, d: int) -> Float[Array, "d d"]:
        return self.solve(jnp.eye(d, dtype=self.factor.dtype))

    def inverse_diagonal(self, d: int) -> Float[Array, " d"]:
        scaled = self.factor / self.vector(d)[:, None]
        half = inverse_lower(self._capacitance()) @ scaled.T
        return 1 / self.vector(d) - jnp.sum(half**2, axis=0)

    def scaled(self, factor: Float[Array, ""] | float) -> Self:
        return type(self)(self.var * factor, self.factor * jnp.sqrt(factor))

    def masked(self, mask: Array) -> "LowRank":
        return LowRank(jnp.where(mask, self.var, 1.0), jnp.where(mask[:, None], self.factor, 0.0))

    def _capacitance(self) -> Float[Array, "k k"]:
        """Lower Cholesky factor of I + U' D^-1 U."""
        d, k = self.factor.shape
        scaled = self.factor / self.vector(d)[:, None]
        inner = jnp.eye(k, dtype=self.factor.dtype) + self.factor.T @ scaled
        return cholesky(inner)


class Dense(eqx.Module):
    """A full matrix, its lower Cholesky factor L and L^-1.

    Each is computed once, and, under jit, only if it is used.

    Products with L^-1 stand in for triangular solves: as accurate, and many right-hand sides become
    one matrix product, where the solver of LAPACK starts threads that get in each other's way on a
    busy machine.
    """

    full: Float[Array, "d d"]
    root: Float[Array, "d d"]
    whitener: Float[Array, "d d"]

    def __init__(self, full: Float[Array, "d d"]):
        root = cholesky(full)
        self.full, self.root = full, root
        self.whitener = inverse_lower(root)

    def matrix(self, d: int) -> Float[Array, "d d"]:
        return self.full

    def sample(self, key: PRNGKeyArray, n: int, d: int) -> Float[Array, "n d"]:
        return normal(key, (n, d), self.full.dtype) @ self.root.T

    def times(self, r: Float[Array, "n d"]) -> Float[Array, "n d"]:
        return r @ self.full

    def solve(self, r: Float[Array, "n d"]) -> Float[Array, "n d"]:
        return (r @ self.whitener.T) @ self.whitener

    def logdet(self, d: int) -> Float[Array, ""]:
        return 2 * jnp.sum(jnp.log(diagonal(self.root)))

    def inverse(self, d: int) -> Float[Array, "d d"]:
        return self.whitener.T @ self.whitener

    def inverse_diagonal(self, d: int) -> Float[Array, " d"]:
        return jnp.sum(self.whitener**2, axis=0)

    def scaled(self, factor: Float[Array, ""] | float) -> "Dense":
        return Dense(self.full * factor)

    def masked(self, mask: Array) -> "Dense":
        return Dense(
            jnp.where(
                mask[:, None] & mask[None], self.full, jnp.eye(mask.size, dtype=self.full.dtype)
            )
        )


Covariance = Diagonal | LowRank | Dense


def add(a: Covariance, b: Covariance, d: int) -> Covariance:
    """a + b, in the cheapest shape that holds the sum."""
    if isinstance(a, Dense) or isinstance(b, Dense):
        return Dense(a.matrix(d) + b.matrix(d))
    factors = [c.factor for c in (a, b) if isinstance(c, LowRank)]
    if factors:
        return LowRank(a.var + b.var, jnp.concatenate(factors, axis=1))
    return Diagonal(a.var + b.var)


def as_covariance(name: str, value: ArrayLike | Covariance, strict: bool = True) -> Covariance:
    """Noise as people state it: standard deviations, a covariance matrix, or a `Covariance`."""
    if isinstance(value, Diagonal | LowRank | Dense):
        return value
    array = _arrays.as_float(name, value)
    if array.ndim == 2:
        return Dense(_arrays.covariance_matrix(name, array))
    if array.ndim > 2:
        raise ValueError(
            f"{name} must be a scalar, a vector or a covariance matrix, got shape {array.shape}"
        )
    return Diagonal(_arrays.positive(name, array, strict=strict) ** 2)


def shared_errors(std: ArrayLike, factor: ArrayLike) -> LowRank:
    """Independent errors plus shared ones: a scale for `GaussianNoise`.

    Parameters
    ----------
    std : array_like, shape [] or [d]
        Standard deviation of the error that each coordinate has to itself.
    factor : array_like, shape [d, k]
        Column k is one standard deviation of the k-th shared error.

    Returns
    -------
    LowRank
        diag(std^2) + factor factor'.

    Raises
    ------
    ValueError
        If factor is no matrix, or std not positive or of another size.

    Examples
    --------
    >>> scale = phenes.inputs.shared_errors(0.1, jnp.ones((3, 1)))
    >>> phenes.inputs.GaussianNoise(scale).cov.matrix(3).shape
    (3, 3)
    """
    own = _arrays.positive("std", std)
    columns = _arrays.as_float("factor", factor)
    if columns.ndim != 2:
        raise ValueError(f"factor must be a matrix [d, k], got shape {columns.shape}")
    if own.ndim:
        _validate.shape("std", own, (columns.shape[0],), "the rows of factor")
    return LowRank(own**2, columns)
