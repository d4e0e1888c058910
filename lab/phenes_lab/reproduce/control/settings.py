"""What is run: an environment, methods by name, how long and how often."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from phenes import weightings
from phenes.rl import training
from phenes.rl.training import Settings as Training
from phenes.rl.trajectories import Genotype, Reparameterised
from phenes_lab.reproduce.control.rival import Rival
from phenes_lab.settings import Checked


@dataclass(frozen=True)
class ControlSettings(Checked):
    """environment: its id. target: the return that counts as learnt; of the population, or with
    `by_mean_policy` of the mean policy with its best actions. few: seeds of all methods but the
    default, if not `seeds`. generations: of the paper's methods; ours: of all others.
    keep_on: play them all, also after the target. bar: so many episodes are asked of the default.
    """

    environment: str
    target: float
    by_mean_policy: bool
    methods: tuple[str, ...] = ()
    seeds: int = 5
    few: int | None = None
    generations: int = 1000
    ours: int = 300
    keep_on: bool = False
    bar: int | None = None
    # added to the number of the run: not one of those with which the defaults were chosen
    seed: int = 2026

    def __post_init__(self):
        self.default("methods", OWN)
        self.tuples()
        self.counts("seeds", "generations", "ours")
        self.among("methods", METHODS)

    @property
    def parts(self) -> tuple[str, ...]:
        """One for each method and seed, all methods of a seed before the next: what is there can be
        compared at any time.
        """
        few = self.seeds if self.few is None else self.few
        return tuple(
            f"{name}/{k}"
            for k in range(self.seeds)
            for name in self.methods
            if name == "default" or k < few
        )

    def length(self, method: str) -> int:
        return self.generations if METHODS[method].papers else self.ours


class Method(NamedTuple):
    """build: from the spaces of an environment to what is run. papers: with the paper's number of
    generations.
    """

    build: Callable[[Any], Training | Rival]
    about: str
    papers: bool


def _es(spaces: Any) -> Training:
    """ES as it is used elsewhere: mirrored pairs from the same state, centred ranks, observations
    at their scale, Adam 1e-2.
    """
    return dataclasses.replace(
        training.paper_es(spaces),
        rate=1e-2,
        normalise=True,
        sigma=(0.1, 0.1),
        decay=1,
        weighting=weightings.centred_ranks,
    )


def _at_theta(spaces: Any) -> Training:
    return dataclasses.replace(training.paper(spaces), estimator=Reparameterised())


def _genotype(spaces: Any) -> Training:
    """The clean comparison: all as in the network that learns, with the genotype score."""
    return dataclasses.replace(training.network(spaces), estimator=Genotype())


def _open_es(popsize: int, std: float, rate: float) -> Method:
    about = (
        f"evosax Open_ES on the same rollouts: N = {popsize}, sigma {std:g}, Adam {rate:g},"
        " observations at their scale"
    )
    return Method(
        lambda spaces: Rival(popsize, std, rate, training.network(spaces).hidden), about, False
    )


RIVALS: dict[str, Method] = {
    f"evosax-{popsize}-{std:g}-{rate:g}": _open_es(popsize, std, rate)
    for popsize, std, rate in (
        (20, 0.1, 0.03),
        (20, 0.3, 0.03),
        (20, 0.3, 0.1),
        (100, 0.1, 0.03),
        (100, 0.3, 0.1),
    )
}
METHODS: dict[str, Method] = {
    "ES-paper": Method(
        training.paper_es, "the paper's ES: Adam 1e-3, antithetic pairs, centred ranks", True
    ),
    "PAES-paper": Method(
        training.paper, "the paper's PAES: Adam 1e-3, score at the mean (the paper's text)", True
    ),
    "PAES-theta": Method(_at_theta, "the same with the score at theta_i, which is unbiased", True),
    "ES": Method(_es, "ES with Adam 1e-2, sigma 0.1 and observations at their scale", False),
    "genotype": Method(
        _genotype, "the network with the genotype score: only the estimator differs", False
    ),
    "network": Method(training.network, "`phenes train --preset network`", False),
    "ARS": Method(
        training.random_search, "augmented random search with its published settings", False
    ),
    "default": Method(training.default, "`phenes train`", False),
    **RIVALS,
}
OWN = ("ES-paper", "PAES-paper", "PAES-theta", "ES", "genotype", "default")


@dataclass(frozen=True)
class CartpoleSettings(ControlSettings):
    environment: str = "CartPole-v1"
    target: float = 475.0
    by_mean_policy: bool = False
    methods: tuple[str, ...] = (*OWN, *RIVALS)
    seeds: int = 10
    generations: int = 1000
    ours: int = 300
    bar: int | None = 400

    @classmethod
    def quick(cls) -> "CartpoleSettings":
        """A minute or two, to see that it works."""
        return cls(methods=(*OWN, "evosax-100-0.1-0.03"), seeds=2, generations=40, ours=40)


@dataclass(frozen=True)
class PendulumSettings(ControlSettings):
    """The paper has 3000 generations, of which the first few hundred show who learns."""

    environment: str = "Pendulum-v1"
    target: float = -200.0
    by_mean_policy: bool = True
    seeds: int = 10
    few: int | None = 5
    generations: int = 300
    ours: int = 400

    @classmethod
    def quick(cls) -> "PendulumSettings":
        return cls(seeds=2, generations=20, ours=20)


@dataclass(frozen=True)
class SwimmerSettings(ControlSettings):
    """The paper has 5000 generations; a few hundred show which method learns, in hours instead of
    days.
    """

    environment: str = "Swimmer-v5"
    target: float = 300.0
    by_mean_policy: bool = True
    seeds: int = 3
    generations: int = 300
    ours: int = 100
    keep_on: bool = True
    methods: tuple[str, ...] = ("ES-paper", "PAES-paper", "PAES-theta", "ES", "network", "default")

    @classmethod
    def quick(cls) -> "SwimmerSettings":
        return cls(seeds=1, generations=2, ours=2)
