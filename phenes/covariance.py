# pyright: reportUnknownMemberType=false
"""Covariance matrices of four shapes, each as cheap as its structure allows.

`Diagonal` (one number or d of them), `LowRank` (diagonal plus a few shared directions), `Dense`,
and `Degenerate` for a matrix that is known to be singular. They add up, so that the marginal
covariance M = S + C of a diagonal search under diagonal noise stays O(d) and only what has to be
dense is dense.

Directions of no variance are exact. A law has no density there; `log_density` is that of the other
directions where x is as expected, and -inf elsewhere.
"""

from typing import Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from numpy.typing import ArrayLike

from phenes import _arrays, _validate
from phenes._batching import cond_rare
from phenes._jax import cholesky, diagonal, eigh, jvp
from phenes._random import normal
from phenes.special import eps
from phenes.triangular import inverse_lower

# by how many roundings of its length x may miss the directions that have no variance
OFF = 64


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

    def log_density(self, r: Float[Array, " d"]) -> Float[Array, ""]:
        """Of N(0, diag(var)) at r."""
        return jnp.sum(self.coordinate_log_density(r))

    def coordinate_log_density(self, r: Float[Array, " d"]) -> Float[Array, " d"]:
        """Of each coordinate; without variance 0 at r = 0, up to rounding, and -inf elsewhere."""
        var = self.vector(r.size)
        tolerance = OFF * eps(r) * jnp.sqrt(jnp.max(var))
        spread = jnp.where(var > 0, var, 1.0)
        density = -0.5 * (r * r / spread + jnp.log(2 * jnp.pi * spread))
        return jnp.where(var > 0, density, jnp.where(jnp.abs(r) <= tolerance, 0.0, -jnp.inf))


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

    def log_density(self, r: Float[Array, " d"]) -> Float[Array, ""]:
        return _log_density(self, r)

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
        self.full, self.root = full, semidefinite_root(full)
        self.whitener = inverse_lower(cholesky(full))

    def matrix(self, d: int) -> Float[Array, "d d"]:
        return self.full

    def sample(self, key: PRNGKeyArray, n: int, d: int) -> Float[Array, "n d"]:
        return normal(key, (n, d), self.full.dtype) @ self.root.T

    def times(self, r: Float[Array, "n d"]) -> Float[Array, "n d"]:
        return r @ self.full

    def solve(self, r: Float[Array, "n d"]) -> Float[Array, "n d"]:
        return (r @ self.whitener.T) @ self.whitener

    def logdet(self, d: int) -> Float[Array, ""]:
        return 2 * jnp.sum(jnp.log(diagonal(cholesky(self.full))))

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

    def log_density(self, r: Float[Array, " d"]) -> Float[Array, ""]:
        return _log_density(self, r)


class Degenerate(eqx.Module):
    """A full matrix without an inverse: some directions, not just coordinates, have no variance."""

    full: Float[Array, "d d"]

    def matrix(self, d: int) -> Float[Array, "d d"]:
        return self.full

    def sample(self, key: PRNGKeyArray, n: int, d: int) -> Float[Array, "n d"]:
        return normal(key, (n, d), self.full.dtype) @ eigen_root(self.full).T

    def times(self, r: Float[Array, "n d"]) -> Float[Array, "n d"]:
        return r @ self.full

    def scaled(self, factor: Float[Array, ""] | float) -> Self:
        return type(self)(self.full * factor)

    def masked(self, mask: Array) -> "Degenerate":
        return Degenerate(
            jnp.where(
                mask[:, None] & mask[None], self.full, jnp.eye(mask.size, dtype=self.full.dtype)
            )
        )

    def log_density(self, r: Float[Array, " d"]) -> Float[Array, ""]:
        """Of N(0, full) at r, along the directions that have a variance."""
        value, vector = eigh(self.full)
        live = value > eps(value) * value.size * value[-1]
        along = r @ vector
        each = Diagonal(jnp.where(live, value, 1.0)).coordinate_log_density(along)
        off = jnp.sum(jnp.where(live, 0.0, along**2))
        tolerance = OFF * eps(r) * (jnp.sqrt(value[-1]) + jnp.sqrt(jnp.sum(r**2)))
        return jnp.where(off <= tolerance**2, jnp.sum(jnp.where(live, each, 0.0)), -jnp.inf)


Covariance = Diagonal | LowRank | Dense | Degenerate
Regular = Diagonal | LowRank | Dense  # those that can be inverted


