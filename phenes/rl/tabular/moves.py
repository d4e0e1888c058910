"""How Dirichlet policies move.

In log alpha along the natural gradient, with the concentration kept or free, or in alpha (the
paper).
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from phenes import metric
from phenes._trees import replace
from phenes.protocols import InputLaw
from phenes.search.dirichlet import LARGEST_STEP, Dirichlet

# a float, or one that is being traced: settings are swept inside of one compiled program
Number: TypeAlias = float | Array


class Move(NamedTuple):
    """What `phenes.es` takes as metric and move, and the rate of the optimiser."""

    metric: Callable[[InputLaw, Dirichlet, Dirichlet], Dirichlet]
    move: Callable[[Dirichlet, Dirichlet], tuple[Dirichlet, Array]] | None
    rate: Number


def kept(total: Number, rate: Number, least: Number = 0.01) -> Move:
    """Natural gradient in log alpha with the sum of alpha kept in every row.

    So that no state stops exploring early. least: no action gets a smaller share of it, so that
    what an early accident ruled out can come back. The rate counts steps in units of 1 + total: a
    row of which one action was seen says that much less about its theta than theta does.
    """

    def move(q: Dirichlet, updates: Dirichlet) -> tuple[Dirichlet, Int[Array, ""]]:
        return _within(q, updates, total, least, LARGEST_STEP)

    return Move(metric.natural, move, rate * (1 + total))


def towards(total: Number, rate: Number, least: Number = 0.02, largest: Number = 1.0) -> Move:
    """Along a direction in log alpha as it is, with the sum of alpha kept in every row.

    least: as in `kept`. largest: step in log alpha.
    """

    def move(q: Dirichlet, updates: Dirichlet) -> tuple[Dirichlet, Int[Array, ""]]:
        return _within(q, updates, total, least, largest)

    return Move(metric.plain, move, rate)


def _within(
    q: Dirichlet, updates: Dirichlet, total: Number, least: Number, largest: Number
) -> tuple[Dirichlet, Int[Array, ""]]:
    """A step of at most `largest`, no share below `least`, and how many entries were held back."""
    step = jnp.clip(updates.log_alpha, -largest, largest)
    share = jax.nn.softmax(q.log_alpha + step, axis=-1)
    raised = jnp.maximum(share, least)
    log_alpha = jnp.log(total * raised / jnp.sum(raised, axis=-1, keepdims=True))
    held = (step != updates.log_alpha) | (share < least)
    return replace(q, log_alpha=log_alpha), jnp.sum(held, dtype=jnp.int32)


def free(rate: Number) -> Move:
    """Natural gradient in log alpha; the concentration of each state is learnt too.

    Within the bounds of `search.Dirichlet`.
    """
    return Move(metric.natural, None, rate)


def on_alpha(rate: Number, floor: Number) -> Move:
    """Plain gradient ascent on alpha itself, as in the paper.

    What falls below `floor` is put there (erratum 22: or it turns negative).
    """

    def plain(p: InputLaw, q: Dirichlet, g: Dirichlet) -> Dirichlet:
        return replace(q, log_alpha=g.log_alpha / q.alpha)

    def move(q: Dirichlet, updates: Dirichlet) -> tuple[Dirichlet, Int[Array, ""]]:
        alpha = q.alpha + updates.log_alpha
        return replace(q, log_alpha=jnp.log(jnp.maximum(alpha, floor))), jnp.sum(
            alpha < floor, dtype=jnp.int32
        )

    return Move(plain, move, rate)
