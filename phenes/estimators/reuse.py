# pyright: reportUnknownMemberType=false
"""Earlier generations once more, with importance weights: the option `reuse` of `es`.

docs/estimators/reuse.md.
"""

from collections.abc import Callable
from typing import Self, TypeAlias, cast

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from phenes import _validate
from phenes._population import weigh
from phenes._trees import dtype_of, join, joined, rows, split_arrays, take
from phenes.batch import Batch
from phenes.estimators.missing import realised_score, unmeasured
from phenes.estimators.scores import phenotype
from phenes.protocols import (
    Estimator,
    HasMarginal,
    HasRepeats,
    InputLaw,
    LearningEstimator,
    Q,
    SearchLaw,
    Tree,
    Weighting,
)

ImportanceWeights: TypeAlias = Callable[
    [Float[Array, "k n"], Float[Array, " k"], Int[Array, " n"]], Float[Array, " n"]
]
"""(log P_s(x_j), number of individuals of generation s, generation of j) to log weights [n]."""


def ratio_weights(
    log_density: Float[Array, "k n"], numbers: Float[Array, " k"], generation: Int[Array, " n"]
) -> Float[Array, " n"]:
    """log P_now(x) / P_then(x), then being the generation that x was drawn in.

    Unbiased if q_now does not depend on the individuals used again; how earlier search laws came
    about does not matter. Weights have no bound, and an infinite variance where P_now is much wider
    than P_then.

    Parameters
    ----------
    log_density : array, shape [K, N]
        log P_s(x_j); s = 0 is the present generation.
    numbers : array, shape [K]
        Individuals of each generation.
    generation : int array, shape [N]
        The generation of each individual.

    Returns
    -------
    array, shape [N]
        Logarithms of the weights.

    Examples
    --------
    >>> again = phenes.estimators.Reuse(3, phenes.estimators.ratio_weights)
    """
    then = jnp.take_along_axis(log_density, generation[None], axis=0)[0]
    return log_density[0] - then


def balance_weights(
    log_density: Float[Array, "k n"], numbers: Float[Array, " k"], generation: Int[Array, " n"]
) -> Float[Array, " n"]:
    """log P_now(x) / sum_s (n_s / n) P_s(x): the balance heuristic over all generations kept.

    Unbiased if no search law of these generations depends on their individuals. Weights are at most
    n / n_now, whatever the steps were.

    Parameters
    ----------
    log_density : array, shape [K, N]
        log P_s(x_j); s = 0 is the present generation.
    numbers : array, shape [K]
        Individuals of each generation.
    generation : int array, shape [N]
        The generation of each individual.

    Returns
    -------
    array, shape [N]
        Logarithms of the weights.

    Examples
    --------
    >>> again = phenes.estimators.Reuse(3, phenes.estimators.balance_weights)
    """
    share = jnp.log(numbers) - jnp.log(jnp.sum(numbers))  # -inf for a generation that is not there
    return log_density[0] - jax.nn.logsumexp(log_density + share[:, None], axis=0)


class Reuse(eqx.Module):
    """How many earlier generations are used again, and with which importance weights.

    Parameters
    ----------
    generations : int
        Earlier generations beside the present one.
    weights : callable, default balance_weights
        `balance_weights` or `ratio_weights`.

    Raises
    ------
    ValueError
        If generations is no positive integer, or weights no function.

    Examples
    --------
    >>> p, parts = phenes.inputs.GaussianNoise(0.1), (phenes.weightings.value, optax.sgd(0.1))
    >>> again = phenes.estimators.Reuse(3, phenes.estimators.ratio_weights)
    >>> strategy = phenes.es(p, phenes.estimators.phenotype, *parts, popsize=20, reuse=again)
    """

    generations: int = eqx.field(static=True)
    weights: ImportanceWeights = eqx.field(static=True)

    def __init__(self, generations: int, weights: ImportanceWeights = balance_weights):
        self.generations = _validate.count("reuse", generations)
        self.weights = _validate.function("weights", weights, "phenes.estimators.balance_weights")


class Kept(eqx.Module):
    """Earlier generations, the latest first.

    Parameters
    ----------
    q : SearchLaw
        Their search laws, stacked.
    x : tree of arrays, shape [K, N, ...]
        What was realised.
    f : array, shape [K, N] or [K, N, R]
        Values.
    filled : int array, shape []
        How many generations there are so far.
    """

    q: Tree
    x: Tree
    f: Float[Array, "k n *r"]
    filled: Int[Array, ""]


