"""Problems drawn at random: does `minimize` ever diverge, fail, or return something worse than its
start?

Everything is drawn: dimension, conditioning, shape and rotation of f, noise on f, the law and size
of the noise on x, whether the search knows that law, first step, population, budget, seed. A run is
  diverged  if x, or a fun that is claimed with success, is not finite, or x lies over ten times as
            far out as anything the problem contains;
  worse     if E f at x exceeds E f at x0, on the same draws, by over 5 standard errors and a tenth
            of the spread of f at x0;
  covered   if E f at x is within two standard errors of the claim (and two of what the draws know);
  wrong     if success was claimed, and E f is off by over three standard errors and not covered.
"""

import functools
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np

from phenes import inputs
from phenes.optimizer import minimize
from phenes_lab.driver import Progress, each, silent
from phenes_lab.report import rich_table, rows_as_json
from phenes_lab.settings import Checked

DIMS = (1, 2, 3, 5, 10, 20)
SHAPES = ("quadratic", "cone", "steps", "valley", "ripples")
LAWS = (
    *("none", "number", "vector", "matrix", "t", "laplace", "uniform", "rounding", "saturating"),
    "learn",
)


@dataclass(frozen=True)
class FuzzSettings(Checked):
    problems: int = 1000
    draws: int = 4000
    seed: int = 0

    def __post_init__(self):
        self.counts("problems", "draws")

    @classmethod
    def quick(cls) -> "FuzzSettings":
        return cls(problems=40)


class Problem(NamedTuple):
    """One drawn problem. root: f is a function of root @ (x - centre)."""

    number: int
    dim: int
    shape: str
    law: str
    root: np.ndarray
    centre: np.ndarray
    x0: np.ndarray
    sigma0: float
    noise: float
    jitter: float  # noise on f
    popsize: int | None
    budget: int


@dataclass(frozen=True)
class FuzzRow:
    problem: int
    dim: int
    shape: str
    law: str
    diverged: bool
    worse: bool
    gain: float  # E f(x0) - E f(x), in spreads of f at x0
    covered: bool = True
    wrong: bool = False
    success: bool = False


def draw(settings: FuzzSettings, number: int) -> Problem:
    rng = np.random.default_rng([settings.seed, number])
    d = int(rng.choice(DIMS))
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    condition = 10.0 ** rng.uniform(0, 6)
    scales = condition ** (-0.5 * np.linspace(0, 1, d))
    return Problem(
        number,
        d,
        str(rng.choice(SHAPES)),
        str(rng.choice(LAWS)),
        scales[:, None] * rotation,
        rng.normal(size=d) * 10.0 ** rng.uniform(-1, 2),
        rng.normal(size=d) * 10.0 ** rng.uniform(-1, 2),
        10.0 ** rng.uniform(-2, 2),
        10.0 ** rng.uniform(-3, 1),
        0.0 if rng.random() < 0.7 else 10.0 ** rng.uniform(-3, 1),
        None if rng.random() < 0.5 else int(rng.integers(4, 60)),
        int(10.0 ** rng.uniform(1.5, 3.3)),
    )


def value(problem: Problem, x: np.ndarray) -> np.ndarray:
    """f without its own noise, of rows x."""
    z = (x - problem.centre) @ problem.root.T
    r2 = np.sum(z * z, axis=1)
    match problem.shape:
        case "quadratic":
            return r2
        case "cone":
            return np.sqrt(r2)
        case "steps":
            return np.floor(np.sqrt(r2))
        case "valley":
            return r2 + 10 * np.sum((z[:, 1:] - z[:, :-1] ** 2) ** 2, axis=1) / (1 + r2)
        case _:
            return r2 + problem.dim - np.sum(np.cos(2 * np.pi * z), axis=1)


def law_of(problem: Problem) -> Any:
    """What stands for the noise: as people state it, or a law."""
    s, d = problem.noise, problem.dim
    rng = np.random.default_rng([7, problem.number])
    match problem.law:
        case "none":
            return None
        case "number":
            return s
        case "vector":
            return s * rng.uniform(0.2, 2.0, d)
        case "matrix" | "learn":
            a = rng.normal(size=(d, d + 2)) / math.sqrt(d + 2)
            return s**2 * (a @ a.T + 0.05 * np.eye(d))
        case "t":
            return inputs.StudentTNoise(s, 5.0)
        case "laplace":
            return inputs.LaplaceNoise(s)
        case "uniform":
            return inputs.UniformNoise(s)
        case "rounding":
            return inputs.RoundingNoise(s, 0.5 * s)
        case _:
            return inputs.SaturatingNoise(s, -300.0, 300.0)


