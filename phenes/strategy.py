"""The paper's Algorithms 1 and 2 from their parts: search law, estimator, weighting, metric, any
optax optimiser.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from phenes import _arrays, _validate
from phenes import metric as metrics
from phenes.batch import Batch, realise, weigh
from phenes.estimators.scores import Estimator
from phenes.protocols import HasMirror, HasStd, LearningEstimator, Optimiser
from phenes.weightings import Weighting


class State(NamedTuple):
    """What is carried from one generation to the next."""

    q: Any
    optimiser: optax.OptState
    estimator: Any  # what an estimator that learns has learnt, else None
    generation: Int[Array, ""]


class Info(NamedTuple):
    """What is reported of a generation."""

    f_mean: Float[Array, ""]  # of the finite values
    f_best: Float[Array, ""]
    failed: Int[Array, ""]  # values that were not finite
    effective: Float[Array, ""]  # (sum |w|)^2 / sum w^2
    projected: Int[Array, ""]  # parameters that had to be brought back into their domain
    skipped: Int[Array, ""]  # 1 if the direction was not finite and no step was taken
    monitor: Any = None


class Strategy(NamedTuple):
    """init(q0) -> state; ask(key, state) -> Batch with theta; tell(state, batch) -> (state,
    info).
    """

    init: Callable[[Any], State]
    ask: Callable[[PRNGKeyArray, State], Batch]
    tell: Callable[[State, Batch], tuple[State, Info]]


class Keys(NamedTuple):
    """Random numbers of a generation: row i belongs to individual i, whatever the size of the
    population.
    """

    theta: PRNGKeyArray
    x: PRNGKeyArray
    estimator: PRNGKeyArray


def generation_keys(key: PRNGKeyArray, generation: Int[Array, ""] | int) -> Keys:
    return Keys(*jax.random.split(jax.random.fold_in(key, generation), 3))


def es(
    p: Any,
    estimator: Estimator,
    weighting: Weighting,
    optimiser: optax.GradientTransformation,
    popsize: int,
    *,
    metric: Callable[[Any, Any, Any], Any] = metrics.natural,
    std: float | Callable[[Array], Array] | None = None,
    mirrored: bool = False,
    move: Callable[[Any, Any], tuple[Any, Array]] | None = None,
    monitor: Callable[[Any, Any, Batch, Array], Any] | None = None,
) -> Strategy:
    """An evolution strategy that maximises E f(x): `estimators.genotype` makes it ES,
    `estimators.phenotype` PAES.

    std: keep the spread of Gaussian search (for single coordinates: their mean) at this value or
    optax schedule instead of learning it. mirrored: draw pairs m +- L z. move: how updates are
    applied (`search.exponential` for xNES steps; default the family's own).
    monitor: (p, q, batch, w) -> anything, reported in `Info.monitor`, e.g. `diagnostics.compare`.
    """
    _check(estimator, weighting, optimiser, metric)
    n = _validate.count("popsize", popsize)
    if mirrored and n % 2:
        raise ValueError(f"popsize must be even for mirrored pairs, got {n}")
    schedule = _schedule(std)

    def init(q: Any) -> State:
        q = _with_scheduled_std(schedule, q, 0)
        learner = None
        if isinstance(estimator, LearningEstimator):
            population = jax.eval_shape(
                lambda key: _population(p, q, key, n, mirrored), jax.random.key(0)
            )
            learner = estimator.start(p, q, population)
        return State(q, optimiser.init(_parameters(q)), learner, jnp.zeros((), jnp.int32))

    def ask(key: PRNGKeyArray, state: State) -> Batch:
        keys = generation_keys(key, state.generation)
        xi = _draw(state.q, keys.theta, n, mirrored)
        return Batch(theta=jax.vmap(state.q.push)(xi), xi=xi, key=keys.estimator)

    def tell(state: State, batch: Batch) -> tuple[State, Info]:
        q, learner, w = state.q, state.estimator, weigh(weighting, batch.f)
        if learner is None:
            gradient = estimator(p, q, batch, w)
        else:
            gradient, learner = learner.step(p, q, batch, w)
        direction, skipped = _finite_or_zero(metric(p, q, gradient))
        descent = jax.tree.map(jnp.negative, direction)
        updates, optimiser_state = optimiser.update(descent, state.optimiser, _parameters(q))
        moved, projected = move(q, updates) if move else q.move(updates)
        generation = state.generation + 1
        after = State(
            _with_scheduled_std(schedule, moved, generation), optimiser_state, learner, generation
        )
        return after, _report(
            batch.f, w, projected, skipped, monitor(p, q, batch, w) if monitor else None
        )

    return Strategy(init, ask, tell)


def _check(estimator, weighting, optimiser, metric) -> None:
    _validate.function("estimator", estimator, "phenes.estimators.phenotype")
    _validate.function("weighting", weighting, "phenes.weightings.standardise")
    _validate.function("metric", metric, "phenes.metric.natural")
    if isinstance(optimiser, type) or not isinstance(optimiser, Optimiser):
        raise ValueError(
            f"optimiser must be an optax transformation such as optax.sgd(0.1), got {optimiser!r}"
        )


def _schedule(
    std: float | Callable[[Array], Array] | None,
) -> Callable[[Array], Array] | None:
    if std is None or callable(std):
        return std
    _arrays.positive("std", std)
    return lambda _: jnp.asarray(std)


def _parameters(q: Any) -> Any:
    return eqx.filter(q, eqx.is_inexact_array)


def _draw(q: Any, key: PRNGKeyArray, n: int, mirrored: bool) -> Any:
    if not mirrored:
        return q.draw(key, n)
    if not isinstance(q, HasMirror):
        raise ValueError(f"mirrored pairs need a Gaussian search law, got {type(q).__name__}")
    half = q.draw(key, n // 2)
    return jax.tree.map(lambda a, b: jnp.concatenate([a, b]), half, q.mirror(half))


def _population(p: Any, q: Any, key: PRNGKeyArray, n: int, mirrored: bool) -> Batch:
    xi = _draw(q, key, n, mirrored)
    theta = jax.vmap(q.push)(xi)
    return Batch(theta=theta, xi=xi, x=realise(p, key, theta), key=key)


def _with_scheduled_std(schedule, q: Any, generation: Any) -> Any:
    if schedule is None:
        return q
    if not isinstance(q, HasStd):
        raise ValueError(f"std can be set for Gaussian search only, got {type(q).__name__}")
    return q.with_std(jnp.asarray(schedule(generation)))


def _finite_or_zero(direction: Any) -> tuple[Any, Int[Array, ""]]:
    """No step at all if any part of the direction is not finite."""
    finite = jnp.all(
        jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(direction)])
    )
    return jax.tree.map(lambda leaf: jnp.where(finite, leaf, 0.0), direction), (~finite).astype(
        jnp.int32
    )


def _report(f: Array, w: Array, projected: Array, skipped: Array, monitored: Any) -> Info:
    finite = jnp.isfinite(f)
    good = jnp.maximum(jnp.sum(finite, dtype=f.dtype), 1.0)
    total = jnp.sum(jnp.abs(w)) ** 2
    return Info(
        f_mean=jnp.sum(jnp.where(finite, f, 0.0)) / good,
        f_best=jnp.max(jnp.where(finite, f, -jnp.inf)),
        failed=jnp.sum(~finite, dtype=jnp.int32),
        effective=total / jnp.where(total > 0, jnp.sum(w**2), 1.0),
        projected=projected,
        skipped=skipped,
        monitor=monitored,
    )
