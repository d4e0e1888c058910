# pyright: reportUnknownMemberType=false
"""The Gaussian search law of full covariance, and the score that all Gaussian laws share.

All closed forms of Gaussian search go through one identity. Whatever lies between theta and what
is conditioned on, if it is linear and Gaussian the score of one individual is

    d/d mean = y ,    d/d Sigma = 1/2 (y y' - B)

with y = Sigma^-1 (theta - m), B = Sigma^-1 for the genotype and y = H' M^-1 (x - Hm - b), B = H'
M^-1 H for the phenotype (docs/parts/search.md). `observed_score` is that identity in the
parameters of each family.
"""

from typing import Protocol, Self

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray
from numpy.typing import ArrayLike

from phenes import _arrays, _validate
from phenes._batching import cond_rare
from phenes._jax import cholesky, eigh, expm
from phenes._random import normal
from phenes._trees import replace
from phenes.covariance import Dense, has_full_rank
from phenes.laws.normal import Normal
from phenes.special import eps


class ObservedCovariance(Protocol):
    """B^-1, the covariance of what was observed as seen from theta; a `Covariance` is one."""

    def matrix(self, d: int) -> Float[Array, "d d"]:
        """B^-1."""
        ...

    def inverse(self, d: int) -> Float[Array, "d d"]:
        """B."""
        ...

    def inverse_diagonal(self, d: int) -> Float[Array, " d"]:
        """The diagonal of B."""
        ...


