"""f on whole populations, and F = E f at recommended points, compiled once for a function and
dimension.

F is measured with the same draws of the noise for all contenders, in antithetic pairs: differences
between two points that lie close together, or on a function that is nearly quadratic, are then
known far better than F itself.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Float

from phenes import problems
from phenes_lab.bench.peers.settings import PeersSettings, Problem

CHUNK = 256  # pairs evaluated together: they fit the cache
# populations are padded to a power of two of at least this, points to a multiple: few shapes, few
# compilations
PAD = 16


class Objective:
    """f and F of one problem. Values are gaps to the smallest value of f."""

    def __init__(self, problem: Problem, settings: PeersSettings):
        self.problem = problem
        self.bbob = problems.bbob(problem.function, problem.dim, problem.instance)
        self.leaves = [jnp.asarray(leaf, jnp.float64) for leaf in jax.tree.leaves(self.bbob)]
        self.pairs = 1 if problem.sigma == 0 else -(-settings.draws // 2)
        rng = np.random.default_rng([settings.seed, 1, problem.function, problem.dim])
        chunks = -(-self.pairs // CHUNK)
        z = np.zeros((chunks * CHUNK, problem.dim))
        z[: self.pairs] = rng.standard_normal((self.pairs, problem.dim)) if problem.sigma else 0.0
        self.errors = jnp.asarray(problem.sigma * z.reshape(chunks, CHUNK, problem.dim))

    @property
    def optimum(self) -> np.ndarray:
        """The minimiser of f, which is not in general that of F."""
        return np.asarray(self.bbob.x_opt)

    def __call__(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        n = len(x)
        padded = np.zeros((max(PAD, 1 << (n - 1).bit_length()), x.shape[1]))
        padded[:n] = x
        compiled = _population(self.problem.function, self.problem.dim)
        return np.asarray(compiled(self.leaves, padded))[:n]

    def smoothed(self, points: Float[np.ndarray, "k d"]) -> Float[np.ndarray, " k"]:
        """F at each point."""
        return self._each(points, lambda pairs: pairs[:, : self.pairs].mean(axis=1))

    def compared(
        self, points: Float[np.ndarray, "k d"], reference: Float[np.ndarray, " d"]
    ) -> tuple[np.ndarray, np.ndarray]:
        """F(point) - F(reference) and its standard error, over pairs."""
        before = self._each(reference[None], lambda pairs: pairs)[0, : self.pairs]
        difference = self._each(points, lambda pairs: pairs)[:, : self.pairs] - before
        # at no noise there is one pair and nothing to err about
        spread = difference.std(axis=1, ddof=1) if self.pairs > 1 else np.zeros(len(points))
        return difference.mean(axis=1), spread / np.sqrt(self.pairs)

    def _each(self, points: np.ndarray, reduce: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """reduce(values of the pairs [k, pairs]) over blocks of points."""
        compiled, out = _pairs(self.problem.function, self.problem.dim), []
        for block in np.array_split(points, -(-len(points) // PAD)):
            padded = np.zeros((PAD, points.shape[1]))
            padded[: len(block)] = block
            out.append(reduce(np.asarray(compiled(self.leaves, padded, self.errors))[: len(block)]))
        return np.concatenate(out)


def _function_of(function: int, dim: int) -> Callable[[Any, Any], Any]:
    """(data of an instance, x [d]) -> f(x) - f_opt: a compiled program then serves all
    instances.
    """
    treedef = jax.tree.structure(problems.bbob(function, dim))

    def gap(leaves, x):
        bbob = jax.tree.unflatten(treedef, leaves)
        return bbob(x) - bbob.f_opt

    return gap


@functools.cache
def _population(function: int, dim: int) -> Callable[..., Any]:
    gap = _function_of(function, dim)
    return jax.jit(lambda leaves, x: jax.vmap(lambda one: gap(leaves, one))(x))


@functools.cache
def _pairs(function: int, dim: int) -> Callable[..., Any]:
    gap = _function_of(function, dim)

    def values(leaves, points, errors):
        def pair(point, e):
            return 0.5 * (gap(leaves, point + e) + gap(leaves, point - e))

        def at(point):
            each = jax.vmap(lambda e: pair(point, e))
            return lax.map(each, errors).ravel()

        return lax.map(at, points)

    return jax.jit(values)
