# pyright: reportUnknownMemberType=false
"""The multivariate normal law over any `Covariance`, and mixtures of it.

Coordinates that were not measured (NaN) are conditioned out.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from phenes._batching import cond_rare
from phenes._jax import cond
from phenes._trees import take
from phenes.covariance import Covariance, Degenerate, Dense, Regular


class Normal(eqx.Module):
    """N(mean, cov)."""

    mean: Float[Array, " d"]
    cov: Covariance

    def sample(self, key: PRNGKeyArray) -> Float[Array, " d"]:
        """One draw."""
        return self.mean + self.cov.sample(key, 1, self.mean.size)[0]

    def log_prob(self, x: Float[Array, " d"]) -> Float[Array, ""]:
        """Log-density of the coordinates of x that are not NaN."""
        measured = ~jnp.isnan(x)
        if not isinstance(self.cov, Dense):
            return self.log_prob_measured(x, measured)
        return cond(
            jnp.all(measured),
            lambda: self.cov.log_density(x - self.mean),
            lambda: self.log_prob_measured(x, measured),
        )

    def log_prob_all(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """`log_prob` of many, with one factorisation for all if everything was measured.

        Not for use inside `jax.grad`.
        """
        if isinstance(self.cov, Degenerate):
            return jax.vmap(self.log_prob)(x)

        def all_measured(mean: Array, cov: Regular, x: Array) -> Array:
            r = x - mean[None]
            quadratic = jnp.sum(r * cov.solve(r), axis=1)
            return -0.5 * (quadratic + cov.logdet(r.shape[1]) + r.shape[1] * jnp.log(2 * jnp.pi))

        def some_measured(mean: Array, cov: Regular, x: Array) -> Array:
            return jax.vmap(Normal(mean, cov).log_prob_measured)(x, ~jnp.isnan(x))

        def missing(mean: Array, cov: Regular, x: Array) -> Array:
            return jnp.any(jnp.isnan(x))

        return cond_rare(missing, some_measured, all_measured)(self.mean, self.cov, x)

    def log_prob_measured(
        self, x: Float[Array, " d"], measured: Bool[Array, " d"]
    ) -> Float[Array, ""]:
        """Log-density of the coordinates in `measured`."""
        r = jnp.where(measured, jnp.where(measured, x, 0.0) - self.mean, 0.0)
        unmeasured = jnp.sum(~measured, dtype=x.dtype) * 0.5 * jnp.log(2 * jnp.pi)
        return self.cov.masked(measured).log_density(r) + unmeasured


class Mixture(eqx.Module):
    """sum_k exp(log_weight_k) component_k, the components stacked along their first axis."""

    log_weight: Float[Array, " k"]
    components: Normal

    def sample(self, key: PRNGKeyArray) -> Float[Array, " d"]:
        """One draw."""
        which, what = jax.random.split(key)
        k = jax.random.categorical(which, self.log_weight)
        return take(self.components, k).sample(what)

    def log_prob(self, x: Float[Array, " d"]) -> Float[Array, ""]:
        """Log-density of the coordinates of x that are not NaN."""

        def one(component: Normal) -> Array:
            return component.log_prob(x)

        each = jax.vmap(one)(self.components)
        return jax.nn.logsumexp(self.log_weight + each)
