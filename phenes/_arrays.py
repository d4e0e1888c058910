"""Arrays that users give to the parts in JAX: converted here, validated by `_validate`.

Shapes are always checked. Values (NaN, signs, positive definiteness) are checked when they are
concrete; inside `jax.jit` they are not known, and what goes wrong there is data (see `Info`), not
an exception.
"""

# signatures of JAX are typed in part only
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

from phenes import _validate


def concrete(*values: Any) -> bool:
    """True if the values can be looked at now, that is, none of them is being traced."""
    return not any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(values))


def as_float(name: str, value: Any) -> Array:
    """`value` as a floating-point array of the ambient precision, all of it finite."""
    array = _array(name, value)
    # with its dtype named: a weakly typed start would compile every jitted function once more
    inexact = jnp.issubdtype(array.dtype, jnp.inexact)
    array = jnp.asarray(array, array.dtype if inexact else jnp.result_type(float))
    if concrete(array):
        _validate.finite(name, array)
    return array


def _array(name: str, value: Any) -> Array:
    # rows of True and False are data; one of them in place of a number is a slip
    if not isinstance(value, bool | np.bool_):
        try:
            array = jnp.asarray(value)
            if not jnp.issubdtype(array.dtype, jnp.complexfloating):
                return array
        except Exception:  # objects may refuse to be an array in any way
            pass
    raise ValueError(
        f"{name} must be a number or an array of numbers, got {_validate.quote(value)}"
    )


def positive(name: str, value: Any, strict: bool = True) -> Array:
    """`value` as an array of positive (or, not strict, non-negative) numbers."""
    array = as_float(name, value)
    if concrete(array):
        _validate.signs(name, array, strict)
    return array


def vector(name: str, value: Any) -> Array:
    """`value` as a vector of at least one coordinate."""
    array = as_float(name, value)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"{name} must be a vector of at least one coordinate, got shape {array.shape}"
        )
    return array


def covariance_matrix(name: str, value: Any, dim: int | None = None) -> Array:
    """`value` as a symmetric positive semidefinite matrix [d, d]."""
    array = _validate.square(name, as_float(name, value))
    if dim is not None:
        _validate.shape(name, array, (dim, dim), "the mean")
    if concrete(array):
        _validate.semidefinite(name, array, float(jnp.finfo(array.dtype).eps))
    return array
