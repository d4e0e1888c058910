"""One part: a run of a contender on a problem, and what its answers are worth."""

import functools
import subprocess
import warnings
from pathlib import Path

import numpy as np
from scipy import special
from scipy.stats import qmc

from phenes_lab.bench.few.contenders import CONTENDERS
from phenes_lab.bench.few.problems import DRAWS, PROBLEMS, Problem
from phenes_lab.bench.few.settings import FewSettings, Part

REPLICAS = 8  # independent scramblings behind the E f by which `fun` is judged
UNKNOWN = -1


def cost(settings: FewSettings, part: Part) -> float:
    """Seconds, roughly."""
    return 0.2 + part.budget * CONTENDERS[part.contender].milliseconds / 1000


def compute(settings: FewSettings, part: Part) -> dict[str, np.ndarray]:
    """Arrays [k] by look, as `searches.Answers`; expected: F at the points. truth, truth_se: E f
    there by more draws, where the contender says what it is. commit: of the code.
    """
    problem, looks = PROBLEMS[part.problem], settings.looks(part)
    with warnings.catch_warnings():
        # of the libraries, about fits, injected points and the like: trouble is in the results
        warnings.simplefilter("ignore")
        _warm(part.contender)
        answers = CONTENDERS[part.contender].run(problem, looks, settings.seed + part.seed)
    known = [
        precise(problem, theta) if np.isfinite(fun) else (np.nan, np.nan)
        for theta, fun in zip(answers.points, answers.fun, strict=True)
    ]
    return {
        "looks": np.array(looks),
        **answers._asdict(),
        "expected": np.array([problem.expected(theta) for theta in answers.points]),
        "truth": np.array([value for value, _ in known]),
        "truth_se": np.array([se for _, se in known]),
        "commit": np.array(commit()),
    }


def precise(problem: Problem, theta: np.ndarray) -> tuple[float, float]:
    """E f and its standard error, by scramblings other than those of F."""
    means = []
    for k in range(REPLICAS):
        sobol = qmc.Sobol(problem.dim, scramble=True, rng=np.random.default_rng([77, k]))
        z = special.ndtri(np.clip(sobol.random(DRAWS), 1e-12, 1 - 1e-12))
        means.append(np.mean(problem.f(theta + z * problem.noise)))
    return float(np.mean(means)), float(np.std(means, ddof=1) / np.sqrt(REPLICAS))


@functools.cache
def _warm(contender: str) -> None:
    """Libraries are imported and programs compiled before the clock runs."""
    CONTENDERS[contender].run(PROBLEMS["camel2"], (10,), 0)


@functools.cache
def commit() -> int:
    """The first twelve digits of the commit, as a number; -1 outside a repository."""
    here = Path(__file__).parent
    command = ["git", "rev-parse", "--short=12", "HEAD"]
    try:
        said = subprocess.run(command, cwd=here, capture_output=True, text=True, check=True)
        return int(said.stdout.strip()[:12], 16)
    except (OSError, ValueError, subprocess.CalledProcessError):
        return UNKNOWN
