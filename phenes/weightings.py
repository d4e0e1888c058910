# pyright: reportUnknownMemberType=false
"""W: f[N] -> w[N], what an individual's value counts for in a population that is maximised.

docs/parts/weightings.md.

Everywhere: ties share the mean of their weights, a population without spread gets zeros (so does N
= 1), and a value that is not finite is the worst. Estimators average over the population, so
`ranks` that add up to 1 are multiplied by N.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from phenes import _validate
from phenes.protocols import Weighting
from phenes.special import tiny

__all__ = [
    "Weighting",
    "centred_ranks",
    "log_ranks",
    "normalised",
    "standardise",
    "summed",
    "truncated_ranks",
    "value",
]


def value(f: Float[Array, " n"]) -> Float[Array, " n"]:
    """f_i minus the mean of the others: unbiased for the gradient of E f itself.

    Parameters
    ----------
    f : array, shape [N]
        Values; one that is not finite is the worst.

    Returns
    -------
    array, shape [N]
        Weights.

    Examples
    --------
    >>> phenes.weightings.value(jnp.array([1.0, 2.0, 3.0]))
    Array([-1.5,  0. ,  1.5], dtype=float32)
    """
    n = f.size
    f = _worst_if_not_finite(f)
    return jnp.where(_has_spread(f), (f - jnp.mean(f)) * (n / max(n - 1, 1)), 0.0)


def standardise(f: Float[Array, " n"]) -> Float[Array, " n"]:
    """(f - mean) / std, biased by O(1/N).

    Parameters
    ----------
    f : array, shape [N]
        Values; one that is not finite is the worst.

    Returns
    -------
    array, shape [N]
        Weights.

    Examples
    --------
    >>> phenes.weightings.standardise(jnp.array([1.0, 3.0]))
    Array([-1.,  1.], dtype=float32)
    """
    f = _worst_if_not_finite(f)
    # scaled first, so that the square of a large spread cannot overflow
    size = jnp.max(jnp.abs(f - jnp.mean(f)))
    centred = (f - jnp.mean(f)) / jnp.where(size > 0, size, 1.0)
    std = jnp.sqrt(jnp.mean(centred**2))
    return jnp.where(_has_spread(f), centred / jnp.where(std > 0, std, 1.0), 0.0)


def centred_ranks(f: Float[Array, " n"]) -> Float[Array, " n"]:
    """From -1/2 (worst) to 1/2 (best), linear in the rank; unbiased for its limit at every N.

    Parameters
    ----------
    f : array, shape [N]
        Values; one that is not finite is the worst.

    Returns
    -------
    array, shape [N]
        Weights.

    Examples
    --------
    >>> phenes.weightings.centred_ranks(jnp.array([1.0, 2.0, 3.0]))
    Array([-0.5,  0. ,  0.5], dtype=float32)
    """
    n = f.size
    return _by_rank(f, 0.5 - jnp.arange(n, dtype=f.dtype) / max(n - 1, 1))


def truncated_ranks(fraction: float = 0.8, largest: float = 0.1) -> Weighting:
    """The paper's weights: linear in the rank from `largest` to 0, 0 for the rest (erratum 27).

    They add up to `largest` * floor(fraction N) / 2, not to 1 nor to N: see `summed` and
    `normalised`.

    Parameters
    ----------
    fraction : float, default 0.8
        Share of the population that gets a weight, in (0, 1].
    largest : float, default 0.1
        Weight of the best.

    Returns
    -------
    Weighting
        f[N] -> w[N].

    Raises
    ------
    ValueError
        If fraction is outside (0, 1] or largest not positive.

    Examples
    --------
    >>> phenes.weightings.truncated_ranks(1.0, 0.5)(jnp.array([1.0, 2.0, 3.0]))
    Array([0.  , 0.25, 0.5 ], dtype=float32)
    """
    if not 0 < fraction <= 1 or largest <= 0:
        raise ValueError(
            f"fraction must be in (0, 1] and largest positive, got {fraction} and {largest}"
        )

    def weighting(f: Float[Array, " n"]) -> Float[Array, " n"]:
        n = f.size
        # .29 * 100 is 28.999... in floats: without the nudge the floor drops one
        selected = max(2, int(fraction * n + 1e-9))
        rank = jnp.arange(1, n + 1, dtype=f.dtype)
        return _by_rank(f, largest * jnp.maximum(selected - rank, 0.0) / (selected - 1))

    return weighting


def log_ranks(f: Float[Array, " n"]) -> Float[Array, " n"]:
    """CMA-ES weights of the better half, log((N+1)/2) - log(rank), with mean 1.

    Parameters
    ----------
    f : array, shape [N]
        Values; one that is not finite is the worst.

    Returns
    -------
    array, shape [N]
        Weights.

    Examples
    --------
    >>> phenes.weightings.log_ranks(jnp.array([1.0, 2.0, 3.0]))
    Array([0., 0., 3.], dtype=float32)
    """
    n = f.size
    raw = jnp.log((n + 1) / 2) - jnp.log(jnp.arange(1, n + 1, dtype=f.dtype))
    kept = jnp.maximum(raw, 0.0)
    return _by_rank(f, n * kept / jnp.maximum(jnp.sum(kept), tiny(f)))


def normalised(weighting: Weighting) -> Weighting:
    """Non-negative weights scaled to mean 1, so that the population average is a weighted mean.

    Parameters
    ----------
    weighting : Weighting
        f[N] -> w[N], none of them negative.

    Returns
    -------
    Weighting
        The same weights divided by their mean.

    Raises
    ------
    ValueError
        If weighting is no function.

    Examples
    --------
    >>> scaled = phenes.weightings.normalised(phenes.weightings.truncated_ranks())
    >>> scaled(jnp.arange(10.0)).mean()
    Array(1., dtype=float32)
    """
    _validate.function("weighting", weighting, "weightings.log_ranks")

    def scaled(f: Float[Array, " n"]) -> Float[Array, " n"]:
        w = weighting(f)
        total = jnp.sum(w)
        return w * f.size / jnp.where(total > 0, total, 1.0)

    return scaled


def summed(weighting: Weighting) -> Weighting:
    """Weights for sum_i w_i s_i instead of 1/N sum_i w_i s_i.

    The reading that reproduces the paper's experiments.

    Parameters
    ----------
    weighting : Weighting
        f[N] -> w[N].

    Returns
    -------
    Weighting
        The same weights times N.

    Raises
    ------
    ValueError
        If weighting is no function.

    Examples
    --------
    >>> phenes.weightings.summed(phenes.weightings.centred_ranks)(jnp.array([1.0, 2.0]))
    Array([-1.,  1.], dtype=float32)
    """
    _validate.function("weighting", weighting, "weightings.log_ranks")

    def times_n(f: Float[Array, " n"]) -> Float[Array, " n"]:
        return f.size * weighting(f)

    return times_n


def _worst_if_not_finite(f: Float[Array, " n"]) -> Float[Array, " n"]:
    """Values that are not finite replaced by the smallest finite one."""
    finite = jnp.isfinite(f)
    lowest = jnp.min(jnp.where(finite, f, jnp.inf))
    return jnp.where(finite, f, jnp.where(jnp.isfinite(lowest), lowest, 0.0))


def _has_spread(f: Float[Array, " n"]) -> Array:
    return jnp.max(f) > jnp.min(f)


def _by_rank(f: Float[Array, " n"], table: Float[Array, " n"]) -> Float[Array, " n"]:
    """table[k] for the k-th best, averaged over ties."""
    f = jnp.where(jnp.isfinite(f), f, -jnp.inf)
    order = jnp.argsort(-f)
    ranked = f[order]
    group = jnp.cumsum(jnp.concatenate([jnp.zeros(1, bool), ranked[1:] != ranked[:-1]]))
    size = jax.ops.segment_sum(jnp.ones_like(table), group, f.size, indices_are_sorted=True)
    total = jax.ops.segment_sum(table, group, f.size, indices_are_sorted=True)
    shared = (total / jnp.maximum(size, 1.0))[group]
    return jnp.where(_has_spread(f), jnp.zeros_like(table).at[order].set(shared), 0.0)
