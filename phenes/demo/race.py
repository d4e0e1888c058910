"""The race: settings, both methods on the same keys, and the file of their results."""

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array

from phenes import _validate, estimators, inputs, loop, search, strategy, weightings
from phenes.demo.problem import assembly

ESTIMATORS = {"ES": estimators.genotype, "PAES": estimators.phenotype}
# seeds that run together: enough to keep the processor busy, few enough for a bar that moves
CHUNK = 5

Progress = Callable[[int, int], Any]


@dataclass(frozen=True)
class DemoSettings:
    """`starts`: where each part is aimed at first.

    `within`: the regret to reach, as a share of the robust optimum.
    """

    seeds: int = 40
    generations: int = 750
    seed: int = 0
    popsize: int = 40
    noise: float = 0.1
    spread: float = 0.05
    learning_rate: float = 4.0
    decay: float = 5.0  # the rate of generation t is learning_rate / (1 + t / decay)
    starts: tuple[tuple[float, float], ...] = (
        (0.44, 0.36),
        (0.46, 0.13),
        (0.08, 0.52),
        (0.25, 0.44),
        (0.46, 0.22),
    )
    within: float = 5e-4

    def __post_init__(self):
        for name in ("seeds", "generations", "popsize"):
            _validate.count(name, getattr(self, name))
        for name in ("noise", "spread", "learning_rate", "decay", "within"):
            _validate.positive(name, getattr(self, name))

    @property
    def predicted_gain(self) -> float:
        """Ratio of the gradient's variances near the optimum, ES over PAES: 1 + (C/S) / (1 + 4/d).

        The gradient is that of the mean. Near the optimum f is quadratic and the standardised
        weight is w = (d - r^2) / sqrt(2d), r^2 = |x - mean|^2 / (S + C). Squared weights and
        distances are thus correlated, E[w^2 r^2] = (1 + 4/d) E[w^2] E[r^2]; if they were not, the
        ratio would be 1 + C/S.
        """
        return 1 + (self.noise / self.spread) ** 2 / (1 + 4 / np.size(self.starts))

    @property
    def evaluations(self) -> np.ndarray:
        """Number of evaluations after each generation."""
        return self.popsize * np.arange(1, self.generations + 1)


@dataclass(frozen=True)
class Results:
    """The mean of q after each generation, [seeds, generations, 2 parts], by method."""

    settings: DemoSettings
    means: dict[str, np.ndarray]


def run(settings: DemoSettings, progress: Progress = lambda done, total: None) -> Results:
    """Both methods on the same keys."""
    total = len(ESTIMATORS) * settings.seeds
    means = {}
    for k, method in enumerate(ESTIMATORS):
        means[method] = run_method(
            settings, method, lambda done, before=k * settings.seeds: progress(before + done, total)
        )
    return Results(settings, means)


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
    np.savez_compressed(path, **arrays)
    return path


def load(path: Path) -> Results:
    with np.load(path, allow_pickle=False) as file:
        settings = json.loads(str(file["settings"]))
        settings["starts"] = tuple(map(tuple, settings["starts"]))
        return Results(DemoSettings(**settings), {method: file[method] for method in ESTIMATORS})
