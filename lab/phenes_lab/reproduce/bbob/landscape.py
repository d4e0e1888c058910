"""What the paper says of the landscapes themselves: how far apart local minima are, and how flat
the noise makes them.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from phenes import problems
from phenes_lab.reproduce.bbob.settings import BbobSettings

CHUNK = 256  # draws of E f evaluated together: they fit the cache
POINTS = 8001  # of a cut through the box
CUTS = 8
PLACES = 128


def facts(settings: BbobSettings, function: int) -> dict[str, np.ndarray]:
    """spacing: of neighbouring local minima of f on cuts through the optimum along coordinates, as
    the median [cuts]; NaN with fewer than two. f, F: gaps at places uniform in the box."""
    bbob = problems.bbob(function, settings.dim, settings.instance)
    low, high = bbob.bounds
    side = np.linspace(low, high, POINTS)
    spacing = []
    for k in range(min(CUTS, settings.dim)):
        cut = np.tile(bbob.x_opt, (POINTS, 1))
        cut[:, k] = side
        spacing.append(_spacing(side, np.asarray(jax.jit(jax.vmap(bbob))(jnp.asarray(cut)))))
    places = np.random.default_rng(settings.seed).uniform(low, high, size=(PLACES, settings.dim))
    f, expected = smoothed(settings, bbob)(jnp.asarray(places))
    return {
        "spacing": np.array(spacing),
        "step": np.array(side[1] - side[0]),
        "f": np.asarray(f),
        "F": np.asarray(expected),
    }


def _spacing(side: np.ndarray, f: np.ndarray) -> float:
    minima = side[1:-1][(f[1:-1] < f[:-2]) & (f[1:-1] <= f[2:])]
    return float(np.median(np.diff(minima))) if minima.size > 1 else float("nan")


def smoothed(
    settings: BbobSettings, bbob: problems.Problem
) -> Callable[[Float[Array, "n d"]], tuple[Array, Array]]:
    """points -> gaps to f_opt of f and of F, one after the other."""
    count = -(-settings.draws // CHUNK)
    key = jax.random.fold_in(jax.random.key(settings.seed + 1), bbob.function)
    errors = settings.noise * jax.random.normal(key, (count, CHUNK, settings.dim))

    def one(point):
        chunk = lambda error: jnp.mean(jax.vmap(bbob)(point[None] + error))  # noqa: E731
        return bbob(point) - bbob.f_opt, jnp.mean(lax.map(chunk, errors)) - bbob.f_opt

    return jax.jit(lambda points: lax.map(one, points))
