"""The last resort, and it is biased: a linear guess at the posterior mean
(docs/estimators/biased_linear.md).
"""

from typing import Any, TypeVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from phenes.batch import Batch
from phenes.covariance import Dense
from phenes.search.gaussian import GaussianSearch

Q = TypeVar("Q", bound=Any)


class BiasedLinear(eqx.Module):
    """See `biased_linear`."""

    memory: float = eqx.field(static=True)
    bias: Any  # running mean of x - theta
    second: Any  # running mean of (x - theta)(x - theta)'
    mass: Float[Array, ""]

    def start(self, p: Any, q: GaussianSearch, batch: Batch) -> "BiasedLinear":
        d = q.dim
        return BiasedLinear(self.memory, jnp.zeros(d), jnp.zeros((d, d)), jnp.asarray(0.0))

    def observe(self, p: Any, q: GaussianSearch, batch: Batch) -> "BiasedLinear":
        keep, r = self.memory, batch.x - batch.theta
        bias = keep * self.bias + (1 - keep) * jnp.mean(r, axis=0)
        second = keep * self.second + (1 - keep) * r.T @ r / r.shape[0]
        return BiasedLinear(keep, bias, second, keep * self.mass + (1 - keep))

    def step(self, p: Any, q: Q, batch: Batch, w: Float[Array, " n"]) -> "tuple[Q, BiasedLinear]":
        """The gradient with what was learnt before this generation, and the guess after it."""
        return self(p, q, batch, w), self.observe(p, q, batch)

    def __call__(self, p: Any, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
        if self.bias is None:
            raise ValueError(
                "biased_linear must see a past generation first: call observe, got none"
            )
        mass = jnp.where(self.mass > 0, self.mass, 1.0)
        bias = self.bias / mass
        noise = self.second / mass - bias[:, None] * bias[None]
        cov = Dense(q.covariance.matrix(q.dim) + noise)
        learnt = q.channel_score(w, cov.solve(batch.x - (q.mean + bias)[None]), cov)
        # nothing is known in the first generation: be an ordinary evolution strategy
        first = q.score(batch.theta, w)
        known = self.mass > 0
        return eqx.tree_at(
            _leaves,
            first,
            tuple(
                jnp.where(known, a, b) for a, b in zip(_leaves(learnt), _leaves(first), strict=True)
            ),
        )


def _leaves(g: Any) -> tuple[Array, ...]:
    return tuple(getattr(g, name) for name in g.__dataclass_fields__)


def biased_linear(memory: float = 0.9) -> BiasedLinear:
    """E[theta | x] guessed as m + S (S + C)^-1 (x - m - b) with the covariance C and bias b of x -
    theta in past generations.

    BIASED unless theta and x are jointly Gaussian: bias^2/|g|^2 of the mean up to .04 for symmetric
    additive noise below the search spread, .28 above it, .14 for noise that depends on theta; of
    the spread up to .5 (heavy tails, saturation). It needs no density of p at all, and works for
    Gaussian search only.
    """
    return BiasedLinear(memory, None, None, jnp.asarray(0.0))
