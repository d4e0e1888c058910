"""What the optimiser has to know of the input noise, in NumPy.

Where x falls around theta, how it is drawn, and what a half-measured x says. The search works in
the coordinates of theta. A realised x = H theta + b + eps is pulled back to
H^-1 (x - b) = theta + H^-1 eps, where f is just as exact; bias and gain are gone from then on. Laws
without these closed forms are described by their mean and covariance at the present theta. JAX is
imported for laws of `phenes.inputs` only: a number, a vector and a matrix do without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from phenes import _validate
from phenes._validate import FloatArray
from phenes.optimizer.noise.sampling import sample

if TYPE_CHECKING:
    from phenes.inputs.gaussian import GaussianNoise

# draws for the moments of a law that only samples: standard deviations to about 1 %
DRAWS = 4096


class Moments(NamedTuple):
    """Mean and covariance ([d] if diagonal, else [d, d]) of the pulled-back x around theta."""

    bias: FloatArray
    cov: FloatArray

    @property
    def variances(self) -> FloatArray:
        """Variance of each coordinate, [d]."""
        return np.diag(self.cov) if self.cov.ndim == 2 else self.cov


class NoiseModel(Protocol):
    """The law of x given theta. fixed: its moments are the same at every theta."""

    @property
    def fixed(self) -> bool: ...

    def draw(self, seed: int, generation: int, theta: FloatArray) -> FloatArray:
        """x [n, d]; row i depends on (seed, generation, i) and theta_i only."""
        ...

    def moments(self, theta: FloatArray) -> Moments:
        """Moments of the pulled-back x around these theta."""
        ...

    def pull(self, x: FloatArray, theta: FloatArray) -> FloatArray:
        """The realised x in the coordinates of theta."""
        ...

    def fill(self, theta: FloatArray, x: FloatArray) -> tuple[FloatArray, Moments]:
        """x with unmeasured coordinates at their conditional mean, and the moments of that."""
        ...


class GaussianNoiseModel:
    """x = H theta + b + eps, eps ~ N(0, C). `cov` [k] or [k, k]; no gain is H = I."""

    fixed = True

    def __init__(
        self, cov: FloatArray, bias: FloatArray | None = None, gain: FloatArray | None = None
    ):
        self.cov = cov
        self.bias = np.zeros(cov.shape[0]) if bias is None else bias
        self.gain = gain
        self.inverse = None if gain is None else np.linalg.inv(gain)

    def expected(self, theta: FloatArray) -> FloatArray:
        """E[x | theta]."""
        return (theta if self.gain is None else theta @ self.gain.T) + self.bias

    def draw(self, seed: int, generation: int, theta: FloatArray) -> FloatArray:
        """See `NoiseModel`."""
        z = np.random.default_rng([seed, generation, 1]).standard_normal(theta.shape)
        eps = z * np.sqrt(self.cov) if self.cov.ndim == 1 else z @ _root(self.cov).T
        return self.expected(theta) + eps

    def moments(self, theta: FloatArray) -> Moments:
        """See `NoiseModel`."""
        return self._pulled(self.cov)

    def pull(self, x: FloatArray, theta: FloatArray) -> FloatArray:
        """See `NoiseModel`."""
        r = x - self.bias
        return r if self.inverse is None else r @ self.inverse.T

    def fill(self, theta: FloatArray, x: FloatArray) -> tuple[FloatArray, Moments]:
        """See `NoiseModel`."""
        missing = np.isnan(x)
        if not missing.any():
            return x, self.moments(theta)
        r = np.where(missing, 0.0, x - self.expected(theta))
        if self.cov.ndim == 1:
            return self.expected(theta) + r, self._pulled(self.cov * (1 - missing.mean(axis=0)))
        known = np.zeros_like(self.cov)
        for pattern, count in zip(*np.unique(missing, axis=0, return_counts=True), strict=True):
            rows = (missing == pattern).all(axis=1)
            seen = ~pattern
            weights = np.linalg.lstsq(self.cov[np.ix_(seen, seen)], self.cov[seen], rcond=None)[0]
            r[rows] = r[np.ix_(rows, seen)] @ weights
            known += count / len(x) * self.cov[:, seen] @ weights
        return self.expected(theta) + r, self._pulled(known)

    def _pulled(self, cov: FloatArray) -> Moments:
        if self.inverse is not None:
            cov = self.inverse @ (np.diag(cov) if cov.ndim == 1 else cov) @ self.inverse.T
        return Moments(np.zeros(cov.shape[0]), cov)


class SampledNoiseModel:
    """Any law of `phenes.inputs` or a user-defined one, by its moments at the present theta."""

    fixed = False

    def __init__(self, law: Any, dim: int):
        self.law, self.dim = law, dim
        self._at: FloatArray | None = None
        shape = sample(law, 0, 0, np.zeros((2, dim))).shape
        if shape != (2, dim):
            raise ValueError(
                f"noise must realise x in the coordinates of theta, shape ({dim},), got"
                f" {type(law).__name__} with {shape[1:]}"
            )

    def draw(self, seed: int, generation: int, theta: FloatArray) -> FloatArray:
        """See `NoiseModel`."""
        return sample(self.law, seed, generation, theta)

    def moments(self, theta: FloatArray) -> Moments:
        """Moments at the mean of theta; estimated again once it moves by a fifth of the noise."""
        centre = np.atleast_2d(theta).mean(axis=0)
        if self._at is None or _far(centre - self._at, self._moments):
            self._at = centre
            self._moments = self._measure(centre)
        return self._moments

    def _measure(self, centre: FloatArray) -> Moments:
        r = sample(self.law, 0, 1, np.broadcast_to(centre, (DRAWS, self.dim))) - centre
        bias = r.mean(axis=0)
        cov = np.atleast_2d(np.cov(r.T))
        error = np.sqrt(np.outer(np.diag(cov), np.diag(cov)) / DRAWS)
        # correlations that are sampling error
        alone = np.abs(cov - np.diag(np.diag(cov))) < 5 * error
        small = np.abs(bias) < 5 * np.sqrt(np.diag(cov) / DRAWS)
        return Moments(np.where(small, 0.0, bias), np.diag(cov).copy() if alone.all() else cov)

    def pull(self, x: FloatArray, theta: FloatArray) -> FloatArray:
        """See `NoiseModel`."""
        return x

    def fill(self, theta: FloatArray, x: FloatArray) -> tuple[FloatArray, Moments]:
        """See `NoiseModel`."""
        return _fill(self.moments(theta), theta, x)


class LearntNoiseModel:
    """x = theta + eps, with the mean and covariance that were learnt from the data.

    The bias is left to the search.
    """

    fixed = True

    def __init__(self, bias: FloatArray, cov: FloatArray):
        self._moments = Moments(bias, cov)

    def draw(self, seed: int, generation: int, theta: FloatArray) -> FloatArray:
        """Refused: what is being learnt cannot be drawn from."""
        raise ValueError(
            "noise='learn' needs an experiment that realises x: give minimize realises=True, or use"
            " Optimizer"
        )

    def moments(self, theta: FloatArray) -> Moments:
        """See `NoiseModel`."""
        return self._moments

    def pull(self, x: FloatArray, theta: FloatArray) -> FloatArray:
        """See `NoiseModel`."""
        return x

    def fill(self, theta: FloatArray, x: FloatArray) -> tuple[FloatArray, Moments]:
        """See `NoiseModel`."""
        return _fill(self._moments, theta, x)


def is_learnt(noise: Any) -> bool:
    """True for noise="learn"."""
    return isinstance(noise, str) and noise == "learn"


def noise_model(noise: Any, dim: int) -> NoiseModel:
    """The model of what users give as `noise`, see `minimize`."""
    if is_learnt(noise):
        return LearntNoiseModel(np.zeros(dim), np.zeros(dim))
    if isinstance(noise, GaussianNoiseModel):  # from a file
        return noise
    if isinstance(noise, str | type):
        raise ValueError(
            "noise must be a number, a vector, a covariance matrix, an input law such as"
            f" phenes.inputs.GaussianNoise(0.1), or 'learn', got {_validate.quote(noise)}"
        )
    if hasattr(noise, "matrix"):  # a covariance of the library, as of `inputs.shared_errors`
        from phenes.inputs.gaussian import GaussianNoise

        return _of_gaussian(GaussianNoise(noise), dim)
    if hasattr(noise, "sample"):
        return _of_law(noise, dim)
    return GaussianNoiseModel(np.zeros(dim) if noise is None else _declared(noise, dim))


def _declared(noise: Any, dim: int) -> FloatArray:
    """Variances [d] or a covariance [d, d] of standard deviations or a covariance matrix."""
    array = _validate.numbers("noise", noise)
    if array.ndim == 0 and array == 0:
        return np.zeros(dim)
    _validate.finite("noise", array)
    if array.ndim > 2:
        raise ValueError(
            f"noise must be a scalar, a vector or a covariance matrix, got shape {array.shape}"
        )
    if array.ndim == 2:
        _validate.square("noise", array)
        _validate.semidefinite("noise", array, float(np.finfo(np.float64).eps))
    else:
        _validate.signs("noise", array, strict=False)  # a coordinate without noise is exact
        most = _validate.LARGEST
        if np.any(array > most):
            raise ValueError(f"noise must be at most {most:g}, got {_validate.describe(array)}")
        array = array**2
    return _of_length("noise", np.full(dim, array) if array.ndim == 0 else array, dim)


def _of_length(name: str, array: FloatArray, dim: int) -> FloatArray:
    if array.shape[0] != dim:
        raise ValueError(f"{name} must have {dim} coordinates to match x0, got {array.shape[0]}")
    return array


def _of_law(law: Any, dim: int) -> NoiseModel:
    from phenes.inputs.custom import Repeated
    from phenes.inputs.gaussian import GaussianNoise

    if isinstance(law, Repeated):
        raise ValueError(
            "noise must be the law of one evaluation, got Repeated: tell the same theta several"
            " times instead"
        )
    df = getattr(law, "df", None)
    if df is not None and np.size(df) == 1 and float(df) <= 1:
        raise ValueError(
            f"noise must have a mean, got {type(law).__name__} with df = {float(df):g}: give a df"
            " above 1"
        )
    return _of_gaussian(law, dim) if isinstance(law, GaussianNoise) else SampledNoiseModel(law, dim)


def _of_gaussian(law: GaussianNoise, dim: int) -> GaussianNoiseModel:
    from phenes.covariance import Diagonal

    gain = None if law.gain is None else np.asarray(law.gain, np.float64)
    if gain is not None and (gain.shape != (dim, dim) or np.linalg.matrix_rank(gain) < dim):
        raise ValueError(
            f"noise must have an invertible gain of shape ({dim}, {dim}) to match x0, got shape"
            f" {gain.shape}"
        )
    var = law.cov.var if isinstance(law.cov, Diagonal) else law.cov.matrix(dim)
    cov = np.asarray(var, np.float64)
    cov = _of_length("noise", np.full(dim, cov) if cov.ndim == 0 else cov, dim)
    if law.bias is None:
        return GaussianNoiseModel(cov, None, gain)
    bias = _of_length("the bias of noise", np.asarray(law.bias, np.float64), dim)
    return GaussianNoiseModel(cov, bias, gain)


def _fill(moments: Moments, theta: FloatArray, x: FloatArray) -> tuple[FloatArray, Moments]:
    """Fills missing coordinates by the Gaussian law of these moments."""
    full, known = GaussianNoiseModel(moments.cov, moments.bias).fill(theta, x)
    return full, Moments(moments.bias, known.cov)


def _far(step: FloatArray, moments: Moments) -> bool:
    return bool(np.any(step**2 > 0.04 * moments.variances))


def _root(cov: FloatArray) -> FloatArray:
    """A square root that semidefinite matrices have too."""
    value, vector = np.linalg.eigh(cov)
    return vector * np.sqrt(np.maximum(value, 0.0))
