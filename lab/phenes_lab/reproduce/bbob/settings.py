"""What is run: the numbers of the paper's section 6.1, and the methods by name."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from phenes import estimators, metric, weightings
from phenes._trees import replace
from phenes.batch import Batch
from phenes.search import Gaussian
from phenes_lab.settings import Checked

EXPERIMENT = "bbob"
MAIN = ("ES", "PAES", "PAES-Iq")
VALUE = ("ES-value", "PAES-value", "PAES-Iq-value")
PRINTED = ("printed", "printed-mean")
CURVES = (1, 20, 23)  # the functions that the paper shows
PAPER = ("ES", "PAES")  # what the figures of the paper need
LANDSCAPE = "landscape"  # not a method: facts about the function
DISPUTED = (6, 20)  # those where weights by value are compared with weights by rank


@dataclass(frozen=True)
class BbobSettings(Checked):
    """draws: common random numbers behind E f. checkpoints: how many generations are recorded,
    evenly in their logarithm.

    printed, valued: the functions on which the printed formula and the weights by value run, of
    those in `functions`.
    """

    functions: tuple[int, ...] = tuple(range(1, 25))
    methods: tuple[str, ...] = MAIN
    printed: tuple[int, ...] = CURVES
    valued: tuple[int, ...] = DISPUTED
    instance: int = 1
    seeds: int = 10
    generations: int = 5000
    dim: int = 40
    popsize: int = 100
    noise: float = 0.1
    variance: float = 0.5
    learning_rate: float = 0.01
    fraction: float = 0.8
    largest: float = 0.1
    draws: int = 4096
    checkpoints: int = 40
    seed: int = 0

    def __post_init__(self):
        self.tuples()
        self.counts("instance", "seeds", "generations", "popsize", "draws", "checkpoints")
        self.counts("dim", least=2)
        self.positive("noise", "variance", "learning_rate", "largest")
        if not self.functions or not set(self.functions) <= set(range(1, 25)):
            raise ValueError(f"functions must be numbers from 1 to 24, got {self.functions}")
        if not {"ES", "PAES"} <= set(self.methods) <= set(METHODS):
            raise ValueError(
                f"methods must hold ES and PAES and be of {', '.join(METHODS)}, got"
                f" {', '.join(self.methods)}"
            )

    @classmethod
    def quick(cls) -> "BbobSettings":
        """A minute on two cores: every figure, a fifth of the functions, a twelfth of the
        length.
        """
        return cls(functions=(1, 6, 8, 20, 23), seeds=3, generations=400, checkpoints=25)

    @property
    def recorded(self) -> np.ndarray:
        """The generations after which the state is recorded; the last is always one of them."""
        spaced = np.geomspace(1, self.generations, min(self.checkpoints, self.generations))
        return np.unique(np.round(spaced).astype(int))

    @property
    def parts(self) -> tuple["Part", ...]:
        """All that is to be run: what the paper shows first, and the longest of it first, so that
        the cores finish together.
        """
        parts = [Part(f, m) for f in self.functions for m in self.methods]
        parts += [Part(f, m) for f in self.functions if f in self.printed for m in PRINTED]
        valued = [m for m in VALUE if m.removesuffix("-value") in self.methods]
        parts += [Part(f, m) for f in self.functions if f in self.valued for m in valued]
        parts += [Part(f, LANDSCAPE) for f in self.functions if f in CURVES]
        return tuple(sorted(parts, key=lambda part: (part.method not in PAPER, -part.cost)))


class Part(NamedTuple):
    """One method on one function, all seeds."""

    function: int
    method: str

    @property
    def key(self) -> str:
        return f"f{self.function:02d}/{self.method}"

    @property
    def cost(self) -> float:
        """Relative to ES on the sphere: for the order of work and the bar."""
        method = 0.1 if self.method == LANDSCAPE else METHODS[self.method].cost
        return FUNCTION_COST.get(self.function, 1.0) * method


class Method(NamedTuple):
    """How a direction is found: estimator, metric, weights of a population. cost: relative to
    ES.
    """

    estimator: Callable[..., Any]
    metric: Callable[..., Any]
    weighting: Callable[[BbobSettings], Any]
    about: str
    cost: float = 1.0


def by_rank(settings: BbobSettings) -> weightings.Weighting:
    """The paper's weights, summed: with its 1/N the effective rate is 4e-4 and nothing converges
    (erratum 27).
    """
    return weightings.summed(weightings.truncated_ranks(settings.fraction, settings.largest))


def by_rank_averaged(settings: BbobSettings) -> weightings.Weighting:
    """The paper's weights with the printed 1/N."""
    return weightings.truncated_ranks(settings.fraction, settings.largest)


def by_value(settings: BbobSettings) -> weightings.Weighting:
    """Standardised values with the spread that the summed rank weights have, so that the same
    learning rate fits both.
    """
    ladder = np.asarray(by_rank_weights(settings))
    spread = settings.popsize * float(np.std(ladder))
    return lambda f: spread * weightings.standardise(f)


def by_rank_weights(settings: BbobSettings) -> list[float]:
    """The paper's weights from the best individual to the worst."""
    selected = max(2, math.floor(settings.fraction * settings.popsize + 1e-9))
    return [
        settings.largest * max(selected - rank, 0) / (selected - 1)
        for rank in range(1, settings.popsize + 1)
    ]


def printed(p: Any, q: Gaussian, batch: Batch, w: Any) -> Gaussian:
    """The direction as the paper prints it: Sigma + sigma^2 I is subtracted outside of the weighted
    sum (erratum 1).
    """
    r = batch.x - p.expected(q.mean)[None]
    second = (r * w[:, None]).T @ r / w.size - q.cov - p.cov.matrix(q.dim)
    return replace(q, mean=w @ r / w.size, cov=jnp.asarray(second))


GENOTYPE, PHENOTYPE = estimators.genotype, estimators.phenotype
METHODS: dict[str, Method] = {
    "ES": Method(GENOTYPE, metric.natural, by_rank, "told the intended theta"),
    "PAES": Method(
        PHENOTYPE,
        metric.natural_marginal,
        by_rank,
        "told the realised x, metric I[P] as in the paper",
        1.6,
    ),
    "PAES-Iq": Method(
        PHENOTYPE, metric.natural, by_rank, "told the realised x, metric I[q] as ES has it"
    ),
    "printed": Method(
        printed, metric.plain, by_rank, "the printed formula of Sigma, weights summed"
    ),
    "printed-mean": Method(
        printed,
        metric.plain,
        by_rank_averaged,
        "the printed formula of Sigma, weights averaged as printed",
        1.6,
    ),
}
METHODS |= {
    f"{name}-value": METHODS[name]._replace(
        weighting=by_value, about=f"{name} with weights by value"
    )
    for name in MAIN
}

FUNCTION_COST = {12: 1.2, 15: 1.2, 16: 2.0, 17: 1.5, 18: 1.5, 21: 2.0, 22: 1.2, 23: 1.3, 24: 1.3}
