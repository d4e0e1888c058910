# pyright: reportUnknownMemberType=false
"""Gaussian search laws of independent coordinates: diagonal and isotropic.

`observed_score` is the identity of `full_gaussian.py` in the parameters of each family.
"""

from typing import Self

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray
from numpy.typing import ArrayLike

from phenes import _arrays, _validate
from phenes._jax import pseudo_inverse, solve
from phenes._random import normal
from phenes._trees import replace, shifted
from phenes.covariance import Dense, Diagonal, LowRank
from phenes.search.full_gaussian import Gaussian, ObservedCovariance


class DiagonalGaussian(eqx.Module):
    """N(mean, diag(exp(2 log_std))), independent coordinates; psi = (mean, log_std).

    Parameters
    ----------
    mean : array_like, shape [d]
        Mean of the search law.
    std : array_like, shape [] or [d]
        Standard deviation of theta, one for all coordinates or one for each.

    Raises
    ------
    ValueError
        If mean is no vector, or std not positive or of another size.

    Examples
    --------
    >>> phenes.search.DiagonalGaussian(jnp.zeros(3), 0.5).std.shape
    (3,)
    """

    mean: Float[Array, " d"]
    log_std: Float[Array, " d"]

    def __init__(self, mean: ArrayLike, std: ArrayLike):
        self.mean = _arrays.vector("mean", mean)
        std = _arrays.positive("std", std).astype(self.mean.dtype)
        if std.ndim:
            _validate.shape("std", std, self.mean.shape, "the mean")
        self.log_std = jnp.log(jnp.broadcast_to(std, self.mean.shape))

    @property
    def dim(self) -> int:
        """Number of coordinates of theta."""
        return self.mean.size

    @property
    def std(self) -> Float[Array, " d"]:
        """Standard deviation of each coordinate."""
        return jnp.exp(self.log_std)

    @property
    def covariance(self) -> Diagonal:
        """S."""
        return Diagonal(jnp.exp(2 * self.log_std))

    def draw(self, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
        """Standard normal xi of n individuals."""
        return normal(key, (n, self.dim), self.mean.dtype)

    def sample(self, key: PRNGKeyArray) -> Float[Array, " d"]:
        """One theta."""
        return self.push(self.draw(key, 1)[0])

    def push(self, xi: Float[Array, " d"]) -> Float[Array, " d"]:
        """theta = mean + L xi."""
        return self.mean + self.std * xi

    def centre(self) -> Float[Array, " d"]:
        """The mean."""
        return self.mean

    def mirror(self, xi: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """The partners of xi: `push` puts them on the other side of the mean."""
        return -xi

    def pull(self, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        """The xi that `push` turns into theta."""
        return (theta - self.mean) / self.std

    def coordinate_log_prob(self, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        """log q of each coordinate."""
        z = self.pull(theta)
        return -0.5 * z * z - self.log_std - 0.5 * jnp.log(2 * jnp.pi)

    def log_prob(self, theta: Float[Array, " d"]) -> Float[Array, ""]:
        """log q(theta)."""
        return jnp.sum(self.coordinate_log_prob(theta))

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
        second = w @ y**2 / n - jnp.mean(w) * observed.inverse_diagonal(self.dim)
        return replace(self, mean=w @ y / n, log_std=jnp.exp(2 * self.log_std) * second)

    def natural(self, g: Self) -> Self:
        """I[q] = diag(1/s^2, 2)."""
        return replace(self, mean=jnp.exp(2 * self.log_std) * g.mean, log_std=g.log_std / 2)

    def observed_natural(self, g: Self, observed: ObservedCovariance) -> Self:
        """I[P] has B for the mean and 2 s_k^2 s_l^2 B_kl^2 for log s.

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
        var = jnp.exp(2 * self.log_std)
        if isinstance(observed, Diagonal):
            v = observed.vector(self.dim)
            return replace(self, mean=v * g.mean, log_std=g.log_std / (2 * (var / v) ** 2))
        fisher = 2 * var[:, None] * var[None] * observed.inverse(self.dim) ** 2
        # more inputs than outputs may leave spreads of which x says nothing: those stay
        regular = isinstance(observed, LowRank | Dense)
        step = solve(fisher, g.log_std) if regular else pseudo_inverse(fisher) @ g.log_std
        return replace(self, mean=observed.matrix(self.dim) @ g.mean, log_std=step)

    def move(self, updates: Self) -> tuple[Self, Int[Array, ""]]:
        """psi + updates: every psi is inside the domain."""
        return shifted(self, updates), jnp.zeros((), jnp.int32)

    def with_std(self, std: Float[Array, ""] | float) -> Self:
        """The law with its spreads scaled to a geometric mean of std."""
        shift = jnp.log(jnp.asarray(std, self.mean.dtype)) - jnp.mean(self.log_std)
        return replace(self, mean=self.mean, log_std=self.log_std + shift)


class IsotropicGaussian(eqx.Module):
    """N(mean, exp(2 log_std) I), one spread for all coordinates; psi = (mean, log_std).

    Parameters
    ----------
    mean : array_like, shape [d]
        Mean of the search law.
    std : array_like, shape []
        Standard deviation of every coordinate of theta.

    Raises
    ------
    ValueError
        If mean is no vector, or std not one positive number.

    Examples
    --------
    >>> phenes.search.IsotropicGaussian(jnp.zeros(3), 0.5).dim
    3
    """

    mean: Float[Array, " d"]
    log_std: Float[Array, ""]

    def __init__(self, mean: ArrayLike, std: ArrayLike):
        self.mean = _arrays.vector("mean", mean)
        std = _arrays.positive("std", std).astype(self.mean.dtype)
        self.log_std = jnp.log(_validate.shape("std", std, (), "an isotropic law"))

    @property
    def dim(self) -> int:
        """Number of coordinates of theta."""
        return self.mean.size

    @property
    def std(self) -> Float[Array, " d"]:
        """Standard deviation of each coordinate."""
        return jnp.broadcast_to(jnp.exp(self.log_std), (self.dim,))

    @property
    def covariance(self) -> Diagonal:
        """S."""
        return Diagonal(jnp.exp(2 * self.log_std))

    def draw(self, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
        """Standard normal xi of n individuals."""
        return normal(key, (n, self.dim), self.mean.dtype)

    def sample(self, key: PRNGKeyArray) -> Float[Array, " d"]:
        """One theta."""
        return self.push(self.draw(key, 1)[0])

    def push(self, xi: Float[Array, " d"]) -> Float[Array, " d"]:
        """theta = mean + L xi."""
        return self.mean + jnp.exp(self.log_std) * xi

    def centre(self) -> Float[Array, " d"]:
        """The mean."""
        return self.mean

    def mirror(self, xi: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """The partners of xi: `push` puts them on the other side of the mean."""
        return -xi

    def pull(self, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        """The xi that `push` turns into theta."""
        return (theta - self.mean) * jnp.exp(-self.log_std)

    def coordinate_log_prob(self, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        """log q of each coordinate."""
        z = self.pull(theta)
        return -0.5 * z * z - self.log_std - 0.5 * jnp.log(2 * jnp.pi)

    def log_prob(self, theta: Float[Array, " d"]) -> Float[Array, ""]:
        """log q(theta)."""
        return jnp.sum(self.coordinate_log_prob(theta))

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
        second = w @ jnp.sum(y**2, axis=1) / n - jnp.mean(w) * jnp.sum(
            observed.inverse_diagonal(self.dim)
        )
        return replace(self, mean=w @ y / n, log_std=jnp.exp(2 * self.log_std) * second)

    def natural(self, g: Self) -> Self:
        """I[q] = diag(1/s^2, 2 d)."""
        return replace(
            self, mean=jnp.exp(2 * self.log_std) * g.mean, log_std=g.log_std / (2 * self.dim)
        )

    def observed_natural(self, g: Self, observed: ObservedCovariance) -> Self:
        """I[P] has B for the mean and 2 s^4 tr(B^2) for log s.

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
        s4 = jnp.exp(4 * self.log_std)
        if isinstance(observed, Diagonal):
            v = observed.vector(self.dim)
            return replace(self, mean=v * g.mean, log_std=g.log_std / (2 * s4 * jnp.sum(1 / v**2)))
        fisher = 2 * s4 * jnp.sum(observed.inverse(self.dim) ** 2)
        return replace(self, mean=observed.matrix(self.dim) @ g.mean, log_std=g.log_std / fisher)

    def move(self, updates: Self) -> tuple[Self, Int[Array, ""]]:
        """psi + updates: every psi is inside the domain."""
        return shifted(self, updates), jnp.zeros((), jnp.int32)

    def with_std(self, std: Float[Array, ""] | float) -> Self:
        """The law with the same mean and another spread."""
        return replace(self, mean=self.mean, log_std=jnp.log(jnp.asarray(std, self.mean.dtype)))


GaussianSearch = Gaussian | DiagonalGaussian | IsotropicGaussian
