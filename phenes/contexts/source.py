"""Sources of contexts, the part of a context that a policy sees, and answers."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phenes import _arrays, _validate
from phenes.protocols import Tree

Source: TypeAlias = Callable[[PRNGKeyArray], Tree]
"""key to a context."""


class Case(NamedTuple):
    """A context, and what only f may look at.

    Parameters
    ----------
    c : pytree of arrays
        The context as policies see it.
    hidden : pytree of arrays
        For f alone: the correct label, a price, which expert is awake.
    """

    c: Tree
    hidden: Tree


class Answer(NamedTuple):
    """x: what was answered, and in which context.

    Parameters
    ----------
    context : pytree of arrays, or Case
        The context, with what is hidden in it.
    answer : array
        The answer: a label, a number or a vector.
    """

    context: Tree
    answer: Array


class Cases:
    """Contexts drawn with replacement from given rows: `source(key)` is one of them.

    Everything becomes floating point: contexts ride inside theta, and estimators that differentiate
    by theta take no integers.

    Parameters
    ----------
    c : pytree of arrays [n, ...]
        One row for each context.
    hidden : array [n, ...], optional
        What only f may look at; then `source(key)` is a `Case(row, hidden)`.

    Raises
    ------
    ValueError
        If there are no rows, or numbers of rows differ.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from phenes import contexts
    >>> source = contexts.Cases(jnp.eye(3), hidden=jnp.arange(3))
    >>> source(jax.random.key(0)).c.shape
    (3,)
    """

    def __init__(self, c: Tree, hidden: Tree = None):
        self.rows = jax.tree.map(lambda leaf: _arrays.as_float("c", leaf), c)
        sizes = {leaf.shape[:1] for leaf in jax.tree.leaves(self.rows)}
        if len(sizes) != 1 or sizes <= {(), (0,)}:
            raise ValueError(
                f"c must hold one row or more for each context, got leading axes {sorted(sizes)}"
            )
        self.size = sizes.pop()[0]
        if hidden is not None:
            hidden = _arrays.as_float("hidden", hidden)
            if hidden.shape[:1] != (self.size,):
                raise ValueError(
                    f"hidden must have {self.size} rows to match c, got shape {hidden.shape}"
                )
            self.rows = Case(self.rows, hidden)

    def __call__(self, key: PRNGKeyArray) -> Tree:
        i = jax.random.randint(key, (), 0, self.size)
        return jax.tree.map(lambda leaf: leaf[i], self.rows)


def visible(context: Tree) -> Tree:
    """The part of a context that a policy may look at.

    Parameters
    ----------
    context : pytree of arrays, or Case
        What a source of contexts draws.

    Returns
    -------
    pytree of arrays
        `context.c` of a `Case`, else `context` itself.
    """
    return context.c if isinstance(context, Case) else context


def is_correct(x: Answer) -> Float[Array, ""]:
    """f of a classification with bandit feedback: whether the answer is the hidden label.

    Parameters
    ----------
    x : Answer
        Its context is a `Case` whose `hidden` is the correct label.

    Returns
    -------
    array []
        1.0 for the correct label, else 0.0.
    """
    label = jnp.asarray(x.context.hidden)
    return (x.answer == label.astype(jnp.result_type(x.answer))).astype(label.dtype)


def check_source(contexts: Source) -> Source:
    """`contexts`, which must draw floating-point arrays."""
    _validate.function("contexts", contexts, "phenes.contexts.Cases(rows)")
    kinds = {
        str(leaf.dtype) for leaf in jax.tree.leaves(jax.eval_shape(contexts, jax.random.key(0)))
    }
    if not kinds or any(not jnp.issubdtype(kind, jnp.floating) for kind in kinds):
        raise ValueError(
            "contexts must draw arrays of floating-point numbers, got"
            f" {', '.join(sorted(kinds)) or 'none'}"
        )
    return contexts


def draw_contexts(contexts: Source, key: PRNGKeyArray, n: int, repeats: int) -> Tree:
    """n contexts, each `repeats` times in a row: individuals are compared within a context."""
    if n % repeats:
        raise ValueError(
            f"the population must be a multiple of the {repeats} repeats of a context, got {n}"
        )
    each = jax.vmap(contexts)(jax.random.split(key, n // repeats))
    return jax.tree.map(lambda leaf: jnp.repeat(leaf, repeats, axis=0), each)
