"""Who takes part: phenes, BoTorch with its risk measures, and inner Monte Carlo with pycma.

All begin at the same x0, uniform in the box by seed, with steps of a quarter of its width, and each
recommends a theta at its looks.
"""

# pyright: reportMissingImports=false
# (pycma may not be installed)

import functools
import importlib.util
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

import phenes
from phenes.risk import parse
from phenes_lab.bench.risk import surrogates
from phenes_lab.bench.risk.problems import BOX, Problem

OURS = "phenes"
STEP = 0.25  # of the width of the box
LOOK = 2**0.25  # between looks of inner Monte Carlo, as a factor
MODEL_LOOKS = (25, 35, 50, 70, 100)  # of BoTorch, as far as its budget goes
INSTALL = "install torch's CPU build and then pip install -e './lab[few]'"


class Answers(NamedTuple):
    """At each look: evaluations [k] and theta [k, d]. claim: fun, fun_se and success of phenes."""

    at: np.ndarray
    theta: np.ndarray
    claim: np.ndarray


class Entrant(NamedTuple):
    """run(problem, budget, seed) -> Answers. modules: what has to be installed. inner: it has the
    many evaluations of inner Monte Carlo. slow: it has those that a slow model is given. Both are
    one run with looks, not one for each budget. risks: names of those that it has, () for any.
    seconds: of an evaluation, roughly.
    """

    about: str
    run: Callable[[Problem, int, int], Answers]
    modules: tuple[str, ...] = ()
    inner: bool = False
    slow: bool = False
    risks: tuple[str, ...] = ()
    seconds: float = 1e-4

    def has(self, problem: Problem) -> bool:
        return not self.risks or parse(problem.risk).name in self.risks


def start(problem: Problem, seed: int) -> np.ndarray:
    rng = np.random.default_rng([seed, 7])
    return rng.uniform(*BOX, problem.dim)


def ours(problem: Problem, budget: int, seed: int) -> Answers:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = phenes.minimize(
            problem.f,
            start(problem, seed),
            STEP * (BOX[1] - BOX[0]),
            problem.noise,
            bounds=BOX,
            objective=parse(problem.risk),
            budget=budget,
            vectorized=True,
            seed=seed,
        )
    claim = np.array([result.fun, result.fun_se, float(result.success)])
    return Answers(np.array([result.nfev]), result.x[None], claim)


def inner(problem: Problem, budget: int, seed: int, draws: int) -> Answers:
    """pycma with the risk of so many draws as the value of a theta; recommends its mean."""
    import cma

    risk, rng = parse(problem.risk), np.random.default_rng([seed, 8])
    options = {"bounds": list(BOX), "seed": seed + 1, "verbose": -9, "tolfun": 0, "tolfunhist": 0}
    es: Any = cma.CMAEvolutionStrategy(
        start(problem, seed), STEP * (BOX[1] - BOX[0]), options | {"tolstagnation": 10**9}
    )
    used, next_look, at, theta = 0, 1.0, [], []
    while used < budget:
        asked = np.array(es.ask())
        noise = problem.noise * rng.standard_normal((len(asked), draws, problem.dim))
        values = problem.f((asked[:, None] + noise).reshape(-1, problem.dim))
        es.tell(list(asked), [risk.value(each) for each in values.reshape(len(asked), draws)])
        used += values.size
        if used >= next_look:
            next_look = LOOK * used
            at.append(used)
            theta.append(np.clip(es.result.xfavorite, *BOX))
    return Answers(np.array(at), np.array(theta), np.full(3, np.nan))


def botorch(problem: Problem, budget: int, seed: int, told_x: bool) -> Answers:
    """The same search space as the unit cube; x is not clipped, as f is not."""
    rng, width = np.random.default_rng([seed, 9]), BOX[1] - BOX[0]

    def measure(theta: np.ndarray) -> tuple[np.ndarray, float]:
        x = BOX[0] + width * theta + problem.noise * rng.standard_normal(problem.dim)
        return (x - BOX[0]) / width, float(problem.f(x[None])[0])

    looks = sorted({look for look in MODEL_LOOKS if look < budget} | {budget})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about fits: trouble is in the results
        found = surrogates.search(
            parse(problem.risk),
            measure,
            (start(problem, seed) - BOX[0]) / width,
            np.full(problem.dim, problem.noise / width),
            looks,
            seed,
            told_x,
        )
    return Answers(np.array(looks), BOX[0] + width * np.array(found), np.full(3, np.nan))


def _botorch(about: str, told_x: bool) -> Entrant:
    return Entrant(
        f"BoTorch SingleTaskGP {about}, InputPerturbation (16 draws of the noise, 128 for the"
        " answer) with its VaR, CVaR or Expectation, qLogEI; recommends the theta of the best"
        " expected risk",
        functools.partial(botorch, told_x=told_x),
        ("torch", "botorch"),
        slow=True,
        risks=surrogates.RISKS,
        seconds=0.5,
    )


CONTENDERS: dict[str, Entrant] = {
    OURS: Entrant("phenes.minimize with its defaults and objective=", ours, seconds=0.02),
    "botorch": _botorch("of the values on theta, as its users have it", False),
    "botorch-x": _botorch("of f on the measured x, which is told to it in place of theta", True),
    "pycma-8": Entrant(
        "pycma, a theta is worth the risk of 8 draws",
        functools.partial(inner, draws=8),
        ("cma",),
        inner=True,
    ),
    "pycma-32": Entrant(
        "pycma, a theta is worth the risk of 32 draws",
        functools.partial(inner, draws=32),
        ("cma",),
        inner=True,
    ),
}
RIVALS = tuple(name for name in CONTENDERS if name != OURS)


def missing(name: str) -> list[str]:
    """Modules that a contender needs and that are not installed."""
    return [each for each in CONTENDERS[name].modules if importlib.util.find_spec(each) is None]


def installed() -> tuple[str, ...]:
    return tuple(name for name in CONTENDERS if not missing(name))


def absent() -> str:
    """One sentence about who is left out because something is not installed, or nothing."""
    names = [name for name in CONTENDERS if missing(name)]
    modules = sorted({module for name in names for module in missing(name)})
    if not names:
        return ""
    return f"{', '.join(names)} left out: {', '.join(modules)} not installed ({INSTALL})."


def check_installed(names: Iterable[str]) -> None:
    """Say what has to be installed for these contenders before anything is run."""
    lacking = [name for name in names if missing(name)]
    if lacking:
        modules = sorted({module for name in lacking for module in missing(name)})
        raise ValueError(
            f"{', '.join(lacking)} need {', '.join(modules)}, which are not installed: choose"
            f" others, or {INSTALL}"
        )
