"""One part of the experiment: a method on a data set, all its settings, all seeds, in one compiled
program. No files, no processes.
"""

import time
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, PRNGKeyArray

from phenes import contexts, diagnostics, estimators
from phenes._population import realise
from phenes.batch import Batch
from phenes.contexts import Cases
from phenes_lab.driver import keys_of
from phenes_lab.reproduce.contexts.data import Split, load
from phenes_lab.reproduce.contexts.learners import Learner, Point, Task, logistic
from phenes_lab.reproduce.contexts.settings import (
    FULL,
    METHODS,
    VARIANCES,
    ContextsSettings,
    Method,
)

VARIANCE_RATE = {"phenotype": 0.3, "experts-phenotype": 0.01}
VARIANCE_POINTS = 5  # measurements along training
GRID = 81  # points along a side of the pictures of the plane


def tasks(settings: ContextsSettings) -> dict[str, str]:
    load(settings.sets[0], 1, 0)  # without scikit-learn this says so, here and not in every process
    return {part: part for part in settings.parts}


def cost(settings: ContextsSettings, part: str) -> float:
    return settings.cost(part)


def compute(settings: ContextsSettings, part: str) -> dict[str, np.ndarray]:
    kind, _, name = part.partition("/")
    split = load(name, settings.seeds, settings.seed)
    if kind in VARIANCES:
        return variance(
            settings,
            settings.rounds_of(name),
            split,
            METHODS[VARIANCES[kind]],
            {"rate": VARIANCE_RATE[VARIANCES[kind]]},
        )
    method = METHODS[kind]
    numbers = {key: np.asarray([point[key] for point in method.points]) for key in method.points[0]}
    started = time.perf_counter()
    rounds = settings.rounds_of(name)
    arrays = (
        told_all(settings, rounds, split, method)
        if kind == FULL
        else learn(settings, rounds, split, method, numbers)
    )
    return {**numbers, **arrays, "running": np.asarray(time.perf_counter() - started)}


def told_all(
    settings: ContextsSettings, total: int, split: Split, method: Method
) -> dict[str, np.ndarray]:
    """Logistic regression; a fit for each measurement, so these are few and the first when every
    label has been seen a few times.
    """
    rounds = np.unique(np.geomspace(min(100, total), total, 5).astype(int))
    return {"rounds": rounds, "accuracy": logistic(split, method.points, rounds, settings.seed)}


