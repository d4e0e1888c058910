"""What the optimiser has to know of the world: where x falls around theta, how to draw it, what a
half-measured x says.

The engine works in the coordinates of theta. A realised x = H theta + b + eps is pulled back to
H^-1 (x - b) = theta + H^-1 eps, where f is just as exact; bias and gain are gone from then on. Laws
without these closed forms are described by their mean and covariance at the present theta.
"""

import functools
from typing import Any, NamedTuple

import numpy as np

# for the moments of a law that only samples: its standard deviation is then known to about 1 %
DRAWS = 4096

BLOCK = 64  # individuals that a law is asked for at a time


class Moments(NamedTuple):
    """Mean and covariance ([d] if diagonal, else [d, d]) of the pulled-back x around theta."""

    bias: np.ndarray
    cov: np.ndarray


class Channel:
    """x = H theta + b + eps, eps ~ N(0, C), in NumPy. `cov` [k] or [k, k]; no gain is H = I."""

    fixed = True  # its moments are the same everywhere

    def __init__(
        self, cov: np.ndarray, bias: np.ndarray | None = None, gain: np.ndarray | None = None
    ):
        self.cov, self.bias, self.gain = cov, np.zeros(cov.shape[0]) if bias is None else bias, gain
        self.inverse = None if gain is None else np.linalg.inv(gain)

    def expected(self, theta: np.ndarray) -> np.ndarray:
        return (theta if self.gain is None else theta @ self.gain.T) + self.bias

    def draw(self, seed: int, generation: int, theta: np.ndarray) -> np.ndarray:
        """Row i depends on (seed, generation, i) and theta_i only."""
        z = np.random.default_rng([seed, generation, 1]).standard_normal(theta.shape)
        return self.expected(theta) + (
            z * np.sqrt(self.cov) if self.cov.ndim == 1 else z @ _root(self.cov).T
        )

    def moments(self, theta: np.ndarray) -> Moments:
        return self._pulled(self.cov)

    def pull(self, x: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """The realised x in the coordinates of theta."""
        r = x - self.bias
        return r if self.inverse is None else r @ self.inverse.T

    def fill(self, theta: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, Moments]:
        """x with its unmeasured coordinates at their conditional mean, and the moments of what is
        then known of the error.
        """
        missing = np.isnan(x)
        if not missing.any():
            return x, self.moments(theta)
        r = np.where(missing, 0.0, x - self.expected(theta))
        if self.cov.ndim == 1:
            return self.expected(theta) + r, self._pulled(self.cov * (1 - missing.mean(axis=0)))
        known = np.zeros_like(self.cov)
        for pattern, count in zip(*np.unique(missing, axis=0, return_counts=True), strict=True):
            rows, seen = (missing == pattern).all(axis=1), ~pattern
            weights = np.linalg.lstsq(self.cov[np.ix_(seen, seen)], self.cov[seen], rcond=None)[0]
            r[rows] = r[np.ix_(rows, seen)] @ weights
            known += count / len(x) * self.cov[:, seen] @ weights
        return self.expected(theta) + r, self._pulled(known)

    def _pulled(self, cov: np.ndarray) -> Moments:
        if self.inverse is not None:
            cov = self.inverse @ (np.diag(cov) if cov.ndim == 1 else cov) @ self.inverse.T
        return Moments(np.zeros(cov.shape[0]), cov)


class Sampled:
    """Any law of the library or of the user's own, by its moments at the present theta."""

    fixed = False

    def __init__(self, law: Any, dim: int):
        self.law, self.dim = law, dim
        self._at: np.ndarray | None = None
        shape = _sample(law, 0, 0, np.zeros((2, dim))).shape
        if shape != (2, dim):
            raise ValueError(
                f"noise must realise x in the coordinates of theta, shape ({dim},), got"
                f" {type(law).__name__} with {shape[1:]}"
            )

    def draw(self, seed: int, generation: int, theta: np.ndarray) -> np.ndarray:
        return _sample(self.law, seed, generation, theta)

    def moments(self, theta: np.ndarray) -> Moments:
        """At the mean of theta; looked at again when that has moved by a fifth of the noise."""
        centre = np.atleast_2d(theta).mean(axis=0)
        if self._at is None or _far(centre - self._at, self._moments.cov):
            self._at, self._moments = centre, self._measure(centre)
        return self._moments

    def _measure(self, centre: np.ndarray) -> Moments:
        r = _sample(self.law, 0, 1, np.broadcast_to(centre, (DRAWS, self.dim))) - centre
        bias, cov = r.mean(axis=0), np.atleast_2d(np.cov(r.T))
        error = np.sqrt(np.outer(np.diag(cov), np.diag(cov)) / DRAWS)
        # correlations that are only luck of the draw
        alone = np.abs(cov - np.diag(np.diag(cov))) < 5 * error
        small = np.abs(bias) < 5 * np.sqrt(np.diag(cov) / DRAWS)
        return Moments(np.where(small, 0.0, bias), np.diag(cov).copy() if alone.all() else cov)

    def pull(self, x: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return x

    def fill(self, theta: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, Moments]:
        return _fill(self.moments(theta), theta, x)


class Measured:
    """x = theta + eps, with the mean and covariance that were learnt from the data. The bias stays
    with the engine.
    """

    fixed = True

    def __init__(self, bias: np.ndarray, cov: np.ndarray):
        self._moments = Moments(bias, cov)

    def draw(self, seed: int, generation: int, theta: np.ndarray) -> np.ndarray:
        raise ValueError(
            "noise='learn' needs an experiment that realises x: give minimize realises=True, or use"
            " Optimizer"
        )

    def moments(self, theta: np.ndarray) -> Moments:
        return self._moments

    def pull(self, x: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return x

    def fill(self, theta: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, Moments]:
        return _fill(self._moments, theta, x)


def as_channel(noise: Any, dim: int) -> "Channel | Sampled | Measured":
    """What the caller said of the noise: None or 0, a scalar, a vector, a covariance matrix, a
    law.
    """
    if noise is None or (np.isscalar(noise) and not isinstance(noise, str) and noise == 0):
        return Channel(np.zeros(dim))
    if isinstance(noise, str):
        raise ValueError(
            "noise must be a number, a vector, a covariance matrix, an input law or 'learn', got"
            f" {noise!r}"
        )
    from phenes.inputs.custom import Repeated
    from phenes.inputs.gaussian import GaussianNoise

    law = noise if hasattr(noise, "sample") else _declared(noise)
    if isinstance(law, Repeated):
        raise ValueError(
            "noise must be the law of one evaluation, got Repeated: tell the same theta several"
            " times instead"
        )
    return _gaussian(law, dim) if isinstance(law, GaussianNoise) else Sampled(law, dim)


def _declared(noise: Any) -> Any:
    import jax

    from phenes.inputs.gaussian import GaussianNoise

    try:
        with jax.enable_x64(True):
            return GaussianNoise(noise)
    except ValueError as error:
        raise ValueError(str(error).replace("scale", "noise", 1)) from None


def _gaussian(law: Any, dim: int) -> Channel:
    from phenes.covariance import Diagonal

    gain = None if law.gain is None else np.asarray(law.gain, np.float64)
    if gain is not None and (gain.shape != (dim, dim) or np.linalg.matrix_rank(gain) < dim):
        raise ValueError(
            f"noise must have an invertible gain of shape ({dim}, {dim}) to match x0, got shape"
            f" {gain.shape}"
        )
    bias = None if law.bias is None else np.asarray(law.bias, np.float64)
    var = np.asarray(
        law.cov.var if isinstance(law.cov, Diagonal) else law.cov.matrix(dim), np.float64
    )
    cov = np.full(dim, var) if var.ndim == 0 else var
    for name, array in (("noise", cov), ("the bias of noise", bias)):
        if array is not None and array.shape[0] != dim:
            raise ValueError(
                f"{name} must have {dim} coordinates to match x0, got {array.shape[0]}"
            )
    return Channel(cov, bias, gain)


def _fill(moments: Moments, theta: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, Moments]:
    """By the Gaussian law of these moments."""
    full, known = Channel(moments.cov, moments.bias).fill(theta, x)
    return full, Moments(moments.bias, known.cov)


def _far(step: np.ndarray, cov: np.ndarray) -> bool:
    var = cov if cov.ndim == 1 else np.diag(cov)
    return bool(np.any(step**2 > 0.04 * var))


def _root(cov: np.ndarray) -> np.ndarray:
    """A square root that semidefinite matrices have too."""
    value, vector = np.linalg.eigh(cov)
    return vector * np.sqrt(np.maximum(value, 0.0))


def _sample(law: Any, seed: int, generation: int, theta: np.ndarray) -> np.ndarray:
    """x_i ~ p_theta_i in double precision, in blocks of one size: one compilation for populations
    of any size.
    """
    import jax

    n = len(theta)
    padded = np.concatenate([theta, np.repeat(theta[-1:], -n % BLOCK, axis=0)])
    with jax.enable_x64(True):
        key = jax.random.fold_in(jax.random.key(seed), generation)
        blocks = [
            _compiled()(law, key, np.asarray(i), padded[i : i + BLOCK]) for i in range(0, n, BLOCK)
        ]
        return np.concatenate([np.asarray(block) for block in blocks])[:n]


@functools.cache
def _compiled() -> Any:
    import equinox as eqx
    import jax

    from phenes.batch import realise

    # laws that sample by rejection take seconds to optimise, and are no faster for it
    quickly = (
        {"xla_backend_optimization_level": 1, "xla_cpu_use_fusion_emitters": False}
        if jax.default_backend() == "cpu"
        else {}
    )

    @eqx.filter_jit(compiler_options=quickly)  # pyright: ignore[reportCallIssue]  # goes on to jax.jit
    def draw(law, key, first, theta):
        # a key of its own for each individual, whatever the size of the population
        keys = jax.vmap(lambda i: jax.random.fold_in(key, i))(first + jax.numpy.arange(len(theta)))
        return jax.vmap(lambda key, theta: realise(law, key, theta[None])[0])(keys, theta)

    return draw