def _log_density(cov: LowRank | Dense, r: Float[Array, " d"]) -> Float[Array, ""]:
    quadratic = jnp.sum(r * cov.solve(r[None])[0])
    return -0.5 * (quadratic + cov.logdet(r.size) + r.size * jnp.log(2 * jnp.pi))


@jax.custom_jvp
def semidefinite_root(a: Float[Array, "d d"]) -> Float[Array, "d d"]:
    """R with R R' = a: the Cholesky factor, or where a is singular that of its eigenvalues.

    Its derivative is that of the Cholesky factor, which a singular matrix has not: NaN there.
    """

    def singular(root: Array, a: Array) -> Array:
        return ~jnp.all(jnp.isfinite(root))

    def by_eigenvalues(root: Array, a: Array) -> Array:
        # in a batch all come here together: those that have a Cholesky factor keep it
        return jnp.where(singular(root, a), eigen_root(a), root)

    def by_cholesky(root: Array, a: Array) -> Array:
        return root

    return cond_rare(singular, by_eigenvalues, by_cholesky)(cholesky(a), a)


@semidefinite_root.defjvp
def _(  # pyright: ignore[reportUnusedFunction]  # registered
    primals: tuple[Array], tangents: tuple[Array]
) -> tuple[Array, Array]:
    return semidefinite_root(*primals), jvp(cholesky, primals, tangents)


def eigen_root(a: Float[Array, "d d"]) -> Float[Array, "d d"]:
    """V sqrt(D) of a = V D V', with eigenvalues up to rounding taken for 0.

    A coordinate of no variance is exact, not exact up to the rounding of eigenvectors.
    """
    value, vector = eigh(a)
    spread = jnp.sqrt(jnp.where(value > eps(a) * a.shape[0] * value[-1], value, 0.0))
    return jnp.where((diagonal(a) > 0)[:, None], vector * spread[None], 0.0)


def add(a: Covariance, b: Covariance, d: int) -> Regular:
    """a + b, in the cheapest shape that holds the sum, which is taken for regular."""
    if isinstance(a, Dense | Degenerate) or isinstance(b, Dense | Degenerate):
        return Dense(a.matrix(d) + b.matrix(d))
    factors = [c.factor for c in (a, b) if isinstance(c, LowRank)]
    if factors:
        return LowRank(a.var + b.var, jnp.concatenate(factors, axis=1))
    return Diagonal(a.var + b.var)


def as_covariance(name: str, value: ArrayLike | Covariance) -> Covariance:
    """Noise as people state it: standard deviations, a covariance matrix, or a `Covariance`.

    Standard deviations of 0 and singular matrices are allowed.
    """
    if isinstance(value, Diagonal | LowRank | Dense | Degenerate):
        return value
    array = _arrays.as_float(name, value)
    if array.ndim == 2:
        return _of_matrix(_arrays.covariance_matrix(name, array))
    if array.ndim > 2:
        raise ValueError(
            f"{name} must be a scalar, a vector or a covariance matrix, got shape {array.shape}"
        )
    return Diagonal(_arrays.positive(name, array, strict=False) ** 2)


def as_regular(name: str, value: ArrayLike | Covariance) -> Regular:
    """As `as_covariance`, for laws that need an inverse."""
    cov = as_covariance(name, value)
    if isinstance(cov, Degenerate):
        raise ValueError(f"{name} must be positive definite, got {_validate.describe(cov.full)}")
    if _arrays.concrete(cov) and isinstance(cov, Diagonal) and not np.all(np.asarray(cov.var) > 0):
        raise ValueError(f"{name} must be positive, got {_validate.quote(value)}")
    return cov


def is_singular(cov: Covariance) -> bool:
    """True if a direction is known to have no variance; while traced that is not known."""
    if isinstance(cov, Diagonal):
        return _arrays.concrete(cov) and not np.all(np.asarray(cov.var) > 0)
    return isinstance(cov, Degenerate)


def has_full_rank(matrix: Float[Array, "d d"]) -> bool:
    """Whether all eigenvalues of a semidefinite matrix are above rounding."""
    value = np.linalg.eigvalsh(np.asarray(matrix, np.float64))
    return bool(value[0] > eps(matrix) * len(value) * value[-1])


def _of_matrix(matrix: Float[Array, "d d"]) -> Covariance:
    """The shape of a matrix: a singular one is told apart where its values are known."""
    if not _arrays.concrete(matrix) or has_full_rank(matrix):
        return Dense(matrix)
    plain = np.asarray(matrix)
    if np.count_nonzero(plain - np.diag(np.diag(plain))) == 0:
        return Diagonal(diagonal(matrix))
    return Degenerate(matrix)


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
