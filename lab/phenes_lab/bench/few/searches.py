"""A run of each contender on a problem, and the theta that it recommends on the way.

All begin at the same x0, uniform in the box by seed, with steps of a quarter of its width, and meet
the same noise: that of evaluation n is drawn from a generator of the seed and of n. The box is that
of theta; x is not clipped.
"""

# pyright: reportMissingImports=false
# (the extra `few` may not be installed)

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import phenes
from phenes_lab.bench.few.problems import Problem
from phenes_lab.restarts import Restarts
from phenes_lab.rivals import Search, Start
from phenes_lab.simulator import Exhausted, World, known_within

STEP = 0.25  # of the width of the box


class Answers(NamedTuple):
    """At each look: theta [k, d]; median, mean and worst CPU milliseconds of an ask until then [k].

    fun, fun_se, success [k]: what phenes says of its answer; NaN for others.
    """

    points: np.ndarray
    milliseconds: np.ndarray
    average: np.ndarray
    worst: np.ndarray
    fun: np.ndarray
    fun_se: np.ndarray
    success: np.ndarray


class Lab(World):
    """Realises theta [n, d], and clocks what passes between evaluations: that is the time of an
    ask. unit: theta and x are in units of the box.
    """

    def __init__(self, problem: Problem, budget: int, seed: int, unit: bool = False):
        super().__init__(self._realise, budget)
        self.problem, self.seed = problem, seed
        width = problem.upper - problem.lower
        self.low, self.width = (problem.lower, width) if unit else (0.0, 1.0)
        self.asks: list[float] = []
        self.clock = time.process_time()

    @property
    def start(self) -> np.ndarray:
        """x0 in the coordinates of this laboratory."""
        return (start(self.problem, self.seed) - self.low) / self.width

    def __call__(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        spent = 1000 * (time.process_time() - self.clock) / len(theta)
        answer = super().__call__(theta)
        self.asks += [spent] * len(theta)
        self.clock = time.process_time()
        return answer

    @contextlib.contextmanager
    def unclocked(self) -> Iterator[None]:
        before = time.process_time()
        yield
        self.clock += time.process_time() - before

    def answers(
        self, looks: Sequence[int], points: Any, said: Sequence[float] = (np.nan,) * 3
    ) -> Answers:
        """points: recommended at the looks, in the coordinates of this laboratory."""
        theta = self.low + self.width * np.asarray(points, float)
        theta = np.clip(theta, self.problem.lower, self.problem.upper)
        asks = [self.asks[:look] for look in looks]
        times = [np.array([f(each) for each in asks]) for f in (np.median, np.mean, np.max)]
        return Answers(theta, *times, *(np.full(len(looks), each, float) for each in said))

    def _realise(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        numbers = range(self.count, self.count + len(theta))
        z = [_normal(self.seed, n, theta.shape[1]) for n in numbers]
        x = self.low + self.width * theta + self.problem.noise * np.array(z)
        return (x - self.low) / self.width, np.asarray(self.problem.f(x), float)


def start(problem: Problem, seed: int) -> np.ndarray:
    return np.random.default_rng([seed, 99]).uniform(problem.lower, problem.upper)


def _normal(seed: int, number: int, dim: int) -> np.ndarray:
    return np.random.default_rng([seed, number, 1]).standard_normal(dim)


def ours(problem: Problem, looks: Sequence[int], seed: int, engine: str) -> Answers:
    """One run for each budget, which is an argument of the library."""
    (budget,) = looks
    bounds, width = np.stack([problem.lower, problem.upper], 1), problem.upper - problem.lower
    lab = Lab(problem, budget, seed)
    options: dict[str, Any] = {"bounds": bounds, "budget": budget, "engine": engine, "seed": seed}
    opt = phenes.Optimizer(lab.start, STEP * width, problem.noise, **options)
    while not opt.stop():
        theta = opt.ask()[: budget - opt.nfev]
        x, f = lab(theta)
        opt.tell(theta, f, realised=x)
    result = opt.result
    return lab.answers(looks, result.x[None], (result.fun, result.fun_se, result.success))


def library(
    make: Callable[[Start], Search], problem: Problem, looks: Sequence[int], seed: int
) -> Answers:
    """An evolution strategy in units of the box; restarts with twice the population when it stops
    itself. Its answer is the mean after the last generation that the budget pays for.
    """
    lab = Lab(problem, looks[-1], seed, unit=True)
    again, counts, points = np.random.default_rng([seed, 1]), [], []
    bounds = np.tile([0.0, 1.0], (problem.dim, 1))
    first = Start(lab.start, STEP, 0.0, seed, bounds=bounds)
    search = Restarts(make, first, lambda: again.uniform(size=problem.dim))
    with contextlib.suppress(Exhausted):
        while True:
            search.step(lab)
            with lab.unclocked():
                counts.append(lab.count)
                points.append(search.recommended(lab))
    return lab.answers(looks, known_within(looks, counts, points, lab.start)[1])


def optuna(problem: Problem, looks: Sequence[int], seed: int, sampler: str) -> Answers:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    lab, points = Lab(problem, looks[-1], seed), []
    study = optuna.create_study(sampler=getattr(optuna.samplers, sampler)(seed=seed))
    names = [f"x{k}" for k in range(problem.dim)]
    study.enqueue_trial(dict(zip(names, lab.start.tolist(), strict=True)))
    box = list(zip(names, problem.lower.tolist(), problem.upper.tolist(), strict=True))
    for n in range(1, looks[-1] + 1):
        trial = study.ask()
        theta = np.array([[trial.suggest_float(*side) for side in box]])
        study.tell(trial, float(lab(theta)[1][0]))
        if n in looks:
            points.append([study.best_trial.params[name] for name in names])
    return lab.answers(looks, points)


def bobyqa(problem: Problem, looks: Sequence[int], seed: int) -> Answers:
    """In units of the box. Its answer is not to be had on the way: one run for each budget."""
    import pybobyqa

    (budget,) = looks
    lab = Lab(problem, budget, seed, unit=True)
    np.random.seed(seed)  # noqa: NPY002  its own generator is this one
    solution = pybobyqa.solve(
        lambda u: float(lab(u[None])[1][0]),
        lab.start,
        bounds=(np.zeros(problem.dim), np.ones(problem.dim)),
        rhobeg=STEP,
        maxfun=budget,
        objfun_has_noise=True,
        do_logging=False,
    )
    return lab.answers(looks, [lab.start if solution.x is None else solution.x])
