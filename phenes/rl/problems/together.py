"""Directions of search for a linear policy: as the observations vary.

The gradient of the return with respect to the weights W [a, o] of a linear policy is a sum over
steps, of what a change of the actions is worth times the observation z_t. Whatever that is, it is
made of observations that were seen, and large where many of them vary together. A search that
spreads alike in all weights spends most of its episodes on combinations that hardly occur. So rows
of W are searched with the correlations R of the observations as their covariance, scaled such that
the actions vary as much as with independent weights.

A constant input is not an observation. It holds a posture, which is needed where an episode ends by
itself if one falls; where none does, a constant push is a trap. So it is searched only if an
episode of the first generation ended by itself, or if the bounds of actions are not symmetric: a
policy that begins at zero begins in their middle, which is nothing special then.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

# share of independent weights: correlations of a few short episodes are singular
INDEPENDENT = 0.01
MOST = 512  # observations; beyond that a matrix of all pairs costs more than it is worth


class Together(NamedTuple):
    """What was seen so far.

    count, mean, cov: number, mean and covariance of the observations. posture: whether the constant
    is searched.
    """

    count: Float[Array, ""]
    mean: Float[Array, " o"]
    cov: Float[Array, "o o"]
    posture: Bool[Array, ""]

    @classmethod
    def start(cls, obs_dim: int, posture: bool = False) -> "Together":
        """Before the first generation: all observations apart."""
        dtype = jnp.result_type(float)
        return cls(
            jnp.zeros((), dtype),
            jnp.zeros(obs_dim, dtype),
            jnp.eye(obs_dim, dtype=dtype),
            jnp.asarray(posture),
        )

    def update(
        self, obs: Float[Array, "n t o"], mask: Bool[Array, "n t"], ended: Bool[Array, " n"]
    ) -> "Together":
        """With a generation added (Chan's formula); rows that are not finite do not count."""
        use = (mask & jnp.all(jnp.isfinite(obs), axis=-1))[..., None]
        n = jnp.sum(use, dtype=self.mean.dtype)
        x = jnp.where(use, obs, 0.0).astype(self.mean.dtype)
        mean = jnp.sum(x, axis=(0, 1)) / jnp.maximum(n, 1.0)
        d = jnp.where(use, x - mean[None, None], 0.0)
        cov = jnp.einsum("nto,ntp->op", d, d) / jnp.maximum(n, 1.0)
        share = n / jnp.maximum(self.count + n, 1.0)
        delta = mean - self.mean
        both = (1 - share) * self.cov + share * cov + share * (1 - share) * jnp.outer(delta, delta)
        return Together(
            self.count + n,
            self.mean + share * delta,
            both,
            self.posture | ((self.count == 0) & jnp.any(ended)),
        )

    def factor(self) -> Float[Array, "o o"]:
        """L of the covariance L L' of a row of weights for observations of variance 1."""
        o = self.mean.size
        deviation = jnp.sqrt(jnp.diagonal(self.cov))
        known = deviation > 0
        scale = jnp.where(known, 1 / jnp.where(known, deviation, 1.0), 0.0)
        apart = jnp.eye(o, dtype=self.cov.dtype)
        R = self.cov * scale[:, None] * scale[None]
        R = jnp.where(apart > 0, 1.0, (1 - INDEPENDENT) * R)
        # the variance of an action, tr(C R) of weights with covariance C, is that of C = I: o
        return jnp.linalg.cholesky(R * (o / jnp.sum(R**2)))

    def directions(self, xi: Float[Array, "n d"], outputs: int) -> Float[Array, "n d"]:
        """Directions in theta, the weights [outputs, o] and then those of a constant, if any."""
        o = self.mean.size
        weights, constant = xi[:, : outputs * o], xi[:, outputs * o :]
        rows = weights.reshape(-1, outputs, o) @ self.factor().T.astype(xi.dtype)[None]
        return jnp.concatenate(
            [rows.reshape(weights.shape), jnp.where(self.posture, constant, 0.0)], axis=1
        )
