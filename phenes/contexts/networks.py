"""Small modules to stand behind a policy, beside those of equinox.nn."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from phenes import _arrays, _validate
from phenes.protocols import Tree

LOWEST = -60.0  # least log alpha: exp(-60) does not underflow in single precision


class Table(eqx.Module):
    """A row for each of finitely many contexts 0, 1, ...: c -> rows[c].

    Parameters
    ----------
    rows : array [contexts, ...]
        The values of the contexts; learnt.
    """

    rows: Float[Array, "..."]

    def __init__(self, rows: ArrayLike):
        self.rows = _arrays.as_float("rows", rows)
        if self.rows.ndim == 0:
            raise ValueError("rows must have shape [contexts, ...], got a number")

    def __call__(self, c: Float[Array, ""]) -> Float[Array, "*k"]:
        return self.rows[jnp.asarray(c).astype(jnp.int32)]


class Constant(eqx.Module):
    """A network whose output is the same in every context.

    Parameters
    ----------
    value : array
        The value in every context; learnt.
    """

    value: Float[Array, "*k"]

    def __init__(self, value: ArrayLike):
        self.value = _arrays.as_float("value", value)

    def __call__(self, c: Tree) -> Float[Array, "*k"]:
        return self.value


class Concentrated(eqx.Module):
    """log alpha of a Dirichlet policy whose concentration is kept: only its mean is learnt.

    log alpha = log total + log softmax(network(c)). The answers do not depend on `total`, nor does
    the phenotype score; the genotype score does.

    Parameters
    ----------
    network : callable
        c -> logits [k], such as a module of `equinox.nn`.
    total : float
        The sum of alpha, positive.
    """

    network: Callable[[Tree], Float[Array, " k"]]
    total: float = eqx.field(static=True)

    def __init__(self, network: Callable[[Tree], Float[Array, " k"]], total: float):
        self.network = _validate.function("network", network, "equinox.nn.Linear(4, 3, key=key)")
        _arrays.positive("total", total)
        self.total = float(total)

    def __call__(self, c: Tree) -> Float[Array, " k"]:
        return jnp.maximum(jnp.log(self.total) + jax.nn.log_softmax(self.network(c)), LOWEST)
