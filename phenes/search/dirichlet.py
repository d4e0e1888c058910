# pyright: reportUnknownMemberType=false
"""Dirichlet search over probability vectors, in log alpha, for any batch of states or contexts."""

from typing import Self

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import digamma, gammaln, polygamma
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray
from numpy.typing import ArrayLike

from phenes import _arrays
from phenes._trees import replace
from phenes.special import trigamma_excess

# bounds on alpha: below, samples underflow; above, nothing is left to learn
LOWEST, HIGHEST = 1e-3, 1e4
LARGEST_STEP = 0.5  # in log alpha


class Dirichlet(eqx.Module):
    """Independent Dirichlet laws of the rows of a table; psi = log_alpha.

    theta holds **log**-probabilities: at alpha = 1e-3 most probabilities are too small for a float,
    their logarithms are not.

    Parameters
    ----------
    alpha : array_like, shape [..., K]
        Positive concentrations of the K probabilities of each row.

    Raises
    ------
    ValueError
        If alpha is not positive, or K is below 2.

    Examples
    --------
    >>> phenes.search.Dirichlet(jnp.ones((16, 4))).mean.shape
    (16, 4)
    """

    log_alpha: Float[Array, "*s k"]

    def __init__(self, alpha: ArrayLike):
        table = _arrays.positive("alpha", alpha)
        if table.ndim == 0 or table.shape[-1] < 2:
            raise ValueError(
                f"alpha must have shape [..., K] with K of at least 2, got {table.shape}"
            )
        self.log_alpha = jnp.log(table)

    @property
    def alpha(self) -> Float[Array, "*s k"]:
        """Concentrations."""
        return jnp.exp(self.log_alpha)

    @property
    def mean(self) -> Float[Array, "*s k"]:
        """E[pi] = alpha / sum alpha."""
        return jax.nn.softmax(self.log_alpha, axis=-1)

    def centre(self) -> Float[Array, "*s k"]:
        """The log-probabilities of the mean."""
        return jax.nn.log_softmax(self.log_alpha, axis=-1)

    def draw(self, key: PRNGKeyArray, n: int) -> Key[Array, " n"]:
        """Random bits of n individuals."""
        return jax.random.split(key, n)

    def sample(self, key: PRNGKeyArray) -> Float[Array, "*s k"]:
        """One table of log-probabilities."""
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

    def score(self, theta: Float[Array, "n *s k"], w: Float[Array, " n"]) -> Self:
        """1/N sum_i w_i alpha (theta_i - E[theta])."""
        alpha = self.alpha
        expected = digamma(alpha) - digamma(jnp.sum(alpha, axis=-1, keepdims=True))
        weighted = jnp.tensordot(w, theta - expected[None], axes=1) / w.size
        return replace(self, log_alpha=alpha * weighted)

    def natural(self, g: Self) -> Self:
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

    def move(self, updates: Self) -> tuple[Self, Int[Array, ""]]:
        """A step of at most `LARGEST_STEP` in log alpha, and how many entries were held back.

        alpha stays within [LOWEST, HIGHEST].
        """
        step = jnp.clip(updates.log_alpha, -LARGEST_STEP, LARGEST_STEP)
        free = self.log_alpha + updates.log_alpha
        kept = jnp.clip(self.log_alpha + step, jnp.log(LOWEST), jnp.log(HIGHEST))
        return replace(self, log_alpha=kept), jnp.sum(kept != free, dtype=jnp.int32)
