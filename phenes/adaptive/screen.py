"""A model chooses which of many candidates are worth an evaluation, and stands in for the others.

n evaluated points and the others, which only the model values, are a population of `breadth` times
n for the price of n. Ranks ask little of a model: it has to order points, not to explain their
values. Whether it does is seen on every point before the model learns from it.
"""

import numpy as np

from phenes.adaptive import surrogate
from phenes.adaptive.estimate import FARTHEST
from phenes.adaptive.quadratic import axis_features
from phenes.adaptive.space import Space
from phenes.adaptive.state import Run

FEWEST_DIMENSIONS = 8
BROADEST = 5.0  # population over evaluations
AGREEMENT = 0.3  # rank correlation above which the population doubles; by chance it is 0 +- .15
MEMORY = 33.0  # evaluations that the agreement is averaged over
ROWS_PER_FEATURE = 5


def draw(run: Run, space: Space, n: int, rng: np.random.Generator) -> np.ndarray:
    """n intended theta: the most promising of breadth * n; the others stay in the pool of the
    generation, as if they were realised.
    """
    if not mirrors(space):
        return space.intend(run.normal.draw(rng.standard_normal((n, space.dim))))
    total = round(n * run.breadth) if run.phase == "search" and run.surrogate else n
    theta = space.intend(run.normal.draw(mirrored(run, total, space.dim, rng)))
    if total == n:
        return theta
    order = np.argsort(run.surrogate.predict(theta + space.bias), kind="stable")
    rest = theta[order[n:]] + space.bias
    rest += space.to_x(rng.standard_normal(rest.shape) * np.sqrt(space.c))
    # whoever asks again and again and tells nothing must not fill the memory
    run.pool = np.concatenate([run.pool.reshape(-1, space.dim), rest])[
        : round(BROADEST * max(n, run.popsize))
    ]
    return theta[order[:n]]


def mirrors(space: Space) -> bool:
    """Not in few dimensions, where the few pairs of a generation leave most directions unseen (a
    yield of three coordinates ended at 12 instead of 84 per cent), and not where x is not measured:
    values are noisy then, nothing orders them, averages need many directions.
    """
    return space.dim >= FEWEST_DIMENSIONS and not space.smooth.any()


def mirrored(run: Run, n: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    """Standard normal rows [n, d], each followed by its mirror image, over all calls of a run.

    Of two opposite points one is rarely bad: a step away from the mean is seen from both sides, and
    slope and curvature are told apart.
    """
    waiting = run.unpaired.reshape(-1, dim)
    new = rng.standard_normal(((n - len(waiting) + 1) // 2, dim))
    rows = np.concatenate([-waiting, np.stack([new, -new], axis=1).reshape(-1, dim)])
    run.unpaired = -rows[n:]  # the image is to come: keep what it mirrors
    return rows[:n]


def population(
    run: Run, space: Space, x: np.ndarray, f: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The evaluated points x [n, d] with f [n], and those of the pool with what the model says,
    which has seen x by then.
    """
    if not mirrors(space):
        return x, f
    pool = run.pool.reshape(-1, space.dim)[: round((run.breadth - 1) * f.size)]
    run.pool = np.empty((0, space.dim))
    _judge(run, x, f)
    run.surrogate = _learn(run, space)
    if not run.surrogate or not len(pool):
        return x, f
    slope, level = _calibrate(run.surrogate.predict(x), f)
    if slope <= 0:
        return x, f
    return np.concatenate([x, pool]), np.concatenate(
        [f, level + slope * run.surrogate.predict(pool)]
    )


def _calibrate(guess: np.ndarray, f: np.ndarray) -> tuple[float, float]:
    """Slope and level of f on what the model says about the evaluated points: the others have to
    compare with these.
    """
    good = np.isfinite(f)
    if good.sum() < 3:
        return 0.0, 0.0
    g, v = guess[good] - guess[good].mean(), f[good]
    slope = float(g @ v / max(float(g @ g), 1e-300))
    return slope, float(v.mean() - slope * guess[good].mean())


def _judge(run: Run, x: np.ndarray, f: np.ndarray) -> None:
    """Does the model order points that it has not seen as f does? Then more candidates, else
    fewer.
    """
    good = np.isfinite(f)
    n = int(good.sum())
    if not run.surrogate or n < 3:
        return
    guess, truth = (
        np.argsort(np.argsort(v[good], kind="stable")) - (n - 1) / 2
        for v in (run.surrogate.predict(x), f)
    )
    now = float(guess @ truth / (truth @ truth))
    run.agreement += min(1.0, n / MEMORY) * (now - run.agreement)
    run.breadth = (
        min(BROADEST, 2 * run.breadth) if run.agreement > AGREEMENT else max(1.0, run.breadth / 2)
    )


def _learn(run: Run, space: Space) -> surrogate.Surrogate:
    x, f = run.archive.newest(max(ROWS_PER_FEATURE * axis_features(space.dim), run.popsize + 10))
    close = np.sum(run.normal.whiten(space.to_y(x)) ** 2, axis=1) < FARTHEST**2 * space.dim
    return surrogate.learn(x[close], f[close], space, run.normal)
