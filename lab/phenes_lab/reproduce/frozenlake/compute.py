"""One part of the experiment: a method, all its settings, all seeds, in one compiled program.
Nothing here knows of files or processes.
"""

import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, PRNGKeyArray

import phenes
from phenes import diagnostics, estimators
from phenes.rl import tabular
from phenes.rl.tabular import evaluate, moves
from phenes.rl.tabular.learners import Learner
from phenes.rl.tabular.table import Table
from phenes_lab.driver import keys_of
from phenes_lab.reproduce.frozenlake.settings import (
    ENVIRONMENT,
    LAST,
    METHODS,
    VARIANCE,
    FrozenlakeSettings,
    Method,
    Point,
)

REPEATS = 3  # of a run on the clock; the median counts
EARLY = 60  # generations over which variances are compared


def tasks(settings: FrozenlakeSettings) -> dict[str, str]:
    tabular.load(ENVIRONMENT)  # without gymnasium this says so, here and not in every process
    return {name: name for name in settings.parts}


def cost(settings: FrozenlakeSettings, name: str) -> float:
    return settings.cost(name)


def compute(settings: FrozenlakeSettings, name: str) -> dict[str, np.ndarray]:
    table = tabular.load(ENVIRONMENT).table
    return variance(settings, table) if name == VARIANCE else sweep(settings, table, METHODS[name])


def sweep(settings: FrozenlakeSettings, table: Table, method: Method) -> dict[str, np.ndarray]:
    """Arrays [points, seeds, generations]: exact value of the greedy policy with the step limit and
    without; mean return of the population; how often all weights were 0, and how many parameters
    were held back. stochastic: of the last mean policy [points, seeds].
    """
    points = method.points(settings)
    numbers = {name: jnp.asarray([point[name] for point in points]) for name in points[0]}
    started = time.perf_counter()
    program = jax.jit(
        lambda numbers, keys: lax.map(
            lambda at: jax.vmap(lambda key: _run(settings, table, method, at, key))(keys), numbers
        )
    )
    if not numbers:
        program = jax.jit(
            lambda _, keys: jax.tree.map(
                lambda v: v[None],
                jax.vmap(lambda key: _run(settings, table, method, {}, key))(keys),
            )
        )
    compiled = program.lower(numbers, keys_of(settings)).compile()
    between = time.perf_counter()
    out = {name: np.asarray(v) for name, v in compiled(numbers, keys_of(settings)).items()}
    seconds = {"compilation": between - started, "running": time.perf_counter() - between}
    arrays = {
        **_exact(table, out.pop("policy")),
        **out,
        **seconds,
        **{name: np.asarray(v) for name, v in numbers.items()},
    }
    if method.timed:
        at = points[best(arrays["value"], settings.target)]
        arrays["timed"] = _on_the_clock(settings, table, method, at)
    return {name: np.asarray(v) for name, v in arrays.items()}


def _run(
    settings: FrozenlakeSettings, table: Table, method: Method, at: Any, key: PRNGKeyArray
) -> dict[str, Array]:
    learner = method.build(table, settings.popsize, at)
    state, (info, policy) = _learn(settings, learner, key)
    flat, held = (info.effective == 0).astype(jnp.int8), info.projected.astype(jnp.int16)
    # softmax for logits, and nothing new for what adds up to 1
    preference = learner.policy(state.q)
    last = preference if hasattr(state.q, "alpha") else jax.nn.softmax(preference, axis=-1)
    population = info.f_mean.astype(jnp.float32)
    return {
        "policy": policy,
        "population": population,
        "flat": flat,
        "held": held,
        "stochastic": evaluate.value(table, last),
    }


def _learn(settings: FrozenlakeSettings, learner: Learner, key: PRNGKeyArray) -> Any:
    greedy = lambda state, batch: evaluate.best_action(learner.policy(state.q)).astype(jnp.int8)  # noqa: E731
    return phenes.run(
        key,
        learner.problem,
        learner.strategy,
        learner.start(key),
        settings.generations,
        report=greedy,
    )


def _exact(table: Table, policies: np.ndarray) -> dict[str, np.ndarray]:
    """Each policy that ever was the greedy one is evaluated once."""
    flat = policies.reshape(-1, table.states)
    each = {
        "value": evaluate.values_of(table, flat, table.limit),
        "unlimited": evaluate.values_of(table, flat, None),
    }
    return {name: v.reshape(policies.shape[:-1]).astype(np.float32) for name, v in each.items()}


def best(values: np.ndarray, target: float) -> int:
    """Of those that end within .01 of the best of them, the one that is first at the target (median
    over seeds). [points, seeds, G]
    """
    final = values[..., -LAST:].mean(axis=(1, 2))
    times = np.array([np.median(first(v, target)) for v in values])
    return int(np.lexsort((-final, np.where(final >= final.max() - 0.01, times, np.inf)))[0])


def first(values: np.ndarray, target: float) -> np.ndarray:
    """The first generation at the target, infinite if never: [..., G] -> [...]."""
    there = values >= target
    return np.where(there.any(axis=-1), 1.0 + np.argmax(there, axis=-1), np.inf)


def _on_the_clock(settings: FrozenlakeSettings, table: Table, method: Method, at: Point) -> float:
    """Seconds of one run by itself, without compilation."""
    compiled = (
        jax.jit(lambda key: _learn(settings, method.build(table, settings.popsize, at), key)[1])
        .lower(keys_of(settings)[0])
        .compile()
    )
    seconds = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        jax.block_until_ready(compiled(keys_of(settings)[0]))
        seconds.append(time.perf_counter() - started)
    return float(np.median(seconds))


def variance(settings: FrozenlakeSettings, table: Table) -> dict[str, np.ndarray]:
    """Genotype and phenotype on the same populations along the path of the latter: [points, seeds,
    generations] of `Comparison`.
    """
    generations = min(EARLY, settings.generations)

    def one(at, key):
        learner = tabular.dirichlet(
            table,
            settings.popsize,
            at,
            moves.kept(at, settings.natural),
            estimators.phenotype,
            drawn=True,
        )
        compare = lambda state, batch: _compare(learner, state.q, batch)  # noqa: E731
        return phenes.run(
            key, learner.problem, learner.strategy, learner.start(key), generations, report=compare
        )[1][1]

    totals = jnp.asarray(settings.clean)
    out = jax.jit(
        lambda totals, keys: lax.map(lambda at: jax.vmap(lambda key: one(at, key))(keys), totals)
    )(totals, keys_of(settings))
    return {
        "total": np.asarray(totals),
        **{name: np.asarray(getattr(out, name)) for name in out._fields},
    }


def _compare(learner: Learner, q: Any, batch: Any) -> diagnostics.Comparison:
    w = phenes.weightings.standardise(batch.f)
    return diagnostics.compare(learner.problem.p, q, batch, w)
