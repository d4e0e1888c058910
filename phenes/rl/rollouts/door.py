"""Checks of what `play` is given."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array


def population(theta: Any, keys: Any, initial_keys: Any) -> tuple[Array, Array, Array]:
    """theta [N, D], keys [N], initial keys [N] (those of the actions unless given)."""
    theta = jnp.asarray(theta)
    if theta.ndim != 2 or len(theta) == 0 or not jnp.issubdtype(theta.dtype, jnp.floating):
        raise ValueError(
            "theta must be real numbers [N, D], one row for each individual, got shape"
            f" {theta.shape} of {theta.dtype}"
        )
    initial = keys if initial_keys is None else initial_keys
    for name, given in (("keys", keys), ("initial_keys", initial)):
        typed = hasattr(given, "dtype") and jnp.issubdtype(given.dtype, jax.dtypes.prng_key)
        if not typed or given.shape != theta.shape[:1]:
            got = (
                f"shape {given.shape} of {given.dtype}" if hasattr(given, "dtype") else repr(given)
            )
            raise ValueError(
                f"{name} must be typed keys of shape ({len(theta)},), one for each row of theta,"
                f" got {got}"
            )
    return theta, keys, initial
