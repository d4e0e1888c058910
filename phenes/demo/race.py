"""The race: both methods on the same keys, `maximize` beside them, and the file of results."""

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array

from phenes import estimators, inputs, loop, search, strategy, weightings
from phenes.demo.problem import assembly
from phenes.demo.product import Answer, run_product
from phenes.demo.settings import DemoSettings

ESTIMATORS = {"ES": estimators.genotype, "PAES": estimators.phenotype}
# seeds that run together: enough to keep the processor busy, few enough for a bar that moves
CHUNK = 5

Progress = Callable[[int, int], Any]


@dataclass(frozen=True)
class Results:
    """The mean of q after each generation, [seeds, generations, 2 parts], by method.

    answers: the runs of `maximize`.
    """

    settings: DemoSettings
    means: dict[str, np.ndarray]
    answers: tuple[Answer, ...] = ()


def run(settings: DemoSettings, progress: Progress = lambda done, total: None) -> Results:
    """Both methods on the same keys, then `maximize`."""
    both = len(ESTIMATORS) * settings.seeds
    total = both + min(settings.product_seeds, settings.seeds)
    means = {}
    for k, method in enumerate(ESTIMATORS):
        means[method] = run_method(
            settings, method, lambda done, before=k * settings.seeds: progress(before + done, total)
        )
    answers = run_product(settings, lambda done: progress(both + done, total))
    return Results(settings, means, answers)


def run_method(
    settings: DemoSettings, method: str, progress: Callable[[int], Any] = lambda done: None
) -> np.ndarray:
    """The mean of q after each generation, [seeds, generations, 2 parts]; a few seeds at a time."""
    progress(0)
    compiled = _compiled(settings, ESTIMATORS[method])
    # all chunks are of one size, so that one compilation does for all: the last may run more seeds
    # than were asked for
    keys = jax.vmap(lambda i: jax.random.fold_in(jax.random.key(settings.seed), i))(
        jnp.arange(settings.seeds + CHUNK - 1)
    )
    chunks = []
    for first in range(0, settings.seeds, CHUNK):
        chunks.append(np.asarray(compiled(keys[first : first + CHUNK])))
        progress(min(first + CHUNK, settings.seeds))
    return np.concatenate(chunks)[: settings.seeds]


def _compiled(settings: DemoSettings, estimator: Any) -> Callable[[Array], Array]:
    """keys[n] -> means of q, [n, generations, 2 parts]."""
    problem = loop.OIU(inputs.GaussianNoise(settings.noise), assembly)
    optimiser = optax.sgd(
        lambda t: settings.learning_rate / (1 + jnp.asarray(t, float) / settings.decay)
    )
    learner = strategy.es(
        problem.p,
        estimator,
        weightings.standardise,
        optimiser,
        settings.popsize,
        std=settings.spread,
    )
    q0 = search.IsotropicGaussian(np.ravel(settings.starts), settings.spread)

    def one(key):
        _, (_, mean) = loop.run(
            key,
            problem,
            learner,
            q0,
            settings.generations,
            report=lambda state, batch: state.q.mean,
        )
        return mean

    return jax.jit(jax.vmap(one))


def save(results: Results, path: Path) -> Path:
    """Writes results as arrays without pickled objects; `load` reads them back."""
    settings = np.array(json.dumps(dataclasses.asdict(results.settings)))
    arrays: dict[str, Any] = {"settings": settings, **results.means}
    for k, answer in enumerate(results.answers):
        arrays |= {f"answer{k}_{name}": value for name, value in answer._asdict().items()}
    np.savez_compressed(path, **arrays)
    return path


def load(path: Path) -> Results:
    with np.load(path, allow_pickle=False) as file:
        settings = json.loads(str(file["settings"]))
        settings["starts"] = tuple(map(tuple, settings["starts"]))
        answers = []
        while f"answer{len(answers)}_x" in file:
            answers.append(_answer(file, f"answer{len(answers)}_"))
        means = {method: file[method] for method in ESTIMATORS}
        return Results(DemoSettings(**settings), means, tuple(answers))


def _answer(file: Mapping[str, np.ndarray], name: str) -> Answer:
    return Answer(
        file[name + "evaluations"],
        file[name + "aims"],
        file[name + "x"],
        float(file[name + "fun"]),
        float(file[name + "fun_se"]),
        int(file[name + "nfev"]),
    )