def learn(
    settings: ContextsSettings,
    total: int,
    split: Split,
    method: Method,
    numbers: dict[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """Arrays [points, seeds, rounds]: accuracy of the best answer and expected loss of an answer
    that is drawn, on the test set; online: mean f of the rounds played. Of mixtures also what gate
    and answers look like at the end."""

    def one(at: Point, key: PRNGKeyArray, data: tuple[Array, ...]) -> dict[str, Array]:
        learner = build(settings, method, at, data, split)
        state, curves = _curve(settings.points, total, learner, key, *data[2:])
        return {**curves, **_at_the_end(learner, state, data[2])}

    program = jax.jit(
        lambda numbers, keys, data: lax.map(
            lambda at: jax.vmap(lambda k, d: one(at, k, d))(keys, data), numbers
        )
    )
    out = program(
        jax.tree.map(jnp.asarray, numbers),
        keys_of(settings),
        jax.tree.map(jnp.asarray, tuple(split[:4])),
    )
    rounds = total // settings.points * np.arange(1, settings.points + 1)
    return {"rounds": rounds, **{key: np.asarray(value) for key, value in out.items()}}


def build(
    settings: ContextsSettings, method: Method, at: Point, data: tuple[Array, ...], split: Split
) -> Learner:
    assert method.build is not None
    task = Task(
        Cases(data[0], data[1]),
        split.train_c.shape[-1],
        split.labels,
        settings.totals[0],
        settings.experts,
    )
    return method.build(task, at)


def _curve(
    points: int, total: int, learner: Learner, key: PRNGKeyArray, test_c: Array, test_y: Array
) -> tuple[Any, dict[str, Array]]:
    def measure(state, f):
        scores = jax.vmap(lambda c: learner.scores(state, c))(test_c)
        chance = jax.nn.softmax(scores)[jnp.arange(test_y.size), test_y]
        return {
            "accuracy": jnp.mean(jnp.argmax(scores, axis=1) == test_y),
            "loss": 1 - jnp.mean(chance),
            "online": f,
        }

    return _segments(learner, key, points, total // points, measure)


def _segments(
    learner: Learner, key: PRNGKeyArray, points: int, rounds: int, measure: Any
) -> tuple[Any, Any]:
    """`points` times `rounds` rounds; measure(state, mean f) after each, stacked along the last
    axis.
    """
    go, start = jax.random.split(key)
    arrays, static = eqx.partition(learner.start(start), eqx.is_array)

    def segment(arrays, _):
        state, f = learner.advance(go, eqx.combine(arrays, static), rounds)
        return eqx.filter(state, eqx.is_array), measure(state, f)

    arrays, measured = lax.scan(segment, arrays, length=points)
    return eqx.combine(arrays, static), measured


def _at_the_end(learner: Learner, state: Any, test_c: Array) -> dict[str, Array]:
    """Probabilities of the experts on the test set; in the plane also who speaks where, and what is
    answered there.
    """
    gate = learner.gate
    if gate is None:
        return {}
    out = {"gate": jnp.exp(jax.vmap(lambda c: gate(state, c))(test_c))}
    if test_c.shape[1] == 3:
        plane = jnp.asarray(grid())
        out["speaker"] = jnp.argmax(jax.vmap(lambda c: gate(state, c))(plane), axis=1).astype(
            jnp.int8
        )
        out["answer"] = jnp.argmax(
            jax.vmap(lambda c: learner.scores(state, c))(plane), axis=1
        ).astype(jnp.int8)
    return out


def grid() -> np.ndarray:
    """Points of the square, row by row from below, with the constant feature."""
    side = np.linspace(-1, 1, GRID)
    return np.stack([np.tile(side, GRID), np.repeat(side, GRID), np.ones(GRID**2)], axis=1)


def variance(
    settings: ContextsSettings, total: int, split: Split, method: Method, at: Point
) -> dict[str, np.ndarray]:
    """Variances on the same individuals along the path of a method, [seeds, rounds] or, by the sum
    of alpha, [seeds, rounds, totals].
    """

    def one(data: tuple[Array, ...], key: PRNGKeyArray) -> dict[str, Array]:
        learner = build(settings, method, at, data, split)
        compare = lambda state, f: _compare(  # noqa: E731
            settings, state.q, jax.random.fold_in(key, state.generation)
        )
        return _segments(learner, key, points, total // points, compare)[1]

    points = min(VARIANCE_POINTS, settings.points)
    program = jax.jit(lambda data, keys: lax.map(lambda given: one(*given), (data, keys)))
    out = program(jax.tree.map(jnp.asarray, tuple(split[:4])), keys_of(settings))
    rounds = total // points * np.arange(1, points + 1)
    return {"rounds": rounds, **{name: np.asarray(value) for name, value in out.items()}}


def _compare(settings: ContextsSettings, q: Any, key: PRNGKeyArray) -> dict[str, Array]:
    if isinstance(q, contexts.Mixture):
        found = diagnostics.compare(
            contexts.HiddenExpert(), q, *_population(settings, contexts.HiddenExpert(), q, key)
        )
        return {"genotype": found.gain, "effective": found.effective}
    each = [_by_total(settings, q, total, key) for total in settings.totals]
    return {name: jnp.stack([found[name] for found in each]) for name in each[0]}


def _by_total(
    settings: ContextsSettings, q: Any, total: float, key: PRNGKeyArray
) -> dict[str, Array]:
    """The same answers from a Dirichlet law of another concentration. The mix learns its
    information from other individuals.
    """
    p, q = (
        contexts.Draw(),
        eqx.tree_at(lambda q: q.log_alpha, q, contexts.Concentrated(q.log_alpha.network, total)),
    )
    own, past = jax.random.split(key)
    batch, w = _population(settings, p, q, own)
    before, _ = _population(settings, p, q, past)
    mix = estimators.information_mix().start(p, q, before).observe(p, q, before)
    gains = {
        name: diagnostics.compare(p, q, batch, w, e)
        for name, e in (("genotype", estimators.genotype), ("mix", mix))
    }
    return {name: found.gain for name, found in gains.items()} | {
        "effective": gains["mix"].effective
    }


def _population(
    settings: ContextsSettings, p: Any, q: Any, key: PRNGKeyArray
) -> tuple[Batch, Array]:
    """Individuals and their weights by belief."""
    for_xi, for_x, for_estimator = jax.random.split(key, 3)
    xi = q.draw(for_xi, settings.batch)
    theta = jax.vmap(q.push)(xi)
    x = realise(p, for_x, theta)
    batch = Batch(theta=theta, x=x, xi=xi, f=jax.vmap(contexts.is_correct)(x), key=for_estimator)
    return batch, contexts.belief(p, q, batch)
