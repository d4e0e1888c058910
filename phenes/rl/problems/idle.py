"""What doing nothing is worth, and what follows from it.

A linear policy that begins at zero does nothing at first. Two things are measured in its first
generation, and neither needs the name of an environment:

- what a step is paid for being alive: the median reward of a step. A learner that sees it stands
  still where moving may end the episode, so it is taken off, unless staying alive is what the
  environment is about (all steps are paid nearly the same).
- what an idle step, and an idle episode, is paid at best: the first pair of individuals is the mean
  itself. As long as no step and no episode of any individual is paid more than that and no episode
  ends by itself, differences between individuals are what moving costs. The mean then stays where
  it is and the search widens, until there is more. The return counts beside the steps for what is
  paid late, in one sum at the end: no step may be better there, and every episode be another.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from phenes.rl.rollouts.trajectory import Trajectory, length

# a bonus for being alive is one of several things if nine tenths and one tenth of the steps differ
# by this share of it: 0.05 for a pole that is to be balanced, about 1 for what hops or walks
DIFFERENT = 0.2
WIDEST = (
    2.0**8
)  # beyond that actions are at their bounds in every state, and the search begins anew


class Idle(NamedTuple):
    """What is known of doing nothing.

    bonus: reward of a step for being alive. value: the best reward of a step of an idle episode.
    total: the best return of one. width: of the search, in units of its spread.
    """

    bonus: Float[Array, ""]
    value: Float[Array, ""]
    total: Float[Array, ""]
    width: Float[Array, ""]

    @classmethod
    def start(cls, bonus: float) -> "Idle":
        """Before the first generation; bonus: where it is given."""
        dtype = jnp.result_type(float)
        return cls(*(jnp.asarray(v, dtype) for v in (bonus, -jnp.inf, -jnp.inf, 1.0)))


def survival(x: Trajectory) -> Float[Array, ""]:
    """What a step is paid for being alive: the median, if it is positive and not all there is.

    Every episode counts alike, since one that stands still may be as long as all others together.
    The step in which an episode ends by itself is left out: episodes of a few steps would show two
    kinds of reward where there is one.
    """
    last = jnp.arange(x.mask.shape[-1])[None] == length(x)[:, None] - 1
    alive = x.mask & ~(last & x.ended[:, None])
    each = alive / jnp.maximum(jnp.sum(alive, axis=1, keepdims=True), 1)
    low, middle, high = _quantiles(x.reward, each, (0.1, 0.5, 0.9))
    several = high - low >= DIFFERENT * middle
    return jnp.where(jnp.any(alive) & several & (middle > 0), middle, 0.0)


def _quantiles(
    values: Float[Array, "n t"], weights: Float[Array, "n t"], levels: tuple[float, ...]
) -> Float[Array, " levels"]:
    """The lowest values below or at which there are these shares of the weights."""
    order = jnp.argsort(values, axis=None)
    share = jnp.cumsum(weights.ravel()[order])
    at = jnp.asarray(levels, share.dtype) * share[-1]
    return values.ravel()[order][jnp.searchsorted(share, at)]


def best_step(x: Trajectory) -> Float[Array, " n"]:
    """The best reward of a step of each episode; rewards that are not numbers do not count."""
    return jnp.max(jnp.where(x.mask & ~jnp.isnan(x.reward), x.reward, -jnp.inf), axis=-1)


def widened(
    idle: Idle, best: Float[Array, " n"], f: Float[Array, " n"], ended: Bool[Array, " n"]
) -> tuple[Idle, Array]:
    """The width of the next generation, and whether anything happened that can be learnt from.

    That is an episode which ended by itself, or whose best step, or return f, was paid more than
    any of an idle one. Twice as wide if there was none, half as wide (down to 1) if half of the
    population had one.
    """
    event = ended | (best > idle.value) | (f > idle.total)
    found, share = jnp.any(event), jnp.mean(event, dtype=best.dtype)
    wider = jnp.where(idle.width < WIDEST, 2 * idle.width, 1.0)
    narrower = jnp.where(share >= 0.5, jnp.maximum(idle.width / 2, 1.0), idle.width)
    return idle._replace(width=jnp.where(found, narrower, wider)), found