class Gaussian(eqx.Module):
    """N(mean, cov) with a full covariance; psi = (mean, cov).

    Parameters
    ----------
    mean : array_like, shape [d]
        Mean of the search law.
    cov : array_like, shape [d, d]
        Covariance of theta, symmetric and positive semidefinite. 0 is the paper's point population
        (section 4.2): all theta are the mean, and only what x does tells where to go. Every x must
        then be measured: theta has no score that could stand in, so `es` skips a generation with
        NaN, and counts it in `Info.skipped`.

    Raises
    ------
    ValueError
        If mean is no vector, or cov no covariance matrix of its size.

    Examples
    --------
    >>> q = phenes.search.Gaussian(jnp.zeros(3), jnp.eye(3))
    >>> q.sample(jax.random.key(0)).shape
    (3,)
    """

    mean: Float[Array, " d"]
    cov: Float[Array, "d d"]

    def __init__(self, mean: ArrayLike, cov: ArrayLike):
        self.mean = _arrays.vector("mean", mean)
        self.cov = _arrays.covariance_matrix("cov", cov, self.mean.size).astype(self.mean.dtype)

    @property
    def dim(self) -> int:
        """Number of coordinates of theta."""
        return self.mean.size

    @property
    def covariance(self) -> Dense:
        """S, with its factorisations."""
        return Dense(self.cov)

    def draw(self, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
        """Standard normal xi of n individuals."""
        return normal(key, (n, self.dim), self.mean.dtype)

    def sample(self, key: PRNGKeyArray) -> Float[Array, " d"]:
        """One theta."""
        return self.push(self.draw(key, 1)[0])

    def push(self, xi: Float[Array, " d"]) -> Float[Array, " d"]:
        """theta = mean + L xi."""
        return self.mean + self.covariance.root @ xi

    def centre(self) -> Float[Array, " d"]:
        """The mean."""
        return self.mean

    def mirror(self, xi: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """The partners of xi: `push` puts them on the other side of the mean."""
        return -xi

    def pull(self, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        """The xi that `push` turns into theta."""
        return self.covariance.whitener @ (theta - self.mean)

    def log_prob(self, theta: Float[Array, " d"]) -> Float[Array, ""]:
        """log q(theta)."""
        return Normal(self.mean, self.covariance).log_prob(theta)

    def score(self, theta: Float[Array, "n d"], w: Float[Array, " n"]) -> Self:
        """1/N sum_i w_i d log q(theta_i) / d psi."""
        covariance = self.covariance
        return self.observed_score(w, covariance.solve(theta - self.mean[None]), covariance)

    def observed_score(
        self, w: Float[Array, " n"], y: Float[Array, "n d"], observed: ObservedCovariance
    ) -> Self:
        """The identity above: y_i of each individual, B of all, weights w.

        Parameters
        ----------
        w : array, shape [n]
            Weights.
        y : array, shape [n, d]
            B (x_i - E x) pulled back to theta, of each individual.
        observed : ObservedCovariance
            B, shared by all individuals.

        Returns
        -------
        a gradient shaped like this law
        """
        n = w.size
        second = (y * w[:, None]).T @ y / n - jnp.mean(w) * observed.inverse(self.dim)
        return replace(self, mean=w @ y / n, cov=0.5 * second)

    def natural(self, g: Self) -> Self:
        """I[q]^-1 g: (S g_m, 2 S g_S S)."""
        return replace(self, mean=self.cov @ g.mean, cov=2 * self.cov @ g.cov @ self.cov)

    def _is_point(self) -> Bool[Array, ""]:
        """True if all theta are the mean: q then has no density, and psi is the mean alone."""
        return ~jnp.any(self.cov != 0)

    def where_point(self, of_x: Self, direction: Self) -> Self:
        """`direction`, or of a point population that of `of_x` for the mean.

        Parameters
        ----------
        of_x : a direction shaped like this law
            In the metric of x.
        direction : a direction shaped like this law
            In the metric of q.

        Returns
        -------
        a direction shaped like this law
        """
        return replace(direction, mean=jnp.where(self._is_point(), of_x.mean, direction.mean))

    def is_singular(self) -> bool:
        """True if q is known to have no density; while traced that is not known."""
        return _arrays.concrete(self.cov) and not has_full_rank(self.cov)

    def observed_natural(self, g: Self, observed: ObservedCovariance) -> Self:
        """I[P]^-1 g: (B^-1 g_m, 2 B^-1 g_S B^-1).

        Parameters
        ----------
        g : a gradient shaped like this law
            Gradient with respect to psi.
        observed : ObservedCovariance
            B, the inverse covariance of the marginal in theta.

        Returns
        -------
        a direction shaped like this law
        """
        inverse = observed.matrix(self.dim)
        return replace(self, mean=inverse @ g.mean, cov=2 * inverse @ g.cov @ inverse)

    def move(self, updates: Self) -> tuple[Self, Int[Array, ""]]:
        """psi + updates; a covariance that left the cone is projected back, and counted."""
        cov = self.cov + updates.cov
        cov, projected = project_psd(0.5 * (cov + cov.T))
        return replace(self, mean=self.mean + updates.mean, cov=cov), projected

    def with_std(self, std: Float[Array, ""] | float) -> Self:
        """The law with its covariance scaled to a mean variance of std^2."""
        # a point has no shape to keep
        cov = jnp.where(self._is_point(), jnp.eye(self.dim, dtype=self.cov.dtype), self.cov)
        scale = jnp.asarray(std, self.mean.dtype) ** 2 * self.dim / jnp.trace(cov)
        return replace(self, mean=self.mean, cov=cov * scale)


def project_psd(cov: Float[Array, "d d"]) -> tuple[Float[Array, "d d"], Int[Array, ""]]:
    """The nearest matrix with eigenvalues above rounding, and 1 if that was another matrix."""

    def outside(a: Array) -> Array:
        # a Cholesky factor is NaN if the matrix is not positive definite, at a tenth of the cost of
        # its eigenvalues
        return ~jnp.all(jnp.isfinite(cholesky(a)))

    def clip(a: Array) -> tuple[Array, Array]:
        # in a batch all come here together: those already inside leave unchanged
        value, vector = eigh(a)
        floor = eps(a) * a.shape[0] * jnp.max(jnp.abs(value))
        inside = (vector * jnp.maximum(value, floor)[None]) @ vector.T
        # a singular matrix has lost nothing, and a point population stays a point
        lost = (value[0] < -floor) | ~jnp.all(jnp.isfinite(a))
        return jnp.where(outside(a), 0.5 * (inside + inside.T), a), lost.astype(jnp.int32)

    def keep(a: Array) -> tuple[Array, Array]:
        return a, jnp.zeros((), jnp.int32)

    return cond_rare(outside, clip, keep)(cov)


def exponential(q: Gaussian, updates: Gaussian) -> tuple[Gaussian, Int[Array, ""]]:
    """Move along S <- L expm(L^-1 dS L^-T) L': positive definite for weights of any sign.

    With the natural gradient in the metric I[q] this is the step of xNES, Rao-Blackwellised
    (docs/parts/search.md).

    Parameters
    ----------
    q : Gaussian
        The search law before the step.
    updates : Gaussian
        The step of the optimiser, shaped like q.

    Returns
    -------
    q : Gaussian
        The search law after the step.
    projected : int array, shape []
        Always 0: the step cannot leave the domain.

    Raises
    ------
    ValueError
        If q has another covariance than a full one.

    Examples
    --------
    >>> p = phenes.inputs.GaussianNoise(0.1)
    >>> parts = phenes.estimators.phenotype, phenes.weightings.standardise, optax.sgd(0.1)
    >>> strategy = phenes.es(p, *parts, popsize=20, move=phenes.search.exponential)
    """
    _validate.family(q, q, Gaussian, "matrix-exponential step")
    root, whitener = q.covariance.root, q.covariance.whitener
    inner = whitener @ updates.cov @ whitener.T
    half = root @ expm(0.25 * (inner + inner.T))
    return replace(q, mean=q.mean + updates.mean, cov=half @ half.T), jnp.zeros((), jnp.int32)
