# pyright: reportUnknownMemberType=false
"""JAX functions whose own annotations pyright cannot follow, with the types that they have."""

from collections.abc import Callable
from typing import Any, cast

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array

Function = Callable[..., Array]


def cholesky(a: Array) -> Array:
    """The lower Cholesky factor, NaN if a is not positive definite."""
    return cast(Array, jnp.linalg.cholesky(a))


def eigh(a: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of a symmetric matrix."""
    return cast(tuple[Array, Array], jnp.linalg.eigh(a))


def inverse(a: Array) -> Array:
    """a^-1."""
    return cast(Array, jnp.linalg.inv(a))


def pseudo_inverse(a: Array) -> Array:
    """The inverse of a symmetric matrix on its range, 0 outside."""
    return jnp.linalg.pinv(a, hermitian=True)


def expm(a: Array) -> Array:
    """The matrix exponential."""
    return cast(Array, jax.scipy.linalg.expm(a))


def diagonal(a: Array, axis1: int = 0, axis2: int = 1) -> Array:
    """The diagonal of a matrix, or of many."""
    return cast(Array, jnp.diagonal(a, axis1=axis1, axis2=axis2))


def log_ndtr(x: Array) -> Array:
    """log Phi(x)."""
    return cast(Array, jax.scipy.special.log_ndtr(x))


def grad(f: Callable[..., Any], argnums: int = 0) -> Function:
    """The gradient of f in one argument."""
    return cast(Function, jax.grad(f, argnums=argnums))


def hessian(f: Callable[..., Any], argnums: int = 0) -> Function:
    """The matrix of second derivatives of f in one argument."""
    return cast(Function, jax.hessian(f, argnums=argnums))


def jacobian(f: Callable[..., Any]) -> Function:
    """The matrix of first derivatives of f."""
    return cast(Function, jax.jacfwd(f))


def jvp(f: Function, at: tuple[Array, ...], along: tuple[Array, ...]) -> Array:
    """The derivative of f along a direction."""
    return cast(Array, jax.jvp(f, at, along)[1])


def solve(a: Array, b: Array) -> Array:
    """a^-1 b."""
    return cast(Array, jnp.linalg.solve(a, b))


def cond(which: Array, true: Callable[[], Array], false: Callable[[], Array]) -> Array:
    """lax.cond: one of two computations."""
    return cast(Array, lax.cond(which, true, false))
