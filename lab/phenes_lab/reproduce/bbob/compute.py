"""One part of the experiment: a method on a function, all seeds, compiled once; or what the paper
says of the landscape itself, how far apart local minima are, and how flat the noise makes them.
Nothing here knows of files or processes.
"""

import time
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jaxtyping import Array, Float, PRNGKeyArray

import phenes
from phenes import problems
from phenes_lab.reproduce.bbob.settings import LANDSCAPE, METHODS, BbobSettings, Part

CHUNK = 256  # draws of E f evaluated together: they fit the cache
POINTS = 8001  # of a cut through the box
CUTS = 8
PLACES = 128


def facts(settings: BbobSettings, function: int) -> dict[str, np.ndarray]:
    """spacing: of neighbouring local minima of f on cuts through the optimum along coordinates, as
    the median [cuts]; NaN with fewer than two. f, F: gaps at places uniform in the box."""
    bbob = problems.bbob(function, settings.dim, settings.instance)
    low, high = bbob.bounds
    side = np.linspace(low, high, POINTS)
    spacing = []
    for k in range(min(CUTS, settings.dim)):
        cut = np.tile(bbob.x_opt, (POINTS, 1))
        cut[:, k] = side
        spacing.append(_spacing(side, np.asarray(jax.jit(jax.vmap(bbob))(jnp.asarray(cut)))))
    places = np.random.default_rng(settings.seed).uniform(low, high, size=(PLACES, settings.dim))
    f, expected = smoothed(settings, bbob)(jnp.asarray(places))
    return {
        "spacing": np.array(spacing),
        "step": np.array(side[1] - side[0]),
        "f": np.asarray(f),
        "F": np.asarray(expected),
    }


def _spacing(side: np.ndarray, f: np.ndarray) -> float:
    minima = side[1:-1][(f[1:-1] < f[:-2]) & (f[1:-1] <= f[2:])]
    return float(np.median(np.diff(minima))) if minima.size > 1 else float("nan")


def smoothed(
    settings: BbobSettings, bbob: problems.Problem
) -> Callable[[Float[Array, "n d"]], tuple[Array, Array]]:
    """points -> gaps to f_opt of f and of F, one after the other."""
    count = -(-settings.draws // CHUNK)
    key = jax.random.fold_in(jax.random.key(settings.seed + 1), bbob.function)
    errors = settings.noise * jax.random.normal(key, (count, CHUNK, settings.dim))

    def one(point):
        chunk = lambda error: jnp.mean(jax.vmap(bbob)(point[None] + error))  # noqa: E731
        return bbob(point) - bbob.f_opt, jnp.mean(lax.map(chunk, errors)) - bbob.f_opt

    return jax.jit(lambda points: lax.map(one, points))


# standard deviations of the noise between a coordinate of the mean and the nominal optimum
NEAR = 3


def tasks(settings: BbobSettings) -> dict[str, Part]:
    return {part.key: part for part in settings.parts}


def cost(settings: BbobSettings, part: Part) -> float:
    return part.cost


def compute(settings: BbobSettings, part: Part) -> dict[str, np.ndarray]:
    if part.method == LANDSCAPE:
        return facts(settings, part.function)
    return learn(settings, part)


def learn(settings: BbobSettings, part: Part) -> dict[str, np.ndarray]:
    """Arrays [seeds, checkpoints] of gaps to f_opt and of the search law; seconds [seeds] of each
    run, without compilation.

    near: share of the coordinates of the mean that are close to the nominal optimum. projected,
    skipped, failed: counts so far.

    The runs of a part are timed one by one: they are the same compiled program called with another
    key.
    """
    bbob = problems.bbob(part.function, settings.dim, settings.instance)
    gaps = jnp.asarray(settings.recorded - np.r_[0, settings.recorded[:-1]])
    started = time.perf_counter()
    compiled = jax.jit(_loop(settings, bbob, part.method)).lower(jax.random.key(0), gaps).compile()
    compilation = time.perf_counter() - started
    runs, seconds = [], []
    for seed in range(settings.seeds):
        key = jax.random.fold_in(jax.random.key(settings.seed), seed)
        started = time.perf_counter()
        runs.append(jax.tree.map(np.asarray, compiled(key, gaps)))
        seconds.append(time.perf_counter() - started)
    record = {name: np.stack([run[name] for run in runs]) for name in runs[0]}
    record.update(_expected(settings, bbob, record.pop("mean")))
    return {
        **record,
        "seconds": np.array(seconds),
        "compilation": np.array(compilation),
        "generations": settings.recorded,
    }


def _loop(
    settings: BbobSettings, bbob: problems.Problem, method: str
) -> Callable[[PRNGKeyArray, Array], dict[str, Array]]:
    """(key, generations from checkpoint to checkpoint) -> what is recorded at each of them."""
    how = METHODS[method]
    # BBOB is minimised and phenes maximises: negated here, once, as the gap to the best value
    problem = phenes.OIU(
        phenes.inputs.GaussianNoise(settings.noise), lambda x: bbob.f_opt - bbob(x)
    )
    optimiser = optax.sgd(settings.learning_rate)
    strategy = phenes.es(
        problem.p,
        how.estimator,
        how.weighting(settings),
        optimiser,
        settings.popsize,
        metric=how.metric,
    )
    q0 = phenes.search.Gaussian(np.zeros(settings.dim), settings.variance * np.eye(settings.dim))
    first, static = eqx.partition(strategy.init(q0), eqx.is_array)

    def generation(key, carry):
        state = eqx.combine(carry[0], static)
        batch = problem.realise(key, state.generation, strategy.ask(key, state))
        state, info = strategy.tell(state, batch._replace(f=problem.evaluate(batch.x)))
        now = {"population": -info.f_mean, "best": -info.f_best}
        counts = {
            name: carry[1][name] + getattr(info, name)
            for name in ("projected", "skipped", "failed")
        }
        return eqx.filter(state, eqx.is_array), {**now, **counts}

    def run(key, gaps):
        def segment(carry, gap):
            arrays, report = lax.fori_loop(0, gap, lambda _, c: generation(key, c), carry)
            q = eqx.combine(arrays, static).q
            near = jnp.mean(
                jnp.abs(q.mean - bbob.x_opt) < NEAR * settings.noise, dtype=q.mean.dtype
            )
            return (arrays, report), {
                **report,
                "mean": q.mean,
                "trace": jnp.trace(q.cov),
                "near": near,
            }

        zero = jnp.zeros(())
        counts = dict.fromkeys(("projected", "skipped", "failed"), jnp.zeros((), jnp.int32))
        return lax.scan(segment, (first, {"population": zero, "best": zero, **counts}), gaps)[1]

    return run


def _expected(
    settings: BbobSettings, bbob: problems.Problem, means: Float[np.ndarray, "s c d"]
) -> dict[str, np.ndarray]:
    """Gaps f(mean) and F(mean) = E f(x) at the recorded means, and F at the start and at the
    nominal optimum.

    The draws of the input error depend on the function alone: all methods, seeds and checkpoints of
    a function share them, and what is left of their error cancels in differences.
    """
    evaluate = smoothed(settings, bbob)
    points = np.concatenate(
        [means.reshape(-1, settings.dim), np.zeros((1, settings.dim)), np.asarray(bbob.x_opt)[None]]
    )
    at_point, around_it = (np.asarray(v) for v in evaluate(jnp.asarray(points)))
    shape = means.shape[:2]
    return {
        "f_mean": at_point[:-2].reshape(shape),
        "F_mean": around_it[:-2].reshape(shape),
        "F_start": around_it[-2],
        "F_nominal": around_it[-1],
    }
