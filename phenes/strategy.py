# pyright: reportUnknownMemberType=false
"""The paper's Algorithms 1 and 2 from their parts, beside `minimize`.

`phenes.minimize` is one default for users with a Python function: NumPy, CMA-ES with models of f.
`es` is the paper's strategy, ES or PAES, put together from a search law, an estimator, a weighting,
a metric and any optax optimiser; `run` and `run_host` iterate it. Both draw theta and condition on
the realised x, but they share no code: `es` is for studying and extending the method, and for f
written in JAX.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from phenes import _arrays, _validate
from phenes import metric as metrics
from phenes._population import draw, population_of, weigh
from phenes._trees import dtype_of, parameters
from phenes.batch import Batch
from phenes.estimators.reuse import Reuse, Reusing, reusing
from phenes.protocols import (
    Estimator,
    Family,
    HasMarginalNatural,
    HasPoint,
    HasStd,
    InputLaw,
    LearningEstimator,
    Metric,
    Move,
    Observer,
    Optimiser,
    SearchLaw,
    Tree,
    Weighting,
)

EXAMPLE = "phenes.search.IsotropicGaussian(jnp.zeros(2), 0.5)"  # of a search law
SWAPPED = ": estimator comes before weighting"
Schedule = Callable[[Int[Array, ""] | int], Array | float]
Monitor = Callable[[Family, Family, Batch, Float[Array, " n"]], Tree]


class State(NamedTuple):
    """What is carried from one generation to the next.

    Parameters
    ----------
    q : SearchLaw
        The search law.
    optimiser : tree of arrays
        The state of the optax optimiser.
    estimator : LearningEstimator, or None
        What an estimator that learns has learnt.
    generation : int array, shape []
        Number of generations so far.

    Examples
    --------
    >>> p, q = phenes.inputs.GaussianNoise(0.1), phenes.search.IsotropicGaussian(jnp.zeros(2), 0.5)
    >>> parts = phenes.estimators.phenotype, phenes.weightings.standardise, optax.sgd(0.1)
    >>> phenes.es(p, *parts, popsize=20).init(q).generation.item()
    0
    """

    q: Family
    optimiser: Tree
    estimator: LearningEstimator | None
    generation: Int[Array, ""]


class Info(NamedTuple):
    """What is reported of a generation.

    Parameters
    ----------
    f_mean : array, shape []
        Mean of the finite values; NaN if there are none.
    f_best : array, shape []
        Largest value.
    failed : int array, shape []
        Values that were not finite.
    effective : array, shape []
        Effective number of individuals behind the weights, `(sum |w|)^2 / sum w^2`.
    projected : int array, shape []
        Parameters that had to be brought back into their domain.
    skipped : int array, shape []
        1 if the direction was not finite and no step was taken.
    ess : array, shape [], or None
        With `reuse`: effective sample size of all generations used, `(sum r)^2 / sum r^2` of the
        importance weights r.
    monitor : tree of arrays, optional
        What the monitor of `es` returned.

    Examples
    --------
    >>> p, q = phenes.inputs.GaussianNoise(0.1), phenes.search.IsotropicGaussian(jnp.zeros(2), 0.5)
    >>> parts = phenes.estimators.phenotype, phenes.weightings.standardise, optax.sgd(0.1)
    >>> problem = phenes.OIU(p, lambda x: -jnp.sum(x**2))
    >>> run = phenes.run(jax.random.key(0), problem, phenes.es(p, *parts, popsize=20), q, steps=3)
    >>> run[1].f_mean.shape
    (3,)
    """

    f_mean: Float[Array, ""]
    f_best: Float[Array, ""]
    failed: Int[Array, ""]
    effective: Float[Array, ""]
    projected: Int[Array, ""]
    skipped: Int[Array, ""]
    monitor: Tree = None
    ess: Float[Array, ""] | None = None


class Strategy(NamedTuple):
    """Three functions, without a state of their own, and the law that they were made for.

    Parameters
    ----------
    init : callable
        (q0) -> State.
    ask : callable
        (key, State) -> Batch with theta.
    tell : callable
        (State, Batch with theta, x and f) -> (State, Info).
    p : InputLaw, optional
        What the world does with an intention; `run` compares it with that of its problem.

    Examples
    --------
    >>> p, q = phenes.inputs.GaussianNoise(0.1), phenes.search.IsotropicGaussian(jnp.zeros(2), 0.5)
    >>> parts = phenes.estimators.phenotype, phenes.weightings.standardise, optax.sgd(0.1)
    >>> strategy = phenes.es(p, *parts, popsize=20)
    >>> strategy.ask(jax.random.key(0), strategy.init(q)).theta.shape
    (20, 2)
    """

    init: Callable[[Family], State]
    ask: Callable[[PRNGKeyArray, State], Batch]
    tell: Callable[[State, Batch], tuple[State, Info]]
    p: InputLaw | None = None


class Keys(NamedTuple):
    """Randomness of a generation: row i belongs to individual i, whatever the population's size."""

    theta: PRNGKeyArray
    x: PRNGKeyArray
    estimator: PRNGKeyArray


