"""What is run: the numbers of the paper's section 6.2 and its appendix, and the methods by name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from phenes import estimators
from phenes.rl import tabular
from phenes.rl.tabular import moves
from phenes.rl.tabular.learners import Learner
from phenes.rl.tabular.table import Table
from phenes_lab.settings import Checked

EXPERIMENT = "frozenlake"
ENVIRONMENT = "FrozenLake-v1"
VARIANCE = "variance"  # not a method: variances of the two estimators on the same populations
LAST = 50  # generations that the final reward is averaged over, as in the paper


@dataclass(frozen=True)
class FrozenlakeSettings(Checked):
    """sigmas: spreads of ES. totals: sums of alpha, S. clean: those of the clean experiment. rate:
    of plain gradient ascent, the paper's.

    natural: rate of the natural gradient in units of 1 + S (`moves.kept`). target: the exact value
    that counts as learnt.
    methods: what is run, of `METHODS` and `VARIANCE`; all of it if empty.
    """

    methods: tuple[str, ...] = ()
    seeds: int = 10
    generations: int = 500
    popsize: int = 100
    sigmas: tuple[float, ...] = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
    totals: tuple[float, ...] = (0.1, 0.4, 1.0, 2.0, 4.0, 10.0)
    floors: tuple[float, ...] = (1e-3, 1e-2)
    clean: tuple[float, ...] = (0.4, 1.0, 4.0)
    rate: float = 0.01
    natural: float = 1.2
    target: float = 0.7
    seed: int = 2026  # not one of those with which the default was chosen

    def __post_init__(self):
        self.default("methods", (*METHODS, VARIANCE))
        self.tuples()
        self.counts("seeds", "generations")
        self.counts("popsize", least=2)
        if not {"ES", "PAES-SGD"} <= set(self.methods) <= {*METHODS, VARIANCE}:
            raise ValueError(
                f"methods must hold ES and PAES-SGD and be of {', '.join(METHODS)} and {VARIANCE},"
                f" got {', '.join(self.methods)}"
            )
        self.filled("sigmas", "totals", "floors", "clean")
        self.positive("sigmas", "totals", "floors", "clean", "rate", "natural", "target")

    @classmethod
    def quick(cls) -> "FrozenlakeSettings":
        """A minute on two cores, most of it compilation: every figure, few seeds, a fifth of the
        length.
        """
        return cls(
            seeds=3, generations=100, sigmas=(0.01, 0.1, 1.0), totals=(0.4, 1.0, 4.0), clean=(1.0,)
        )

    @property
    def parts(self) -> tuple[str, ...]:
        """The dearest first, so that the cores finish together."""
        return tuple(sorted(self.methods, key=lambda name: -self.cost(name)))

    def cost(self, name: str) -> float:
        return 3.0 if name == VARIANCE else METHODS[name].cost * len(METHODS[name].points(self)) + 1


Point = dict[str, float]


class Method(NamedTuple):
    """build: a learner from numbers (which may be traced); points: those to run it with. timed: one
    run by itself, on the clock.
    """

    build: Callable[[Table, int, Point], Learner]
    points: Callable[[FrozenlakeSettings], list[Point]]
    about: str
    timed: bool = False
    cost: float = 1.0


def _es(policy: Any, **options: Any) -> Callable[[Table, int, Point], Learner]:
    return lambda table, n, at: tabular.gaussian(
        table, n, at["sigma"], at["rate"], policy=policy, **options
    )


def _logits(estimator: Any, **options: Any) -> Callable[[Table, int, Point], Learner]:
    return lambda table, n, at: tabular.gaussian(
        table, n, at["sigma"], at["rate"], estimator, **options
    )


def _sgd(estimator: Any, drawn: bool) -> Callable[[Table, int, Point], Learner]:
    return lambda t, n, at: tabular.dirichlet(
        t, n, at["total"], moves.on_alpha(at["rate"], at["floor"]), estimator, drawn
    )


def _natural(estimator: Any, drawn: bool) -> Callable[[Table, int, Point], Learner]:
    return lambda t, n, at: tabular.dirichlet(
        t, n, at["total"], moves.kept(at["total"], at["rate"]), estimator, drawn
    )


def _free(table: Table, n: int, at: Point) -> Learner:
    return tabular.dirichlet(table, n, at["total"], moves.free(at["rate"]))


def _spreads(s: FrozenlakeSettings) -> list[Point]:
    return [{"sigma": sigma, "rate": s.rate} for sigma in s.sigmas]


def _middle(s: FrozenlakeSettings) -> list[Point]:
    return [{"sigma": 0.1, "rate": s.rate}]


def _tuned(s: FrozenlakeSettings) -> list[Point]:
    return [{"sigma": sigma, "rate": rate} for sigma in (1.0, 3.0) for rate in (1.0, 3.0)]


def _floors(s: FrozenlakeSettings) -> list[Point]:
    return [
        {"total": total, "floor": floor, "rate": s.rate} for floor in s.floors for total in s.totals
    ]


def _totals(s: FrozenlakeSettings) -> list[Point]:
    return [{"total": total, "rate": s.natural} for total in s.totals]


def _clean(s: FrozenlakeSettings) -> list[Point]:
    return [{"total": total, "rate": s.natural} for total in s.clean]


def _clean_slowly(s: FrozenlakeSettings) -> list[Point]:
    """The genotype estimator with a tenth of the rate too: is it only too fast for its noise?"""
    return [
        {"total": total, "rate": rate} for rate in (s.natural, 0.1 * s.natural) for total in s.clean
    ]


def _clean_sgd(s: FrozenlakeSettings) -> list[Point]:
    return [{"total": total, "floor": s.floors[0], "rate": s.rate} for total in s.clean]


GENOTYPE, PHENOTYPE = estimators.genotype, estimators.phenotype

METHODS: dict[str, Method] = {
    "ES": Method(
        _es(tabular.greedy),
        _spreads,
        "logits, Gaussian search, each individual plays its best actions (argmax), SGD",
        True,
        0.7,
    ),
    "ES-softmax": Method(
        _es(tabular.softmax),
        _spreads,
        "the same, each individual draws its actions (softmax)",
        cost=0.7,
    ),
    "ES-far": Method(
        _es(tabular.greedy, far=0.1), _middle, "ES from N(0, 0.01) read as a variance", cost=0.7
    ),
    "ES-tuned": Method(
        _es(tabular.softmax, mirrored=True),
        _tuned,
        "softmax, antithetic pairs, rates of its own",
        True,
        0.7,
    ),
    "reparameterised": Method(
        _logits(estimators.reparameterised),
        _tuned,
        "softmax, gradient through the logits at theta_i",
        cost=0.7,
    ),
    "mix": Method(
        _logits(estimators.information_mix(order=1)),
        _tuned,
        "softmax, information mix of the two",
        cost=0.9,
    ),
    "PAES-SGD": Method(
        _sgd(PHENOTYPE, False),
        _floors,
        "Dirichlet policies, phenotype, SGD on alpha with a floor (the paper)",
        True,
    ),
    "PAES": Method(
        _natural(PHENOTYPE, False),
        _totals,
        "Dirichlet policies, phenotype, natural gradient in log alpha, S kept",
        True,
    ),
    "PAES-free": Method(_free, _clean, "the same with S free to change"),
    "default": Method(
        lambda table, n, at: tabular.scored(table, n),
        lambda s: [{}],
        "PAES with reward-to-go, S = 4, which was the default of `phenes train`",
        True,
    ),
    "clean-genotype": Method(
        _natural(GENOTYPE, True),
        _clean_slowly,
        "Dirichlet policies, genotype, natural gradient, S kept",
        cost=1.4,
    ),
    "clean-phenotype": Method(
        _natural(PHENOTYPE, True), _clean, "the same populations, phenotype", cost=2.0
    ),
    "clean-genotype-SGD": Method(
        _sgd(GENOTYPE, True),
        _clean_sgd,
        "Dirichlet policies, genotype, SGD on alpha with a floor",
        cost=1.4,
    ),
    "clean-phenotype-SGD": Method(
        _sgd(PHENOTYPE, True), _clean_sgd, "the same populations, phenotype", cost=2.0
    ),
}
