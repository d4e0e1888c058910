"""One part: `phenes.minimize` with its defaults, and the regret of its answer."""

import functools
import time
import warnings

import numpy as np

import phenes
from phenes.optimizer.engines import FEW_COORDINATES, FEW_EVALUATIONS
from phenes_lab.bench.regimes.functions import FUNCTIONS
from phenes_lab.bench.regimes.settings import Part, RegimesSettings


def tasks(settings: RegimesSettings) -> dict[str, Part]:
    return {part.key: part for part in settings.parts}


def cost(settings: RegimesSettings, part: Part) -> float:
    """Seconds, roughly: a Gaussian process asks up to 500 evaluations in 15 dimensions."""
    few = part.budget <= FEW_EVALUATIONS and part.dim <= FEW_COORDINATES
    return 0.1 + part.budget * (0.03 if few else 2e-4 + 1e-6 * part.dim)


def compute(settings: RegimesSettings, part: Part) -> dict[str, np.ndarray]:
    """regret over that of the start; CPU seconds of all but f; whether success was claimed."""
    _warm()
    function = FUNCTIONS[part.function]
    x0 = np.full(part.dim, settings.start)
    spent = [0.0]

    def timed(x: np.ndarray) -> np.ndarray:
        began = time.process_time()
        values = function.f(x)
        spent[0] += time.process_time() - began
        return values

    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = phenes.minimize(
            timed,
            x0,
            settings.sigma0,
            settings.noise,
            budget=part.budget,
            vectorized=True,
            seed=settings.seed + part.seed,
        )
    seconds = time.process_time() - began - spent[0]
    least = function.regret(x0, settings.noise)
    return {
        "regret": np.array(function.regret(result.x, settings.noise) / least),
        "seconds": np.array(seconds),
        "evaluations": np.array(result.nfev),
        "success": np.array(result.success),
    }


@functools.cache
def _warm() -> None:
    """What both engines need is imported before the clock runs."""
    for engine in ("gp", "adaptive"):
        phenes.minimize(lambda x: x @ x, np.ones(2), 0.3, 0.1, budget=20, engine=engine)
