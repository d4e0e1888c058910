"""Small modules to stand behind a policy, beside those of equinox.nn."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from phenes import _arrays, _validate

LOWEST = -60.0  # of log alpha: exp(-60) is still a number in single precision


class Table(eqx.Module):
    """A row for each of finitely many contexts 0, 1, ...: c -> rows[c]."""

    rows: Float[Array, "..."]

    def __init__(self, rows):
        self.rows = _arrays.as_float("rows", rows)
        if self.rows.ndim == 0:
            raise ValueError("rows must have shape [contexts, ...], got a number")

    def __call__(self, c: Float[Array, ""]) -> Float[Array, "*k"]:
        return self.rows[jnp.asarray(c).astype(jnp.int32)]


class Constant(eqx.Module):
    """The same in every context."""

    value: Float[Array, "*k"]

    def __init__(self, value):
        self.value = _arrays.as_float("value", value)

    def __call__(self, c: Any) -> Float[Array, "*k"]:
        return self.value


class Concentrated(eqx.Module):
    """log alpha = log total + log softmax(network(c)): a Dirichlet policy whose concentration is
    kept, so that only its mean is learnt.

    The answers do not depend on `total`, nor does the phenotype score; the genotype score does.
    """

    network: Callable[[Any], Float[Array, " k"]]
    total: float = eqx.field(static=True)

    def __init__(self, network, total: float):
        self.network = _validate.function("network", network, "equinox.nn.Linear(4, 3, key=key)")
        _arrays.positive("total", total)
        self.total = float(total)

    def __call__(self, c: Any) -> Float[Array, " k"]:
        return jnp.maximum(jnp.log(self.total) + jax.nn.log_softmax(self.network(c)), LOWEST)
