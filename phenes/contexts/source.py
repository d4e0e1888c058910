"""Where contexts come from, what of them a policy may see, and the form of an answer."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phenes import _arrays, _validate


class Case(NamedTuple):
    """A context c as policies see it, and what only f may look at: the right label, a price, which
    expert is awake.
    """

    c: Any
    hidden: Any


class Answered(NamedTuple):
    """x: what was answered, and in which context."""

    context: Any
    answer: Any


class Cases:
    """Contexts drawn with replacement from rows that are there: `source(key) -> row`, or `Case(row,
    hidden)`.

    Everything becomes floating point: contexts ride inside theta, and estimators that differentiate
    by theta take no integers.
    """

    def __init__(self, c: Any, hidden: Any = None):
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

    def __call__(self, key: PRNGKeyArray) -> Any:
        i = jax.random.randint(key, (), 0, self.size)
        return jax.tree.map(lambda leaf: leaf[i], self.rows)


def seen(context: Any) -> Any:
    """The part that a policy may look at."""
    return context.c if isinstance(context, Case) else context


def right(x: Answered) -> Float[Array, ""]:
    """1 for the right label, else 0: f of a classification with bandit feedback, for cases whose
    label is hidden.
    """
    label = jnp.asarray(x.context.hidden)
    return (x.answer == label.astype(jnp.result_type(x.answer))).astype(label.dtype)


def check_source(contexts: Any) -> Callable[[PRNGKeyArray], Any]:
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


def draw_contexts(
    contexts: Callable[[PRNGKeyArray], Any], key: PRNGKeyArray, n: int, repeats: int
) -> Any:
    """n contexts, each `repeats` times in a row, so that individuals can be weighed against others
    in the same context.
    """
    if n % repeats:
        raise ValueError(
            f"the population must be a multiple of the {repeats} repeats of a context, got {n}"
        )
    each = jax.vmap(contexts)(jax.random.split(key, n // repeats))
    return jax.tree.map(lambda leaf: jnp.repeat(leaf, repeats, axis=0), each)