def realiser(problem: Problem, law: Any) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    """x of rows theta, by NumPy where people would do so."""
    if law is None:
        return lambda theta, rng: theta
    if isinstance(law, float | np.ndarray):
        root = (
            np.linalg.cholesky(law)
            if np.ndim(law) == 2
            else np.diag(np.broadcast_to(law, problem.dim))
        )
        return lambda theta, rng: theta + rng.normal(size=theta.shape) @ root.T
    many = jax.jit(jax.vmap(law.sample))

    def sample(theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(
            many(jax.random.split(jax.random.key(int(rng.integers(2**31))), len(theta)), theta)
        )

    return sample


def judge(settings: FuzzSettings, number: int) -> FuzzRow:
    """Run one problem and see what came of it."""
    problem = draw(settings, number)
    law = law_of(problem)
    realise = realiser(problem, law)
    own = np.random.default_rng([settings.seed, number, 1])

    def noisy(x: np.ndarray) -> np.ndarray:
        return value(problem, x) + problem.jitter * own.normal(size=len(x))

    def lab(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x = realise(np.asarray(theta), own)
        return x, noisy(x)

    options: dict[str, Any] = {
        "budget": problem.budget,
        "popsize": problem.popsize,
        "seed": number,
        "vectorized": True,
    }
    with warnings.catch_warnings():
        # of laws that do not fit the residuals, which is the reader's business in a run of his own
        warnings.simplefilter("ignore")
        if problem.law == "learn":
            result = minimize(lab, problem.x0, problem.sigma0, "learn", realises=True, **options)
        else:
            result = minimize(noisy, problem.x0, problem.sigma0, law, **options)
    return _verdict(settings, problem, realise, result)


def _verdict(
    settings: FuzzSettings, problem: Problem, realise: Callable[..., np.ndarray], result: Any
) -> FuzzRow:
    size = (
        np.linalg.norm(problem.x0)
        + np.linalg.norm(problem.centre)
        + math.sqrt(problem.dim) * (problem.sigma0 + problem.noise)
    )
    # too few evaluations for a claim: said, and no divergence
    claims = bool(np.isfinite(result.fun) and np.isfinite(result.fun_se))
    finite = bool(np.isfinite(result.x).all()) and (claims or not result.success)
    diverged = not finite or bool(np.linalg.norm(result.x) > 10 * size)
    if not np.isfinite(result.x).all():
        return FuzzRow(*problem[:4], True, True, math.nan)
    at = []
    for x in (problem.x0, result.x):
        rng = np.random.default_rng([settings.seed, problem.number, 2])
        at.append(value(problem, realise(np.tile(x, (settings.draws, 1)), rng)))
    rise, spread = at[1] - at[0], float(np.std(at[0]))
    se = float(np.std(rise)) / math.sqrt(settings.draws)
    worse = float(np.mean(rise)) > max(5 * se, 0.1 * spread, 1e-9 * abs(float(np.mean(at[0]))))
    covered, wrong = _claim(result, at[1])
    gain = -float(np.mean(rise)) / (spread or 1.0)
    return FuzzRow(
        *problem[:4], diverged, worse, gain, covered, wrong and result.success, bool(result.success)
    )


def _claim(result: Any, values: np.ndarray) -> tuple[bool, bool]:
    """Is E f within two standard errors of the claim, and is it off by three? An infinite standard
    error claims nothing.
    """
    truth, se = float(np.mean(values)), float(np.std(values)) / math.sqrt(values.size)
    off = abs(result.fun - truth) - 1e-9 * (abs(truth) + float(np.ptp(values)))
    covered = bool(off <= 2 * result.fun_se + 2 * se)
    return covered, not covered and bool(off > 3 * math.hypot(result.fun_se, se))


def run(
    settings: FuzzSettings, progress: Progress = silent, processes: int | None = None
) -> list[FuzzRow]:
    """All problems, on all cores. What raises is a failure of the benchmark."""
    numbers = list(range(settings.problems))
    name = lambda number: f"problem {number}"  # noqa: E731
    found = each(functools.partial(judge, settings), numbers, name, progress, processes)
    return sorted((answer.result for answer in found), key=lambda row: row.problem)


def table(rows: list[FuzzRow]) -> Any:
    """For people, as a `rich` table: by law of the noise, then the problems that went wrong."""
    lines: list[list[str] | None] = []
    for law in LAWS:
        of = [row for row in rows if row.law == law]
        bad = [row for row in of if row.diverged or row.worse or row.wrong]
        which = ", ".join(f"{row.problem} ({row.shape}, d={row.dim})" for row in bad[:4])
        lines.append([law, which + (", ..." if len(bad) > 4 else ""), *_counts(of)])
    lines += [None, ["all", "", *_counts(rows)]]
    columns = ("noise", "which", "problems", "diverged", "worse than the start", "claims covered")
    title = f"{len(rows)} random problems"
    return rich_table([*columns, "success but wrong"], lines, title, left=2)


COUNTED = ("diverged", "worse", "covered", "wrong", "success")


def _counts(rows: list[FuzzRow]) -> list[str]:
    return [str(len(rows)), *(str(_count(rows, name)) for name in COUNTED[:4])]


def _count(rows: list[FuzzRow], name: str) -> int:
    return sum(getattr(row, name) for row in rows)


def as_json(rows: list[FuzzRow]) -> dict[str, Any]:
    counts = {name: _count(rows, name) for name in COUNTED}
    return rows_as_json("wild", rows, problems=len(rows), **counts)
