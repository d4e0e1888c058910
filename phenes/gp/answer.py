"""The answer of the model: the least E f near a theta that was tried, and had a value."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from phenes._validate import FloatArray
from phenes.gp import tuning
from phenes.gp.acquisition import polish
from phenes.gp.belief import Belief
from phenes.gp.model import Model
from phenes.gp.region import Region
from phenes.gp.risk_belief import RiskBelief

# u (d,) -> draws (s, d) of x - theta there, where these and no moments are the law
Draws = Callable[[FloatArray], FloatArray | None]


def best_known(model: Model, region: Region, draws: Draws) -> FloatArray:
    """The theta (d,) whose E f is least by the mean and its doubtful error.

    Only near theta that were tried: a model is sure of what it has never seen. And only where an
    evaluation had a value: down a slope that ends where f fails, each failure would lead further
    out. The expected improvement is measured against this answer, so that whatever promises more is
    tried next.
    """
    belief, rows = model.belief, model.rows
    tried = np.unique(region.inside(rows.theta[rows.worked]), axis=0)
    mean, sd = belief.at(tried)
    reach = np.sqrt(model.noise_variances + (tuning.NEAR * model.lengths) ** 2)
    found: list[FloatArray] = []
    starts: list[FloatArray] = []
    for k in np.argsort(mean + tuning.CAUTION * sd, kind="stable"):
        if len(starts) == tuning.ANSWERS:
            break
        if all(np.max(np.abs(tried[k] - other) / reach) >= 1 for other in starts):
            starts.append(tried[k])
            found.append(_lowest(belief, tried[k], reach, region))
    costs = [float(_cautious(belief, at[None])[0]) for at in found]
    best = found[int(np.argmin(costs))]
    return _under_law(belief, best, reach, region, draws(best))


def _cautious(belief: Belief, theta: FloatArray) -> FloatArray:
    mean, sd = belief.at(theta)
    return mean + tuning.CAUTION * sd


def _lowest(belief: Belief, start: FloatArray, reach: FloatArray, region: Region) -> FloatArray:
    """The least cautious E f within reach of `start`."""
    doubt = float(belief.doubt(start[None])[0])
    scale = float(np.std(belief.values.y)) or 1.0

    def value(u: FloatArray) -> tuple[float, FloatArray]:
        at = belief.slopes(u, doubt)
        cost = at.mean + tuning.CAUTION * at.sd
        return cost / scale, (at.mean_slope + tuning.CAUTION * at.sd_slope) / scale

    low, high = region.around_point(start)
    low, high = np.maximum(start - reach, low), np.minimum(start + reach, high)
    steps = tuning.ANSWER_STEPS
    return polish(value, start, low, high, steps, belief.most_slopes(steps))[0]


def _under_law(
    belief: Belief, best: FloatArray, reach: FloatArray, region: Region, draws: FloatArray | None
) -> FloatArray:
    """Under a law that is not Gaussian: the least mean over its draws, near the Gaussian's best."""
    if draws is None or isinstance(belief, RiskBelief):  # a risk is of these draws already
        return best
    rng = np.random.default_rng(best.size)
    near = best + reach * rng.uniform(-1, 1, (tuning.LAW_ANSWERS, best.size))
    near = np.clip(near, *region.around_point(best))
    tries = np.concatenate([best[None], near])
    few = draws[:: max(len(draws) // tuning.LAW_DRAWS, 1)]
    mean = belief.values.averaged_over(tries, few)
    p = belief.failing(tries)
    return tries[int(np.argmin(mean + p * (belief.price - mean)))]
