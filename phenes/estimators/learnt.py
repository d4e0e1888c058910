# pyright: reportUnknownMemberType=false
"""The last resort, and it is biased: a linear guess at the posterior mean.

docs/estimators/biased_linear.md.
"""

from typing import Self

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from phenes.batch import Batch
from phenes.covariance import Dense
from phenes.estimators.missing import or_genotype, unmeasured
from phenes.protocols import InputLaw, Q, SearchLaw
from phenes.search.gaussian import DiagonalGaussian, Gaussian, IsotropicGaussian


class BiasedLinear(eqx.Module):
    """See `biased_linear`.

    Parameters
    ----------
    memory : float
        Share of the past that is kept in each generation.
    bias : array, shape [d], or None
        Running mean of x - theta.
    second : array, shape [d, d], or None
        Running mean of (x - theta)(x - theta)'.
    mass : array, shape []
        How much of the running means is data.
    """

    memory: float = eqx.field(static=True)
    bias: Float[Array, " d"] | None
    second: Float[Array, "d d"] | None
    mass: Float[Array, ""]

    def start(self, p: InputLaw, q: SearchLaw, batch: Batch) -> Self:
        """The estimator with room for what it learns."""
        if not isinstance(q, Gaussian | DiagonalGaussian | IsotropicGaussian):
            raise _not_gaussian(q)
        d = q.dim
        return type(self)(self.memory, jnp.zeros(d), jnp.zeros((d, d)), jnp.asarray(0.0))

    def observe(self, p: InputLaw, q: SearchLaw, batch: Batch) -> Self:
        """Learn from a generation, after its gradient was taken."""
        old_bias, old_second = self._past()
        missing = unmeasured(batch.x, batch.x.shape[0])
        r = jnp.where(missing[:, None], 0.0, batch.x - batch.theta)
        number = jnp.sum(~missing, dtype=r.dtype)
        # a generation in which nothing was measured leaves everything as it is
        keep = jnp.where(number > 0, jnp.asarray(self.memory, r.dtype), 1.0)
        number = jnp.maximum(number, 1.0)
        bias = keep * old_bias + (1 - keep) * jnp.sum(r, axis=0) / number
        second = keep * old_second + (1 - keep) * r.T @ r / number
        return type(self)(self.memory, bias, second, keep * self.mass + (1 - keep))

    def step(self, p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> tuple[Q, Self]:
        """The gradient with what was learnt before this generation, and the guess after it."""
        return self(p, q, batch, w), self.observe(p, q, batch)

    def __call__(self, p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
        """The gradient with what is known, which is nothing in the first generation."""
        if not isinstance(q, Gaussian | DiagonalGaussian | IsotropicGaussian):
            raise _not_gaussian(q)
        return or_genotype(self._measured, p, q, batch, w)

    def _measured(self, p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
        if not isinstance(q, Gaussian | DiagonalGaussian | IsotropicGaussian):
            raise _not_gaussian(q)
        past_bias, past_second = self._past()
        mass = jnp.where(self.mass > 0, self.mass, 1.0)
        bias = past_bias / mass
        noise = past_second / mass - bias[:, None] * bias[None]
        cov = Dense(q.covariance.matrix(q.dim) + noise)
        learnt = q.observed_score(w, cov.solve(batch.x - (q.mean + bias)[None]), cov)
        # nothing is known in the first generation: be an ordinary evolution strategy
        first = q.score(batch.theta, w)

        def known(a: Array, b: Array) -> Array:
            return jnp.where(self.mass > 0, a, b)

        return jax.tree.map(known, learnt, first)

    def _past(self) -> tuple[Array, Array]:
        if self.bias is None or self.second is None:
            raise ValueError(
                "biased_linear must see a past generation first: call observe, got none"
            )
        return self.bias, self.second


def _not_gaussian(q: SearchLaw) -> ValueError:
    return ValueError(f"biased_linear needs a Gaussian search law, got {type(q).__name__}")


def biased_linear(memory: float = 0.9) -> BiasedLinear:
    """E[theta | x] guessed as m + S (S + C)^-1 (x - m - b), C and b learnt from x - theta.

    BIASED unless theta and x are jointly Gaussian: `bias^2 / |g|^2` of the mean up to .04 for
    symmetric additive noise below the search spread, .28 above it, .14 for noise that depends on
    theta; of the spread up to .5 (heavy tails, saturation). It needs no density of p at all, and
    works for Gaussian search only.

    Parameters
    ----------
    memory : float, default 0.9
        Share of the past that is kept in each generation.

    Returns
    -------
    BiasedLinear
        An estimator that learns from past generations.

    Examples
    --------
    >>> p = phenes.inputs.GaussianNoise(0.1)
    >>> parts = phenes.weightings.standardise, optax.sgd(0.1)
    >>> strategy = phenes.es(p, phenes.estimators.biased_linear(), *parts, popsize=20)
    """
    return BiasedLinear(memory, None, None, jnp.asarray(0.0))