def generation_keys(key: PRNGKeyArray, generation: Int[Array, ""] | int) -> Keys:
    """The keys of one generation of a run."""
    return Keys(*jax.random.split(jax.random.fold_in(key, generation), 3))


def es(
    p: InputLaw,
    estimator: Estimator | LearningEstimator,
    weighting: Weighting,
    optimiser: Optimiser,
    popsize: int,
    *,
    metric: Metric = metrics.natural,
    std: float | Schedule | None = None,
    mirrored: bool = False,
    move: Move | None = None,
    monitor: Monitor | None = None,
    reuse: int | Reuse | None = None,
) -> Strategy:
    """An evolution strategy that maximises E f(x), from its parts.

    `estimators.genotype` makes it ES (the paper's Algorithm 1), `estimators.phenotype` PAES
    (Algorithm 2).

    Parameters
    ----------
    p : InputLaw
        What the world does with an intention.
    estimator : Estimator or LearningEstimator
        (p, q, batch, w) -> gradient, or an object with `start` and `step`.
    weighting : Weighting
        f[N] -> w[N], such as `weightings.standardise`.
    optimiser : optax.GradientTransformation
        What makes steps of directions, such as `optax.sgd(0.1)`.
    popsize : int
        N, individuals in a generation.
    metric : Metric, default metric.natural
        (p, q, gradient) -> direction.
    std : float or optax schedule, optional
        Keep the spread of Gaussian search (for single coordinates: their mean) at this value
        instead of learning it.
    mirrored : bool, default False
        Draw pairs m +- L z.
    move : callable, optional
        (q, updates) -> (q, count), how updates are applied, such as `search.exponential` for xNES
        steps; the family's own unless given.
    monitor : callable, optional
        (p, q, batch, w) -> anything, reported in `Info.monitor`, such as `diagnostics.compare`.
    reuse : int or estimators.Reuse, optional
        Use so many earlier generations again, weighted by P_now(x) over what they were drawn from;
        for `estimators.phenotype` (docs/estimators/reuse.md says what is unbiased).

    Returns
    -------
    Strategy
        init, ask and tell.

    Raises
    ------
    ValueError
        If a part is not of its kind, popsize is no positive integer, or odd with mirrored pairs, or
        reuse is asked for without `phenotype` or without a marginal.

    Examples
    --------
    >>> p, q = phenes.inputs.GaussianNoise(0.1), phenes.search.Gaussian(jnp.ones(5), jnp.eye(5))
    >>> parts = phenes.estimators.phenotype, phenes.weightings.standardise, optax.sgd(0.1)
    >>> strategy = phenes.es(p, *parts, popsize=50)
    >>> problem = phenes.OIU(p, lambda x: -jnp.sum(x**2))
    >>> state, info = phenes.run(jax.random.key(0), problem, strategy, q, steps=20)
    >>> bool(info.f_mean[-1] > info.f_mean[0])
    True
    """
    _check(p, estimator, weighting, optimiser, metric)
    n = _validate.count("popsize", popsize)
    mirrored = _validate.flag("mirrored", mirrored)
    if mirrored and n % 2:
        raise ValueError(f"popsize must be even for mirrored pairs, got {n}")
    schedule = _schedule(std)
    if reuse is not None:
        estimator = reusing(reuse, p, estimator, weighting)

    def init(q: SearchLaw) -> State:
        _validate.instance("q0", q, ("draw", "push", "log_prob", "move"), EXAMPLE)
        q = _with_scheduled_std(schedule, q, 0)
        learner = None
        if isinstance(estimator, LearningEstimator):

            def population(key: PRNGKeyArray) -> Batch:
                return population_of(p, q, key, n, mirrored)

            learner = estimator.start(p, q, jax.eval_shape(population, jax.random.key(0)))
        if isinstance(q, HasPoint) and _arrays.concrete(p, q, learner) and q.is_singular():
            with jax.ensure_compile_time_eval():
                batch = population_of(p, q, jax.random.key(0), n, mirrored)
                w = jnp.linspace(-1.0, 1.0, n, dtype=dtype_of(q))
                gradient, _ = _estimate(estimator, learner, p, q, batch._replace(f=w), w)
                _check_singular(p, metric, gradient)
        return State(q, optimiser.init(parameters(q)), learner, jnp.zeros((), jnp.int32))

    def ask(key: PRNGKeyArray, state: State) -> Batch:
        keys = generation_keys(key, state.generation)
        xi = draw(state.q, keys.theta, n, mirrored)
        return Batch(theta=jax.vmap(state.q.push)(xi), xi=xi, key=keys.estimator)

    def tell(state: State, batch: Batch) -> tuple[State, Info]:
        q, w = state.q, weigh(weighting, batch.f)
        gradient, learner = _estimate(estimator, state.estimator, p, q, batch, w)
        direction, skipped = _finite_or_zero(metric(p, q, gradient))
        descent = jax.tree.map(jnp.negative, direction)
        updates, optimiser_state = optimiser.update(descent, state.optimiser, parameters(q))
        moved, projected = move(q, updates) if move else q.move(updates)
        generation = state.generation + 1
        spread = _with_scheduled_std(schedule, moved, generation)
        report = monitor(p, q, batch, w) if monitor else None
        after = State(spread, optimiser_state, learner, generation)
        info = _report(batch.f, w, projected, skipped, report)
        return after, info._replace(ess=learner.ess) if isinstance(learner, Reusing) else info

    return Strategy(init, ask, tell, p)


