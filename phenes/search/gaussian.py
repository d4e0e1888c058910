"""Gaussian search laws: full covariance, diagonal, isotropic.

All closed forms of Gaussian search go through one identity. Whatever the channel between theta and
what is conditioned on, if it is Gaussian the score of one individual is

    d/d mean = y ,    d/d Sigma = 1/2 (y y' - B)

with y = Sigma^-1 (theta - m), B = Sigma^-1 for the genotype and y = H' M^-1 (x - Hm - b), B = H'
M^-1 H for the phenotype (docs/parts/search.md). `channel_score` is that identity in the parameters
of each family.
"""

from typing import Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from phenes import _arrays, _validate
from phenes._batching import cond_rare
from phenes._random import normal
from phenes._trees import replace
from phenes.covariance import Dense, Diagonal
from phenes.laws.normal import Normal


class Channel(Protocol):
    """What `channel_score` has to know of B."""

    def matrix(self, d: int) -> Float[Array, "d d"]: ...  # B^-1
    def inverse(self, d: int) -> Float[Array, "d d"]: ...  # B
    def inverse_diagonal(self, d: int) -> Float[Array, " d"]: ...


class Gaussian(eqx.Module):
    """N(mean, cov) with psi = (mean [d], cov [d, d])."""

    mean: Float[Array, " d"]
    cov: Float[Array, "d d"]

    def __init__(self, mean, cov):
        self.mean = _arrays.vector("mean", mean)
        self.cov = _arrays.covariance_matrix("cov", cov, self.mean.size).astype(self.mean.dtype)

    @property
    def dim(self) -> int:
        return self.mean.size

    @property
    def covariance(self) -> Dense:
        return Dense(self.cov)

    def draw(self, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
        return normal(key, (n, self.dim), self.mean.dtype)

    def sample(self, key: PRNGKeyArray) -> Float[Array, " d"]:
        return self.push(self.draw(key, 1)[0])

    def push(self, xi: Float[Array, " d"]) -> Float[Array, " d"]:
        return self.mean + self.covariance.root @ xi

    def mirror(self, xi: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """The partners of xi: `push` puts them on the other side of the mean."""
        return -xi

    def pull(self, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        """The xi that `push` turns into theta."""
        return self.covariance.whitener @ (theta - self.mean)

    def log_prob(self, theta: Float[Array, " d"]) -> Float[Array, ""]:
        return Normal(self.mean, self.covariance).log_prob(theta)

    def score(self, theta: Float[Array, "n d"], w: Float[Array, " n"]) -> "Gaussian":
        """1/N sum_i w_i d log q(theta_i) / d psi."""
        covariance = self.covariance
        return self.channel_score(w, covariance.solve(theta - self.mean[None]), covariance)

    def channel_score(
        self, w: Float[Array, " n"], y: Float[Array, "n d"], channel: Channel
    ) -> "Gaussian":
        n = w.size
        second = (y * w[:, None]).T @ y / n - jnp.mean(w) * channel.inverse(self.dim)
        return replace(self, mean=w @ y / n, cov=0.5 * second)

    def natural(self, g: "Gaussian") -> "Gaussian":
        """I[q]^-1 g: (S g_m, 2 S g_S S)."""
        return replace(self, mean=self.cov @ g.mean, cov=2 * self.cov @ g.cov @ self.cov)

    def channel_natural(self, g: "Gaussian", channel: Channel) -> "Gaussian":
        """I[P]^-1 g: (B^-1 g_m, 2 B^-1 g_S B^-1)."""
        inverse = channel.matrix(self.dim)
        return replace(self, mean=inverse @ g.mean, cov=2 * inverse @ g.cov @ inverse)

    def move(self, updates: "Gaussian") -> tuple["Gaussian", Int[Array, ""]]:
        """psi + updates; a covariance that left the cone is projected back, and counted."""
        cov = self.cov + updates.cov
        cov, projected = project_psd(0.5 * (cov + cov.T))
        return replace(self, mean=self.mean + updates.mean, cov=cov), projected

    def with_std(self, std: Float[Array, ""] | float) -> "Gaussian":
        """The same shape at a mean variance of std^2."""
        scale = jnp.asarray(std, self.mean.dtype) ** 2 * self.dim / jnp.trace(self.cov)
        return replace(self, mean=self.mean, cov=self.cov * scale)


class DiagonalGaussian(eqx.Module):
    """N(mean, diag(exp(2 log_std))) with psi = (mean [d], log_std [d])."""

    mean: Float[Array, " d"]
    log_std: Float[Array, " d"]

    def __init__(self, mean, std):
        self.mean = _arrays.vector("mean", mean)
        std = _arrays.positive("std", std).astype(self.mean.dtype)
        if std.ndim:
            _validate.shape("std", std, self.mean.shape, "the mean")
        self.log_std = jnp.log(jnp.broadcast_to(std, self.mean.shape))

    @property
    def dim(self) -> int:
        return self.mean.size

    @property
    def std(self) -> Float[Array, " d"]:
        return jnp.exp(self.log_std)

    @property
    def covariance(self) -> Diagonal:
        return Diagonal(jnp.exp(2 * self.log_std))

    def draw(self, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
        return normal(key, (n, self.dim), self.mean.dtype)

    def sample(self, key: PRNGKeyArray) -> Float[Array, " d"]:
        return self.push(self.draw(key, 1)[0])

    def push(self, xi: Float[Array, " d"]) -> Float[Array, " d"]:
        return self.mean + self.std * xi

    def mirror(self, xi: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """The partners of xi: `push` puts them on the other side of the mean."""
        return -xi

    def pull(self, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        return (theta - self.mean) / self.std

    def coordinate_log_prob(self, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        z = self.pull(theta)
        return -0.5 * z * z - self.log_std - 0.5 * jnp.log(2 * jnp.pi)

    def log_prob(self, theta: Float[Array, " d"]) -> Float[Array, ""]:
        return jnp.sum(self.coordinate_log_prob(theta))

    def score(self, theta: Float[Array, "n d"], w: Float[Array, " n"]) -> "DiagonalGaussian":
        covariance = self.covariance
        return self.channel_score(w, covariance.solve(theta - self.mean[None]), covariance)

    def channel_score(
        self, w: Float[Array, " n"], y: Float[Array, "n d"], channel: Channel
    ) -> "DiagonalGaussian":
        n = w.size
        second = w @ y**2 / n - jnp.mean(w) * channel.inverse_diagonal(self.dim)
        return replace(self, mean=w @ y / n, log_std=jnp.exp(2 * self.log_std) * second)

    def natural(self, g: "DiagonalGaussian") -> "DiagonalGaussian":
        """I[q] = diag(1/s^2, 2)."""
        return replace(self, mean=jnp.exp(2 * self.log_std) * g.mean, log_std=g.log_std / 2)

    def channel_natural(self, g: "DiagonalGaussian", channel: Channel) -> "DiagonalGaussian":
        """I[P] has B for the mean and 2 s_k^2 s_l^2 B_kl^2 for log s."""
        var = jnp.exp(2 * self.log_std)
        if isinstance(channel, Diagonal):
            v = channel.vector(self.dim)
            return replace(self, mean=v * g.mean, log_std=g.log_std / (2 * (var / v) ** 2))
        fisher = 2 * var[:, None] * var[None] * channel.inverse(self.dim) ** 2
        return replace(
            self,
            mean=channel.matrix(self.dim) @ g.mean,
            log_std=jnp.linalg.solve(fisher, g.log_std),
        )

    def move(self, updates: "DiagonalGaussian") -> tuple["DiagonalGaussian", Int[Array, ""]]:
        return eqx.apply_updates(self, updates), jnp.zeros((), jnp.int32)

    def with_std(self, std: Float[Array, ""] | float) -> "DiagonalGaussian":
        """The same proportions at a geometric mean of std."""
        shift = jnp.log(jnp.asarray(std, self.mean.dtype)) - jnp.mean(self.log_std)
        return replace(self, mean=self.mean, log_std=self.log_std + shift)


class IsotropicGaussian(eqx.Module):
    """N(mean, exp(2 log_std) I) with psi = (mean [d], log_std [])."""

    mean: Float[Array, " d"]
    log_std: Float[Array, ""]

    def __init__(self, mean, std):
        self.mean = _arrays.vector("mean", mean)
        std = _arrays.positive("std", std).astype(self.mean.dtype)
        self.log_std = jnp.log(_validate.shape("std", std, (), "an isotropic law"))

    @property
    def dim(self) -> int:
        return self.mean.size

    @property
    def std(self) -> Float[Array, " d"]:
        return jnp.broadcast_to(jnp.exp(self.log_std), (self.dim,))

    @property
    def covariance(self) -> Diagonal:
        return Diagonal(jnp.exp(2 * self.log_std))

    def draw(self, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
        return normal(key, (n, self.dim), self.mean.dtype)

    def sample(self, key: PRNGKeyArray) -> Float[Array, " d"]:
        return self.push(self.draw(key, 1)[0])

    def push(self, xi: Float[Array, " d"]) -> Float[Array, " d"]:
        return self.mean + jnp.exp(self.log_std) * xi

    def mirror(self, xi: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """The partners of xi: `push` puts them on the other side of the mean."""
        return -xi

    def pull(self, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        return (theta - self.mean) * jnp.exp(-self.log_std)

    def coordinate_log_prob(self, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        z = self.pull(theta)
        return -0.5 * z * z - self.log_std - 0.5 * jnp.log(2 * jnp.pi)

    def log_prob(self, theta: Float[Array, " d"]) -> Float[Array, ""]:
        return jnp.sum(self.coordinate_log_prob(theta))

    def score(self, theta: Float[Array, "n d"], w: Float[Array, " n"]) -> "IsotropicGaussian":
        covariance = self.covariance
        return self.channel_score(w, covariance.solve(theta - self.mean[None]), covariance)

    def channel_score(
        self, w: Float[Array, " n"], y: Float[Array, "n d"], channel: Channel
    ) -> "IsotropicGaussian":
        n = w.size
        second = w @ jnp.sum(y**2, axis=1) / n - jnp.mean(w) * jnp.sum(
            channel.inverse_diagonal(self.dim)
        )
        return replace(self, mean=w @ y / n, log_std=jnp.exp(2 * self.log_std) * second)

    def natural(self, g: "IsotropicGaussian") -> "IsotropicGaussian":
        """I[q] = diag(1/s^2, 2 d)."""
        return replace(
            self, mean=jnp.exp(2 * self.log_std) * g.mean, log_std=g.log_std / (2 * self.dim)
        )

    def channel_natural(self, g: "IsotropicGaussian", channel: Channel) -> "IsotropicGaussian":
        """I[P] has B for the mean and 2 s^4 tr(B^2) for log s."""
        s4 = jnp.exp(4 * self.log_std)
        if isinstance(channel, Diagonal):
            v = channel.vector(self.dim)
            return replace(self, mean=v * g.mean, log_std=g.log_std / (2 * s4 * jnp.sum(1 / v**2)))
        fisher = 2 * s4 * jnp.sum(channel.inverse(self.dim) ** 2)
        return replace(self, mean=channel.matrix(self.dim) @ g.mean, log_std=g.log_std / fisher)

    def move(self, updates: "IsotropicGaussian") -> tuple["IsotropicGaussian", Int[Array, ""]]:
        return eqx.apply_updates(self, updates), jnp.zeros((), jnp.int32)

    def with_std(self, std: Float[Array, ""] | float) -> "IsotropicGaussian":
        return replace(self, mean=self.mean, log_std=jnp.log(jnp.asarray(std, self.mean.dtype)))


GaussianSearch = Gaussian | DiagonalGaussian | IsotropicGaussian


def project_psd(cov: Float[Array, "d d"]) -> tuple[Float[Array, "d d"], Int[Array, ""]]:
    """The nearest matrix with eigenvalues above rounding, and 1 if that was another matrix."""

    def outside(a):
        # a Cholesky factor is NaN if the matrix is not positive definite, at a tenth of the cost of
        # its eigenvalues
        return ~jnp.all(jnp.isfinite(jnp.linalg.cholesky(a)))

    def clip(a):
        # in a batch all come here together: those already inside leave unchanged
        value, vector = jnp.linalg.eigh(a)
        floor = (
            jnp.finfo(a.dtype).eps
            * a.shape[0]
            * jnp.maximum(jnp.max(jnp.abs(value)), jnp.finfo(a.dtype).tiny)
        )
        inside = (vector * jnp.maximum(value, floor)[None]) @ vector.T
        lost = outside(a)
        return jnp.where(lost, 0.5 * (inside + inside.T), a), lost.astype(jnp.int32)

    return cond_rare(outside, clip, lambda a: (a, jnp.zeros((), jnp.int32)))(cov)


def exponential(q: Gaussian, updates: Gaussian) -> tuple[Gaussian, Int[Array, ""]]:
    """Move along S <- L expm(L^-1 dS L^-T) L': positive definite for weights of any sign.

    With the natural gradient in the metric I[q] this is the step of xNES, Rao-Blackwellised
    (docs/parts/search.md): `es(..., move=exponential)`.
    """
    _validate.family(q, q, Gaussian, "matrix-exponential step")
    root, whitener = q.covariance.root, q.covariance.whitener
    inner = whitener @ updates.cov @ whitener.T
    half = root @ jax.scipy.linalg.expm(0.25 * (inner + inner.T))
    return replace(q, mean=q.mean + updates.mean, cov=half @ half.T), jnp.zeros((), jnp.int32)
