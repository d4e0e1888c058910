"""What doing nothing is worth, and what follows from it.

A linear policy that begins at zero does nothing at first. Two things are measured in its first
generation, and neither needs the name of an environment:

- what a step is paid for being alive: the median reward of a step. A learner that sees it stands
  still where moving may end the episode, so it is taken off, unless staying alive is what the
  environment is about (all steps are paid nearly the same).
- what an idle episode returns: the first pair of individuals is the mean itself. As long as no
  individual is better than that and no episode ends by itself, differences between individuals are
  what moving costs. The mean then stays where it is and the search widens, until there is more.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from phenes.rl.rollouts.trajectory import Trajectory

# a bonus for being alive is one of several things if nine tenths and one tenth of the steps differ
# by this share of it: 0.05 for a pole that is to be balanced, about 1 for what hops or walks
DIFFERENT = 0.2
WIDEST = (
    2.0**8
)  # beyond that actions are at their bounds in every state, and the search begins anew


class Idle(NamedTuple):
    """What is known of doing nothing.

    bonus: reward of a step for being alive. value: return of an idle episode. width: of the search,
    in units of its spread.
    """

    bonus: Float[Array, ""]
    value: Float[Array, ""]
    width: Float[Array, ""]

    @classmethod
    def start(cls, bonus: float) -> "Idle":
        """Before the first generation; bonus: where it is given."""
        dtype = jnp.result_type(float)
        return cls(*(jnp.asarray(v, dtype) for v in (bonus, -jnp.inf, 1.0)))


def survival(x: Trajectory) -> Float[Array, ""]:
    """What a step is paid for being alive: the median, if it is positive and not all there is."""
    rewards = jnp.where(x.mask, x.reward, jnp.nan)
    low, middle, high = jnp.nanquantile(rewards, jnp.asarray([0.1, 0.5, 0.9], rewards.dtype))
    several = high - low >= DIFFERENT * middle
    return jnp.where(several & (middle > 0), middle, 0.0)


def widened(idle: Idle, f: Float[Array, " n"], ended: Bool[Array, " n"]) -> tuple[Idle, Array]:
    """The width of the next generation, and whether anything happened that can be learnt from.

    That is an episode which ended by itself, or returned more than an idle one. Twice as wide if
    there was none, half as wide (down to 1) if half of the population had one.
    """
    event = ended | (f > idle.value)  # a return that is not a number is not more
    found, share = jnp.any(event), jnp.mean(event, dtype=f.dtype)
    wider = jnp.where(idle.width < WIDEST, 2 * idle.width, 1.0)
    narrower = jnp.where(share >= 0.5, jnp.maximum(idle.width / 2, 1.0), idle.width)
    return idle._replace(width=jnp.where(found, narrower, wider)), found