def _estimate(
    estimator: Estimator | LearningEstimator,
    learner: LearningEstimator | None,
    p: InputLaw,
    q: SearchLaw,
    batch: Batch,
    w: Float[Array, " n"],
) -> tuple[SearchLaw, LearningEstimator | None]:
    """The gradient, and the estimator of the next generation if it learns."""
    if learner is not None:
        return learner.step(p, q, batch, w)
    if isinstance(estimator, LearningEstimator):
        raise ValueError("the state must come from init of a strategy with the same estimator")
    return estimator(p, q, batch, w), None


def _check(
    p: object,
    estimator: Estimator | LearningEstimator,
    weighting: Weighting,
    optimiser: Optimiser,
    metric: Metric,
) -> None:
    if p is not None:  # a strategy without a p can ask, and nothing else
        _validate.instance("p", p, ("sample", "log_prob"), "phenes.inputs.GaussianNoise(0.1)")
    if isinstance(estimator, type) or not isinstance(estimator, LearningEstimator):
        _validate.function("estimator", estimator, "phenes.estimators.phenotype")
        if isinstance(estimator, Observer):
            raise ValueError(
                "estimator must have start(p, q, batch) and step(p, q, batch, w) -> (gradient,"
                f" estimator) to learn, got {type(estimator).__name__} with observe only"
            )
        _validate.takes("estimator", estimator, "p, q, batch, w", SWAPPED)
    _validate.function("weighting", weighting, "phenes.weightings.standardise")
    _validate.takes("weighting", weighting, "f", SWAPPED)
    _validate.function("metric", metric, "phenes.metric.natural")
    if isinstance(optimiser, type) or not _is_optimiser(optimiser):
        raise ValueError(
            "optimiser must be an optax transformation such as optax.sgd(0.1), got"
            f" {_validate.quote(optimiser)}"
        )


def _check_singular(p: InputLaw, metric: Metric, gradient: SearchLaw) -> None:
    """Refuse what a law of theta without a density, such as a point population, cannot serve."""
    if _finite_or_zero(gradient)[1]:
        raise ValueError(
            "q0 must have a density for this estimator, got a singular covariance: use"
            " estimators.phenotype, with noise in every direction that has no spread"
        )
    if metric is metrics.natural and not isinstance(p, HasMarginalNatural):
        raise ValueError(
            f"q0 must have a density for metric.natural, got a singular covariance and"
            f" {type(p).__name__} without a metric of its own: use metric.plain"
        )


def _is_optimiser(given: object) -> bool:
    return isinstance(given, Optimiser)


def _schedule(std: float | Schedule | None) -> Schedule | None:
    if std is None:
        return None
    if isinstance(std, type):
        raise ValueError(f"std must be a positive number or a schedule, got {std!r}")
    if not callable(std):
        if _arrays.concrete(std):
            std = _validate.positive_number("std", std)
        return lambda _: jnp.asarray(std)
    try:
        first = std(0)
    except Exception as error:  # of any kind: it is the caller's function
        raise ValueError(
            f"std must be a positive number or a schedule of the generation, got"
            f" {_validate.quote(std)}, which raises {error!r}"
        ) from error
    if _arrays.concrete(first):
        _validate.positive_number("std of generation 0", first)
    return std


def _with_scheduled_std(
    schedule: Schedule | None, q: SearchLaw, generation: Int[Array, ""] | int
) -> SearchLaw:
    if schedule is None:
        return q
    if not isinstance(q, HasStd):
        raise ValueError(f"std can be set for Gaussian search only, got {type(q).__name__}")
    return q.with_std(jnp.asarray(schedule(generation)))


def _finite_or_zero(direction: SearchLaw) -> tuple[SearchLaw, Int[Array, ""]]:
    """No step at all if any part of the direction is not finite."""
    each = [jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(direction)]
    finite = jnp.all(jnp.stack(each))

    def kept(leaf: Array) -> Array:
        return jnp.where(finite, leaf, 0.0)

    return jax.tree.map(kept, direction), (~finite).astype(jnp.int32)


def _report(f: Array, w: Array, projected: Array, skipped: Array, monitored: Tree) -> Info:
    finite = jnp.isfinite(f)
    total = jnp.sum(jnp.abs(w)) ** 2
    return Info(
        # 0/0 is NaN where everything failed
        f_mean=jnp.sum(jnp.where(finite, f, 0.0)) / jnp.sum(finite, dtype=f.dtype),
        f_best=jnp.max(jnp.where(finite, f, -jnp.inf)),
        failed=jnp.sum(~finite, dtype=jnp.int32),
        effective=total / jnp.where(total > 0, jnp.sum(w**2), 1.0),
        projected=projected,
        skipped=skipped,
        monitor=monitored,
    )
