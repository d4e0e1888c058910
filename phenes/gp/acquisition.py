"""Where the next evaluation promises most: log expected improvement of F, and its maximum."""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import special
from scipy.optimize import minimize

from phenes._validate import FloatArray
from phenes.gp import tuning
from phenes.gp.belief import Belief
from phenes.gp.region import Region
from phenes.gp.risk_belief import RiskBelief

LOG_ROOT = 0.5 * math.log(2 * math.pi)


def log_improvement(z: FloatArray) -> FloatArray:
    """log E max(z + e, 0) for a standard normal e, without cancellation in the tail.

    h(z) = phi(z) + z Phi(z) = phi(z) (1 + z Phi(z) / phi(z)), where the ratio is a scaled
    complementary error function; far out it is phi(z) / z^2.
    """
    z = np.clip(np.asarray(z, float), -tuning.LARGEST_Z, tuning.LARGEST_Z)
    near = np.maximum(z, tuning.TAIL)
    body = np.log(np.exp(-0.5 * near**2 - LOG_ROOT) + near * special.ndtr(near))
    mid = np.clip(z, tuning.FAR_TAIL, tuning.TAIL)
    ratio = mid * math.sqrt(math.pi / 2) * special.erfcx(-mid / math.sqrt(2))
    tail = -0.5 * mid**2 - LOG_ROOT + np.log1p(ratio)
    far = np.minimum(z, tuning.FAR_TAIL)
    farthest = -0.5 * far**2 - LOG_ROOT - 2 * np.log(-far)
    return np.where(z > tuning.TAIL, body, np.where(z > tuning.FAR_TAIL, tail, farthest))


def log_improvement_slope(z: float) -> float:
    """Derivative of `log_improvement`: Phi(z) / h(z)."""
    return math.exp(float(special.log_ndtr(z)) - float(log_improvement(np.array(z))))


def polish(
    value: Callable[[FloatArray], tuple[float, FloatArray]],
    start: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    steps: int,
    most: int = 15_000,
) -> tuple[FloatArray, float]:
    """A local minimum of `value` (with its slope) in the box, from `start`.

    most: evaluations of `value`.
    """
    first, _ = value(start)
    found = minimize(
        value,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(lower, upper, strict=True)),
        options={"maxiter": steps, "maxfun": most},
    )
    if not np.isfinite(found.fun) or found.fun > first:
        return start, first
    return np.clip(found.x, lower, upper), float(found.fun)


def candidates(
    region: Region,
    answer: FloatArray,
    std: FloatArray,
    rng: np.random.Generator,
    number: tuple[int, int] = (tuning.GLOBAL_CANDIDATES, tuning.LOCAL_CANDIDATES),
) -> FloatArray:
    """Points all over the region, and around the answer at all scales up to `std` (d,), (m, d).

    number: how many of each.
    """
    dim = region.dim
    everywhere = region.spread(rng.random((number[0], dim)))
    n = number[1]
    least, most = tuning.LOCAL_STEPS
    size = np.exp(rng.uniform(math.log(least), math.log(most), (n, 1)))
    step = size * rng.standard_normal((n, dim)) * std
    if dim > tuning.ALL_COORDINATES:
        moved = rng.random((n, dim)) < tuning.SOME_COORDINATES / dim
        moved[: n // 2] = True
        step = np.where(moved, step, 0.0)
    near = region.inside(answer + step)
    if region.lattice is not None:
        jump(near, region, rng)
    return region.snap(np.concatenate([everywhere, near]))


def jump(points: FloatArray, region: Region, rng: np.random.Generator) -> None:
    """Changes some whole numbers by one, and some options, in points (m, d).

    A small step of a model's length leaves most of them as they are.
    """
    lattice = region.lattice
    assert lattice is not None
    m = len(points)
    share = min(tuning.JUMPS / (lattice.integers.size + len(lattice.choices)), 1.0)
    for k in lattice.integers:
        sign = rng.choice([-1.0, 1.0], m) * (rng.random(m) < share)
        points[:, k] += sign / region.width[k]
    for block in lattice.choices:
        drawn = rng.random((m, block.size)) + 1  # beyond what is there, so that one of it wins
        points[:, block] = np.where((rng.random(m) < share)[:, None], drawn, points[:, block])
    points[:, lattice.integers] = region.inside(points)[:, lattice.integers]


def _scores(belief: Belief, best: float, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log expected improvement below `best` at points (m, d), and the doubt there, (m,) each."""
    hope, doubt = belief.hope(points)
    sd = np.maximum(hope.sd, tuning.TINY)
    return hope.log_chance + np.log(sd) + log_improvement((best - hope.mean) / sd), doubt


def scores(belief: Belief, best: float, points: FloatArray) -> FloatArray:
    """Log expected improvement below `best` at points (m, d), (m,)."""
    return _scores(belief, best, points)[0]


def most_promising(
    belief: Belief, best: float, points: FloatArray, region: Region
) -> tuple[FloatArray, float]:
    """The point with the largest log expected improvement below `best`, and what it is.

    The best of the candidates, polished in the region.
    """
    if isinstance(belief, RiskBelief):  # which compares many by a few draws only
        points = points[np.argsort(-_scores(belief, best, points)[0])[: tuning.SHORT_LIST]]
    score, doubt = _scores(belief, best, points)
    tries: list[tuple[FloatArray, float]] = []
    for k in np.argsort(-score, kind="stable")[: tuning.POLISHED]:

        def value(u: FloatArray, doubt: float = float(doubt[k])) -> tuple[float, FloatArray]:
            at, log_chance, chance_rise = belief.hope_slopes(u, doubt)
            z = (best - at.mean) / at.sd
            rise = log_improvement_slope(z) * (at.mean_slope + z * at.sd_slope) - at.sd_slope
            cost = -log_chance - math.log(at.sd) - float(log_improvement(np.array(z)))
            return cost, rise / at.sd - chance_rise

        low, high = region.around_point(points[k])
        steps = tuning.POLISH_STEPS
        tries.append(polish(value, points[k], low, high, steps, belief.most_slopes(steps)))
    at, cost = min(tries, key=lambda each: each[1])
    return at, -cost