class Reusing(eqx.Module):
    """`estimators.phenotype` of the present and of earlier generations; made by `es`.

    Parameters
    ----------
    reuse : Reuse
        How many, and with which weights.
    weighting : Weighting
        Values to weights, of all generations together: one W for all of them.
    kept : Kept, or None
        Earlier generations.
    ess : array, shape []
        Effective sample size of the last gradient, `(sum r)^2 / sum r^2` of importance weights r.
    """

    reuse: Reuse
    weighting: Weighting = eqx.field(static=True)
    kept: Kept | None
    ess: Float[Array, ""]

    def start(self, p: InputLaw, q: SearchLaw, batch: Batch) -> Self:
        """The estimator with room for earlier generations."""
        k, dtype = self.reuse.generations, dtype_of(q)
        arrays, rest = split_arrays(q)
        n = rows(batch.theta)

        def room(leaf: Array) -> Array:
            return jnp.zeros((k, *leaf.shape), leaf.dtype)

        def copies(leaf: Array) -> Array:
            return jnp.broadcast_to(leaf[None], (k, *leaf.shape))

        kept = Kept(
            joined(jax.tree.map(copies, arrays), rest),
            jax.tree.map(room, batch.x),
            jnp.zeros((k, n, p.repeats) if isinstance(p, HasRepeats) else (k, n), dtype),
            jnp.zeros((), jnp.int32),
        )
        return type(self)(self.reuse, self.weighting, kept, jnp.zeros((), dtype))

    def step(self, p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> tuple[Q, Self]:
        """The gradient from all generations kept, and the estimator that keeps this one too."""
        if self.kept is None:
            raise ValueError("reuse must begin with start(p, q, batch), got a step before it")
        if batch.x is None:
            raise ValueError("reuse must be told the realised x of a generation, got None")
        gradient, ess = _gradient(p, q, self.kept, batch, self.weighting, self.reuse.weights)
        return gradient, type(self)(self.reuse, self.weighting, _keep(self.kept, q, batch), ess)


def reusing(
    reuse: int | Reuse,
    p: InputLaw | None,
    estimator: Estimator | LearningEstimator,
    weighting: Weighting,
) -> Reusing:
    """The estimator of `es(..., reuse=...)`, or a refusal."""
    again = reuse if isinstance(reuse, Reuse) else Reuse(reuse)
    if estimator is not phenotype:
        name = getattr(estimator, "__name__", type(estimator).__name__)
        raise ValueError(
            "reuse must go with estimators.phenotype, whose individuals are worth what their x is,"
            f" got {name}"
        )
    if not isinstance(p, HasMarginal):
        raise ValueError(
            f"reuse needs P(x), and {type(p).__name__} has no marginal in closed form: leave out"
            " reuse, and use estimators.information_mix or estimators.exchangeable"
        )
    return Reusing(again, weighting, None, jnp.zeros(()))


def _gradient(
    p: InputLaw,
    q: Q,
    kept: Kept,
    batch: Batch,
    weighting: Weighting,
    weights: ImportanceWeights,
) -> tuple[Q, Float[Array, ""]]:
    """The phenotype gradient of all generations together, and its effective sample size.

    Individuals of the present generation whose x was not measured count as ever, with weight 1 and
    their genotype score; earlier ones have no density, and are left out.
    """
    k, n = kept.f.shape[:2]
    generation = jnp.repeat(jnp.arange(k + 1, dtype=jnp.int32), n)
    together = _together(kept, batch)
    known = (generation <= kept.filled) & ~unmeasured(together.x, (k + 1) * n)
    filled_in = _stand_in(together, known, generation)
    log_density = _log_densities(p, q, kept, filled_in.x)
    numbers = jax.ops.segment_sum(known.astype(kept.f.dtype), generation, k + 1)
    r = jnp.exp(weights(log_density, numbers, generation).astype(kept.f.dtype))
    r = jnp.where(known, r, (generation == 0).astype(r.dtype))
    number = jnp.sum(known | (generation == 0), dtype=r.dtype)
    w = _weigh(weighting, together.f, kept) * r * (r.size / number)
    return realised_score(p, q, filled_in, w), jnp.sum(r) ** 2 / jnp.sum(r**2)


def _together(kept: Kept, batch: Batch) -> Batch:
    """All generations as one population, the present one first; theta is known of that alone."""
    k = kept.f.shape[0]

    def flat(leaf: Array) -> Array:
        return leaf.reshape(-1, *leaf.shape[2:])

    def tiled(leaf: Array) -> Array:
        return jnp.tile(leaf, (k, *(1,) * (leaf.ndim - 1)))

    f = batch.f.astype(kept.f.dtype)
    past = Batch(jax.tree.map(tiled, batch.theta), jax.tree.map(flat, kept.x), flat(kept.f))
    return join(Batch(batch.theta, batch.x, f), past)


def _weigh(weighting: Weighting, f: Float[Array, "n *r"], kept: Kept) -> Float[Array, " n"]:
    """The weights of all generations that are there, together, and 0 for the others."""
    k, n = kept.f.shape[:2]

    def of_first(generations: int) -> Callable[[Array], Array]:
        def call(f: Array) -> Array:
            w = weigh(weighting, f[: generations * n])
            return jnp.pad(w, (0, f.shape[0] - w.size))

        return call

    branches = [of_first(j + 1) for j in range(k + 1)]
    return cast(Array, lax.switch(kept.filled, branches, f))  # pyright: ignore[reportUnknownArgumentType]  # lax.switch's own


def _stand_in(together: Batch, known: Bool[Array, " n"], generation: Int[Array, " n"]) -> Batch:
    """A measured individual in place of earlier ones that have no x: NaN times 0 would be NaN."""
    index = jnp.where(known | (generation == 0), jnp.arange(known.size), jnp.argmax(known))
    return take(together, index)


def _log_densities(p: InputLaw, q: SearchLaw, kept: Kept, x: Tree) -> Float[Array, "k n"]:
    """log P_s(x_j) under the present and all earlier search laws."""
    if not isinstance(p, HasMarginal):
        raise TypeError(f"{type(p).__name__} has no marginal in closed form")
    law: HasMarginal = p

    def under(q: SearchLaw) -> Array:
        return jax.vmap(law.marginal(q).log_prob)(x)

    earlier: Array = eqx.filter_vmap(under)(kept.q)
    return jnp.concatenate([under(q)[None], earlier])


def _keep(kept: Kept, q: SearchLaw, batch: Batch) -> Kept:
    """With this generation in front, and without the oldest."""

    def pushed(new: Array, old: Array) -> Array:
        return jnp.concatenate([new[None].astype(old.dtype), old[:-1]])

    arrays, rest = split_arrays(q)
    laws = jax.tree.map(pushed, arrays, split_arrays(kept.q)[0])
    return Kept(
        joined(laws, rest),
        jax.tree.map(pushed, batch.x, kept.x),
        pushed(batch.f, kept.f),
        jnp.minimum(kept.filled + 1, kept.f.shape[0]),
    )
