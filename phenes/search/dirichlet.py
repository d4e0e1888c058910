"""Dirichlet search over probability vectors, in log alpha, for any batch of states or contexts."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import digamma, gammaln, polygamma
from jaxtyping import Array, Float, Int, PRNGKeyArray

from phenes import _arrays
from phenes._trees import replace
from phenes.special import trigamma_excess

# bounds on alpha: below, samples underflow; above, nothing is left to learn
LOWEST, HIGHEST = 1e-3, 1e4
LARGEST_STEP = 0.5  # in log alpha


class Dirichlet(eqx.Module):
    """Independent Dirichlet laws of the rows of a table; psi = log_alpha [..., K].

    theta holds **log**-probabilities: at alpha = 1e-3 most probabilities are too small for a float,
    their logarithms are not.
    """

    log_alpha: Float[Array, "*s k"]

    def __init__(self, alpha):
        alpha = _arrays.positive("alpha", alpha)
        if alpha.ndim == 0 or alpha.shape[-1] < 2:
            raise ValueError(
                f"alpha must have shape [..., K] with K of at least 2, got {alpha.shape}"
            )
        self.log_alpha = jnp.log(alpha)

    @property
    def alpha(self) -> Float[Array, "*s k"]:
        return jnp.exp(self.log_alpha)

    @property
    def mean(self) -> Float[Array, "*s k"]:
        """E[pi] = alpha / sum alpha."""
        return jax.nn.softmax(self.log_alpha, axis=-1)

    def draw(self, key: PRNGKeyArray, n: int) -> PRNGKeyArray:
        return jax.random.split(key, n)

    def sample(self, key: PRNGKeyArray) -> Float[Array, "*s k"]:
        return self.push(key)

    def push(self, xi: PRNGKeyArray) -> Float[Array, "*s k"]:
        """Log-probabilities as a smooth function of log_alpha for fixed random bits xi."""
        logits = jax.random.loggamma(xi, self.alpha)
        return jax.nn.log_softmax(logits, axis=-1)

    def log_prob(self, theta: Float[Array, "*s k"]) -> Float[Array, ""]:
        """Log-density of exp(theta) with respect to the uniform measure on the simplex."""
        alpha = self.alpha
        normaliser = jnp.sum(gammaln(alpha), axis=-1) - gammaln(jnp.sum(alpha, axis=-1))
        return jnp.sum(jnp.sum((alpha - 1) * theta, axis=-1) - normaliser)

    def score(self, theta: Float[Array, "n *s k"], w: Float[Array, " n"]) -> "Dirichlet":
        """1/N sum_i w_i alpha (theta_i - E[theta])."""
        alpha = self.alpha
        expected = digamma(alpha) - digamma(jnp.sum(alpha, axis=-1, keepdims=True))
        weighted = jnp.tensordot(w, theta - expected[None], axes=1) / w.size
        return replace(self, log_alpha=alpha * weighted)

    def natural(self, g: "Dirichlet") -> "Dirichlet":
        """I[q]^-1 g, in O(K) (docs/parts/search.md).

        The denominator 1 - psi1(A) sum 1/psi1(alpha) cancels to (K-1)/(2A); written with the excess
        of 1/psi1 over its asymptote it keeps all its digits, in float32 too.
        """
        alpha = self.alpha
        total = jnp.sum(alpha, axis=-1, keepdims=True)
        by_alpha = g.log_alpha / alpha
        inverse = 1 / polygamma(1, alpha)
        excess = trigamma_excess(total) - jnp.sum(trigamma_excess(alpha), axis=-1, keepdims=True)
        spread = 0.5 * (alpha.shape[-1] - 1) + excess
        shared = jnp.sum(inverse * by_alpha, axis=-1, keepdims=True) / spread
        return replace(self, log_alpha=inverse * (by_alpha + shared) / alpha)

    def move(self, updates: "Dirichlet") -> tuple["Dirichlet", Int[Array, ""]]:
        """A step of at most `LARGEST_STEP` in log alpha, kept within [LOWEST, HIGHEST]; counts the
        entries that were held back.
        """
        step = jnp.clip(updates.log_alpha, -LARGEST_STEP, LARGEST_STEP)
        free = self.log_alpha + updates.log_alpha
        kept = jnp.clip(self.log_alpha + step, jnp.log(LOWEST), jnp.log(HIGHEST))
        return replace(self, log_alpha=kept), jnp.sum(kept != free, dtype=jnp.int32)
