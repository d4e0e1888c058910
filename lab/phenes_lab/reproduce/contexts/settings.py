"""What is run: data sets, methods by name with the settings each is tried at, and the sizes."""

from dataclasses import dataclass
from typing import NamedTuple

from phenes import estimators
from phenes.contexts.weights import LEAST_DOUBT
from phenes_lab.reproduce.contexts import learners
from phenes_lab.reproduce.contexts.data import MAKERS
from phenes_lab.reproduce.contexts.learners import Build, Point
from phenes_lab.settings import Checked

EXPERIMENT = "contexts"
FULL = "logistic"
# not methods: variances along the path of a method
VARIANCES = {"variance": "phenotype", "experts-variance": "experts-phenotype"}
SETS = ("digits", "cells", "wine")
CONTINUOUS = ("digits", "wine")
SHORTER = {"wine": 10}  # a tenth of the rounds, for few examples
MIXTURES = ("regions", "digits")


class Method(NamedTuple):
    """build: a learner from numbers; points: those it is tried with, the best of which is shown.
    cost: seconds, roughly.
    """

    build: Build | None
    points: list[Point]
    about: str
    cost: float = 20.0
    sets: tuple[str, ...] = SETS


def _rates(*rates: float) -> list[Point]:
    return [{"rate": rate} for rate in rates]


# doubt of belief weights for estimators other than the phenotype, whose scores do not shrink as
# these weights grow
LEAST = 0.3


def _doubtful(*rates: float, **more: float) -> list[Point]:
    return [{"doubt": LEAST, "rate": rate, **more} for rate in rates]


def _both(*rates: float, **more: float) -> list[Point]:
    """With that doubt, and at the highest rate also with as little as the phenotype has."""
    return [*_doubtful(*rates, **more), {"doubt": LEAST_DOUBT, "rate": rates[-1], **more}]


BELIEF = learners.by_belief
FLAT, EXPECTED = learners.minus_mean, learners.minus_expected
PHENOTYPE, GENOTYPE = estimators.phenotype, estimators.genotype
METHODS: dict[str, Method] = {
    "phenotype": Method(
        learners.dirichlet(PHENOTYPE, BELIEF),
        _rates(0.03, 0.1, 0.3),
        "phenotype, belief weights",
        sets=(*SETS, "regions"),
    ),
    "mix": Method(
        learners.dirichlet(learners.mix(), BELIEF),
        _both(0.03, 0.1),
        "information mix, belief weights",
        60.0,
        CONTINUOUS,
    ),
    "genotype": Method(
        learners.dirichlet(GENOTYPE, BELIEF),
        _both(0.001, 0.003, 0.01),
        "genotype, belief weights",
        30.0,
    ),
    "phenotype-value": Method(
        learners.dirichlet(PHENOTYPE, FLAT),
        _rates(0.01, 0.03, 0.1, 0.3),
        "phenotype, f minus its running mean",
        sets=("digits",),
    ),
    "phenotype-context": Method(
        learners.dirichlet(PHENOTYPE, EXPECTED),
        _rates(0.01, 0.03, 0.1, 0.3),
        "phenotype, f minus what a model expects in c",
        sets=("digits",),
    ),
    "weights-ES": Method(
        learners.over_weights(lambda size: GENOTYPE),
        _both(0.003, 0.01, 0.03, sigma=0.3),
        "Gaussian search over the weights, genotype, belief weights",
        10.0,
        ("digits",),
    ),
    "weights-mix": Method(
        learners.over_weights(learners.mix_of_weights),
        _both(0.1, 0.3, 1.0, sigma=0.3),
        "Gaussian search over the weights, information mix, belief weights",
        15.0,
        ("digits",),
    ),
    "hidden": Method(
        learners.dirichlet(PHENOTYPE, BELIEF, width=64),
        _rates(0.1),
        "phenotype, belief weights, one hidden layer of 64 units: more than the other methods are"
        " given",
        sets=("digits",),
    ),
    "banditron": Method(
        learners.banditron,
        [{"gamma": g} for g in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)],
        "Banditron",
        5.0,
    ),
    "epsilon-greedy": Method(
        learners.epsilon_greedy,
        [
            {"epsilon": epsilon, "rate": rate}
            for epsilon in (0.02, 0.1, 0.3)
            for rate in (0.1, 0.3, 1.0)
        ],
        "epsilon-greedy, logistic regression of f for each answer",
        10.0,
    ),
    FULL: Method(
        None, [{"C": c} for c in (1.0, 10.0)], "logistic regression told every label (scikit-learn)"
    ),
    **{
        f"experts-{name}": Method(
            learners.mixture(estimator, BELIEF),
            _both(0.01, 0.03),
            f"mixture of experts, {about}",
            sets=MIXTURES,
        )
        for name, estimator, about in (
            ("phenotype", PHENOTYPE, "phenotype, belief weights"),
            ("genotype", GENOTYPE, "genotype (the expert that was asked), belief weights"),
        )
    },
    "experts-EM": Method(
        learners.told, _rates(0.03, 0.1), "mixture of experts, EM told every label", sets=MIXTURES
    ),
}


@dataclass(frozen=True)
class ContextsSettings(Checked):
    """rounds: contexts that come. points: how often accuracy is measured. totals: sums of alpha at
    which variances are compared, the first of which learners have. experts: in a mixture. methods
    and sets: what is run; all of it if empty."""

    methods: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    seeds: int = 10
    rounds: int = 40_000
    points: int = 100
    totals: tuple[float, ...] = (10.0, 1.0)
    batch: int = 500  # individuals for each measurement of a variance
    experts: int = 4
    seed: int = 2026

    def __post_init__(self):
        self.counts("seeds", "rounds", "points")
        self.counts("batch", "experts", least=2)
        for name, known in (("methods", (*METHODS, *VARIANCES)), ("sets", tuple(MAKERS))):
            self.default(name, known)
            self.among(name, known)
        self.tuples()
        self.filled("totals")
        self.positive("totals")
        least = self.points * learners.POPSIZE
        if any(self.rounds_of(name) % least or not self.rounds_of(name) for name in self.sets):
            raise ValueError(
                f"rounds must be a multiple of {learners.POPSIZE} x points on every set, got"
                f" {self.rounds} and {self.points}"
            )

    @classmethod
    def quick(cls) -> "ContextsSettings":
        """Everything, on few seeds and a tenth of the rounds; most of its time is compilation."""
        return cls(seeds=3, rounds=4000, points=20, batch=200)

    def rounds_of(self, name: str) -> int:
        return self.rounds // SHORTER.get(name, 1)

    @property
    def parts(self) -> tuple[str, ...]:
        """kind/set, the dearest first, so that the cores finish together."""
        names = [
            f"{kind}/{name}" for kind in self.methods for name in _sets(kind) if name in self.sets
        ]
        return tuple(sorted(names, key=lambda part: -self.cost(part)))

    def cost(self, part: str) -> float:
        """In seconds of a full run, roughly: for the order, and for the time left."""
        kind = part.partition("/")[0]
        work = 20.0 if kind in VARIANCES else METHODS[kind].cost
        return 10.0 + work * self.seeds * self.rounds_of(part.partition("/")[2]) / 400_000


def _sets(kind: str) -> tuple[str, ...]:
    return CONTINUOUS if kind == "variance" else METHODS[VARIANCES.get(kind, kind)].sets
