"""Checks at the door: one sentence that names what was given and what was expected.

Shapes are always checked. Values (NaN, signs, positive definiteness) are checked when they are
concrete; inside `jax.jit` they are not known, and what goes wrong there is data (see `Info`), not
an exception.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array


def concrete(*values: Any) -> bool:
    """True if the values can be looked at now, that is, none of them is being traced."""
    return not any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(values))


def as_float(name: str, value: Any) -> Array:
    """`value` as a floating-point array of the ambient precision, all of it finite."""
    try:
        array = jnp.asarray(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number or an array of numbers, got {value!r}") from None
    # with its dtype named: a weakly typed start would compile every jitted function once more
    array = jnp.asarray(
        array, array.dtype if jnp.issubdtype(array.dtype, jnp.inexact) else jnp.result_type(float)
    )
    if concrete(array) and not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite, got {describe(array)}")
    return array


def positive(name: str, value: Any, strict: bool = True) -> Array:
    """`value` as an array of positive (or, not strict, non-negative) numbers."""
    array = as_float(name, value)
    if concrete(array) and not np.all(array > 0 if strict else array >= 0):
        raise ValueError(
            f"{name} must be {'positive' if strict else 'non-negative'}, got {describe(array)}"
        )
    return array


def vector(name: str, value: Any) -> Array:
    array = as_float(name, value)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"{name} must be a vector of at least one coordinate, got shape {array.shape}"
        )
    return array


def shape(name: str, array: Array, expected: tuple[int, ...], match: str) -> Array:
    """`array`, which must have the shape `expected` to match what `match` names."""
    if array.shape != expected:
        raise ValueError(f"{name} must have shape {expected} to match {match}, got {array.shape}")
    return array


def covariance_matrix(name: str, value: Any, dim: int | None = None) -> Array:
    """`value` as a symmetric positive semidefinite matrix [d, d]."""
    array = as_float(name, value)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(f"{name} must be a square matrix, got shape {array.shape}")
    if dim is not None:
        shape(name, array, (dim, dim), "the mean")
    if concrete(array):
        matrix = np.asarray(array, dtype=np.float64)
        size = max(float(np.abs(matrix).max()), np.finfo(np.float64).tiny)
        # rounding in the caller's own arithmetic is forgiven, a wrong matrix is not
        slack = 100 * matrix.shape[0] * float(jnp.finfo(array.dtype).eps) * size
        if np.abs(matrix - matrix.T).max() > slack:
            raise ValueError(
                f"{name} must be symmetric, got asymmetry {np.abs(matrix - matrix.T).max():.3g}"
            )
        lowest = float(np.linalg.eigvalsh(matrix).min())
        if lowest < -slack:
            raise ValueError(
                f"{name} must be positive semidefinite, got smallest eigenvalue {lowest:.3g}"
            )
    return array


def count(name: str, value: Any, least: int = 1) -> int:
    """`value` as an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
    return int(value)


def function(name: str, value: Any, example: str) -> Callable[..., Any]:
    """`value`, which must be callable: names as strings are a common slip."""
    if not callable(value):
        raise ValueError(f"{name} must be a function such as {example}, got {value!r}")
    return value


def family(
    law: eqx.Module, q: Any, expected: type | tuple[type, ...], what: str = "closed-form marginal"
) -> None:
    """Refuse a search family for which `law` has no closed form, and say what to do instead."""
    if not isinstance(q, expected):
        names = " or ".join(
            t.__name__ for t in (expected if isinstance(expected, tuple) else (expected,))
        )
        raise ValueError(
            f"{type(law).__name__} has a {what} under {names}, got {type(q).__name__}: "
            "use estimators.information_mix or estimators.exchangeable, which need none"
        )


def describe(array: Array) -> str:
    """A value short enough for one sentence."""
    values = np.asarray(array)
    return (
        str(values)
        if values.size <= 6
        else f"an array of shape {values.shape} from {values.min()} to {values.max()}"
    )
