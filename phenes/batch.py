"""The one record that flows: a population, what became of it, and what it was worth."""

from typing import Any, NamedTuple, TypeAlias

Tree: TypeAlias = Any  # that of `phenes.protocols`, which are about batches


class Batch(NamedTuple):
    """N individuals; fields are filled in from left to right as the generation proceeds.

    Parameters
    ----------
    theta : tree of arrays, shape [N, ...]
        What was intended.
    x : tree of arrays, shape [N, ...] or [N, R, ...], optional
        What was realised, NaN where not measured.
    f : array, shape [N] or [N, R], optional
        Values, maximised.
    xi : tree of arrays, shape [N, ...], optional
        The randomness that q pushed to theta.
    key : key, optional
        Randomness for estimators that draw.

    Examples
    --------
    >>> phenes.Batch(theta=jnp.zeros((10, 3)))._replace(f=jnp.ones(10)).f.shape
    (10,)
    """

    theta: Tree
    x: Tree = None
    f: Tree = None
    xi: Tree = None
    key: Tree = None
