"""The public face of the BBOB functions: the problem object and its constructor."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from phenes import _validate
from phenes.problems.coco.functions import FUNCTIONS
from phenes.problems.coco.instances import Instance, make_instance


class Problem(eqx.Module):
    """A minimisation problem: call it on one point x [dim] to get its value, in the dtype of x.

    The data of the instance are array leaves and the rest is static, so a jitted function that
    takes a problem as argument compiles once per function and dimension, whatever the instance. The
    leaves live on the host in float64 and are cast to the dtype of x, so one problem serves all
    precisions.

    Parameters
    ----------
    function : int
        Number of the function, 1 to 24.
    dim : int
        Number of variables.
    data : Instance
        Random data of the instance.
    """

    function: int = eqx.field(static=True)
    dim: int = eqx.field(static=True)
    data: Instance

    # Arrays have no hash; identity makes jax.jit(problem) and problems as dictionary keys work.
    __hash__ = object.__hash__
    __eq__ = object.__eq__

    @property
    def name(self) -> str:
        """Number and name of the function, such as "f1 sphere"."""
        return f"f{self.function} {FUNCTIONS[self.function][0]}"

    @property
    def x_opt(self) -> np.ndarray:
        """A minimiser [dim]."""
        return self.data.x_opt

    @property
    def f_opt(self) -> float:
        """The smallest value."""
        return self.data.f_opt

    @property
    def bounds(self) -> tuple[float, float]:
        """Lower and upper end of every variable; points outside can be evaluated as well."""
        return (-5.0, 5.0)

    def __call__(self, x: ArrayLike) -> Array:
        """Value at the point x [dim]; use jax.vmap for many points."""
        x = _validate.shape("x", jnp.asarray(x), (self.dim,), "the dimension of the problem")
        if not jnp.issubdtype(x.dtype, jnp.floating):
            x = x.astype(jnp.result_type(float))
        data = jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype=x.dtype), self.data)
        return FUNCTIONS[self.function][1](x, data) + data.f_opt


def bbob(function: int, dim: int, instance: int = 1) -> Problem:
    """Make a problem of the noiseless BBOB suite, equal to the one of the COCO platform.

    Parameters
    ----------
    function : int
        Number of the function, 1 to 24.
    dim : int
        Number of variables, at least 2.
    instance : int
        Number of the instance, at least 1; instances differ in their optima and rotations.

    Returns
    -------
    Problem
        The same object when asked for again, as long as it is in the cache.

    Raises
    ------
    ValueError
        If an argument is not a whole number, or out of range.

    Examples
    --------
    >>> from phenes.problems import bbob
    >>> problem = bbob(1, dim=3)
    >>> problem.name
    'f1 sphere'
    >>> bool(abs(problem(problem.x_opt) - problem.f_opt) < 1e-4)
    True
    """
    number = _validate.whole(function)
    if number not in FUNCTIONS:
        raise ValueError(
            f"function must be a whole number from 1 to {len(FUNCTIONS)}, got {function!r}"
        )
    return _cached_problem(
        number, _validate.count("dim", dim, 2), _validate.count("instance", instance, 1)
    )


@functools.lru_cache(maxsize=512)
def _cached_problem(function: int, dim: int, instance: int) -> Problem:
    return Problem(function, dim, make_instance(function, dim, instance))
