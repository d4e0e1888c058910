"""The multivariate normal law over any `Covariance`, with coordinates that were not measured (NaN)
conditioned out.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, PRNGKeyArray

from phenes._batching import cond_rare
from phenes.covariance import Covariance, Dense


class Normal(eqx.Module):
    """N(mean, cov)."""

    mean: Float[Array, " d"]
    cov: Covariance

    def sample(self, key: PRNGKeyArray) -> Float[Array, " d"]:
        return self.mean + self.cov.sample(key, 1, self.mean.size)[0]

    def log_prob(self, x: Float[Array, " d"]) -> Float[Array, ""]:
        """Log-density of the coordinates of x that are not NaN."""
        measured = ~jnp.isnan(x)
        if isinstance(self.cov, Dense):
            return lax.cond(
                jnp.all(measured),
                lambda: _log_density(self.cov, x - self.mean),
                lambda: self._some(x, measured),
            )
        return self._some(x, measured)

    def log_prob_all(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """`log_prob` of many, with one factorisation for all if everything was measured. Not for
        use inside `jax.grad`.
        """

        def all_measured(law, x):
            r = x - law.mean[None]
            quadratic = jnp.sum(r * law.cov.solve(r), axis=1)
            return -0.5 * (
                quadratic + law.cov.logdet(r.shape[1]) + r.shape[1] * jnp.log(2 * jnp.pi)
            )

        def some_measured(law, x):
            return jax.vmap(lambda one: law._some(one, ~jnp.isnan(one)))(x)

        return cond_rare(lambda law, x: jnp.any(jnp.isnan(x)), some_measured, all_measured)(self, x)

    def _some(self, x, measured):
        r = jnp.where(measured, jnp.where(measured, x, 0.0) - self.mean, 0.0)
        unmeasured = jnp.sum(~measured, dtype=x.dtype) * 0.5 * jnp.log(2 * jnp.pi)
        return _log_density(self.cov.masked(measured), r) + unmeasured


class Mixture(eqx.Module):
    """sum_k exp(log_weight_k) component_k, the components stacked along the first axis of their
    leaves.
    """

    log_weight: Float[Array, " k"]
    components: Normal

    def sample(self, key: PRNGKeyArray) -> Float[Array, " d"]:
        which, what = jax.random.split(key)
        k = jax.random.categorical(which, self.log_weight)
        return jax.tree.map(lambda leaf: leaf[k], self.components).sample(what)

    def log_prob(self, x: Float[Array, " d"]) -> Float[Array, ""]:
        each = jax.vmap(lambda component: component.log_prob(x))(self.components)
        return jax.nn.logsumexp(self.log_weight + each)


def _log_density(cov: Covariance, r: Float[Array, " d"]) -> Float[Array, ""]:
    quadratic = jnp.sum(r * cov.solve(r[None])[0])
    return -0.5 * (quadratic + cov.logdet(r.size) + r.size * jnp.log(2 * jnp.pi))
