"""Gaussian mixtures as input noise, and the multivariate Student-t law, which is one in its
scale.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import gammaln
from jaxtyping import Array, Float, PRNGKeyArray

from phenes import _arrays, _validate
from phenes.covariance import Covariance, as_covariance
from phenes.inputs.gaussian import GaussianNoise
from phenes.laws.normal import Mixture
from phenes.search.gaussian import DiagonalGaussian, Gaussian, GaussianSearch, IsotropicGaussian


class GaussianMixtureNoise(eqx.Module):
    """x = theta + eps, eps ~ sum_k weight_k N(bias_k, C_k): a machine that is usually good and
    sometimes not.

    `weights` [k], `scales` a sequence of k scales (each as for GaussianNoise, all of one kind),
    `biases` [k, d] or None.
    """

    log_weight: Float[Array, " k"]
    components: GaussianNoise  # stacked along the first axis

    def __init__(self, weights, scales, biases=None):
        weights = _arrays.positive("weights", weights)
        if (
            weights.ndim != 1
            or len(scales) != weights.size
            or (biases is not None and len(biases) != weights.size)
        ):
            raise ValueError(
                f"weights, scales and biases must be of one length, got {weights.shape} and"
                f" {len(scales)} scales"
            )
        self.log_weight = jnp.log(weights / jnp.sum(weights))
        laws = [
            GaussianNoise(scale, None if biases is None else biases[k])
            for k, scale in enumerate(scales)
        ]
        try:
            self.components = jax.tree.map(lambda *leaves: jnp.stack(leaves), *laws)
        except ValueError:
            raise ValueError(
                "scales must be all scalars, all vectors or all matrices of one size, got a mixture"
                " of kinds"
            ) from None

    def sample(self, key: PRNGKeyArray, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        which, what = jax.random.split(key)
        k = jax.random.categorical(which, self.log_weight)
        return jax.tree.map(lambda leaf: leaf[k], self.components).sample(what, theta)

    def log_prob(self, x: Float[Array, " d"], theta: Float[Array, " d"]) -> Float[Array, ""]:
        each = jax.vmap(lambda p: p.log_prob(x, theta))(self.components)
        return jax.nn.logsumexp(self.log_weight + each)

    def marginal(self, q: GaussianSearch) -> Mixture:
        return Mixture(self.log_weight, jax.vmap(lambda p: p.marginal(q))(self.components))

    def posterior(self, q: GaussianSearch, x: Float[Array, " d"]) -> Mixture:
        each = jax.vmap(lambda p: p.marginal(q).log_prob(x))(self.components)
        log_weight = jax.nn.log_softmax(self.log_weight + each)
        return Mixture(log_weight, jax.vmap(lambda p: p.posterior(q, x))(self.components))

    def marginal_score(
        self, q: GaussianSearch, x: Float[Array, "n d"], w: Float[Array, " n"]
    ) -> GaussianSearch:
        """sum_k responsibility_k score^(k) (docs/parts/inputs.md)."""
        return _responsible_score(self.log_weight, self.components, q, x, w)


class MultivariateTNoise(eqx.Module):
    """x = theta + eps with eps multivariate Student-t: all coordinates share the luck of the draw.

    A scale mixture of Gaussians over tau ~ Gamma(df/2, df/2), integrated by the trapezoidal rule in
    log tau (error about 1e-9).
    """

    cov: Covariance
    df: Float[Array, ""]

    def __init__(self, scale, df):
        self.cov = as_covariance("scale", scale)
        self.df = _validate.shape("df", _arrays.positive("df", df), (), "one law")

    def sample(self, key: PRNGKeyArray, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        normal, chi = jax.random.split(key)
        tau = jax.random.gamma(chi, self.df / 2, dtype=theta.dtype) / (self.df / 2)
        return theta + self.cov.sample(normal, 1, theta.size)[0] / jnp.sqrt(tau)

    def log_prob(self, x: Float[Array, " d"], theta: Float[Array, " d"]) -> Float[Array, ""]:
        """Log-density of the measured coordinates: marginals of a multivariate t are t again."""
        measured = ~jnp.isnan(x)
        d = jnp.sum(measured, dtype=x.dtype)
        r = jnp.where(measured, jnp.where(measured, x, 0.0) - theta, 0.0)
        cov = self.cov.masked(measured)
        quadratic = jnp.sum(r * cov.solve(r[None])[0])
        half = 0.5 * (self.df + d)
        norm = (
            gammaln(half)
            - gammaln(self.df / 2)
            - 0.5 * d * jnp.log(self.df * jnp.pi)
            - 0.5 * cov.logdet(theta.size)
        )
        return norm - half * jnp.log1p(quadratic / self.df)

    def marginal(self, q: GaussianSearch) -> Mixture:
        log_weight, components = self._scale_mixture()
        return Mixture(log_weight, jax.vmap(lambda p: p.marginal(q))(components))

    def posterior(self, q: GaussianSearch, x: Float[Array, " d"]) -> Mixture:
        log_weight, components = self._scale_mixture()
        each = jax.vmap(lambda p: p.marginal(q).log_prob(x))(components)
        return Mixture(
            jax.nn.log_softmax(log_weight + each), jax.vmap(lambda p: p.posterior(q, x))(components)
        )

    def marginal_score(
        self, q: GaussianSearch, x: Float[Array, "n d"], w: Float[Array, " n"]
    ) -> GaussianSearch:
        return _responsible_score(*self._scale_mixture(), q, x, w)

    def _scale_mixture(self) -> tuple[Float[Array, " k"], GaussianNoise]:
        log_tau, log_weight = scale_nodes(self.df)
        components = jax.vmap(lambda t: GaussianNoise(self.cov.scaled(jnp.exp(-t))))(log_tau)
        return log_weight, components


NODES = 96


def scale_nodes(df: Float[Array, ""]) -> tuple[Float[Array, " k"], Float[Array, " k"]]:
    """log tau_k and log weights for tau ~ Gamma(df/2, rate df/2), by the trapezoidal rule in log
    tau.

    The density of log tau is analytic and falls at least exponentially on both sides, where the
    trapezoidal rule converges exponentially.
    """
    t = jnp.linspace(-72.0 / df, jnp.log(1 + 80.0 / df), NODES)
    half = df / 2
    log_density = half * jnp.log(half) - gammaln(half) + half * (t - jnp.exp(t))
    return t, log_density + jnp.log(t[1] - t[0])


def _responsible_score(log_weight, components, q, x, w):
    """1/N sum_i w_i sum_k resp_ik s^(k)(x_i), with one batch of scores for each component."""
    _validate.family(components, q, (Gaussian, DiagonalGaussian, IsotropicGaussian))

    log_density = jax.vmap(lambda p: p.marginal(q).log_prob_all(x))(components)
    responsibility = jax.nn.softmax(log_weight[:, None] + log_density, axis=0)
    each = jax.vmap(lambda p, r: p.marginal_score(q, x, w * r))(components, responsibility)
    return jax.tree.map(lambda leaf: jnp.sum(leaf, axis=0), each)
