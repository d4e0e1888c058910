"""x in reinforcement learning: what a policy saw, did and got, step by step."""

from collections.abc import Iterable
from typing import NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Int


class Trajectory(NamedTuple):
    """x in reinforcement learning: episodes of N individuals, T steps each.

    A single one has no leading N. Zeros after the end of an episode. T is the step limit, or less
    where all had finished earlier. Leaves are JAX or NumPy arrays.

    Parameters
    ----------
    obs : array, shape (N, T, o)
        What the policy was given, before any normalisation of its own.
    action : array, shape (N, T) or (N, T, a)
        As it was drawn, before clipping and scaling.
    reward : array, shape (N, T)
        Reward of each step.
    mask : array of bool, shape (N, T)
        The step was taken.
    ended : array of bool, shape (N,)
        By the environment itself (terminated), not by the step limit (truncated).
    final_obs : array, shape (N, o)
        After the last step, for values of what was cut off.
    """

    obs: Float[Array, "*n t o"]
    action: Array
    reward: Float[Array, "*n t"]
    mask: Bool[Array, "*n t"]
    ended: Bool[Array, "*n"]
    final_obs: Float[Array, "*n o"]


def of_numpy(leaves: Iterable[np.ndarray]) -> Trajectory:
    """Of NumPy arrays, which are used as JAX arrays are."""
    return Trajectory(*cast("Iterable[Array]", leaves))


def total(x: Trajectory) -> Float[Array, "*n"]:
    """f: the return, the sum of rewards of the steps that were taken.

    Parameters
    ----------
    x : Trajectory
        Trajectories of N individuals, or of one.

    Returns
    -------
    array, shape (N,) or ()
        The returns.
    """
    return (x.reward * x.mask.astype(x.reward.dtype)).sum(axis=-1)


def added(x: Trajectory) -> Float[np.ndarray, " n"]:
    """f of N individuals as a loop over steps adds it up: in their order, in double precision."""
    paid = np.where(np.asarray(x.mask), np.asarray(x.reward, float), 0.0)
    return np.cumsum(paid, axis=-1)[:, -1]


def length(x: Trajectory) -> Int[Array, "*n"]:
    """How many steps were taken.

    Parameters
    ----------
    x : Trajectory
        Trajectories of N individuals, or of one.

    Returns
    -------
    array of int, shape (N,) or ()
        The lengths.
    """
    return x.mask.sum(axis=-1)


def to_go(reward: Float[Array, "n t"], discount: float) -> Float[Array, "n t"]:
    """sum_k discount^k r_{t+k}: what followed each step, zeros after the end included."""

    def back(later: Array, now: Array) -> tuple[Array, Array]:
        total = now + discount * later
        return total, total

    return lax.scan(back, jnp.zeros_like(reward[:, 0]), reward.T, reverse=True)[1].T


def padded(steps: int, limit: int) -> int:
    """How many steps to store: a power of two or the limit.

    What is compiled for trajectories then sees few shapes.
    """
    return min(1 << max(steps - 1, 0).bit_length(), limit)


def trimmed(x: Trajectory) -> Trajectory:
    """A trajectory without most of the time after the longest episode.

    For concrete arrays: the shape depends on them.

    Parameters
    ----------
    x : Trajectory
        Trajectories of N individuals, or of one.

    Returns
    -------
    Trajectory
        Trajectories with a smaller T.
    """
    longest, limit = int(np.max(np.sum(np.asarray(x.mask), axis=-1))), x.mask.shape[-1]
    t, axis = padded(longest, limit), x.mask.ndim - 1
    if t == limit:
        return x

    def cut(leaf: Array) -> Array:
        return leaf[(slice(None),) * axis + (slice(t),)]

    return x._replace(
        **jax.tree.map(
            cut, {name: getattr(x, name) for name in ("obs", "action", "reward", "mask")}
        )
    )
