"""Observations at a common scale: mean and variance of all that were seen.

Both are frozen within a generation.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

# standard deviations at which observations are clipped: one may have hardly varied so far
CLIP = 10.0
SMALLEST = 1e-20  # variance, as of numbers that are 0 but for rounding
DIGITS = 1e-6  # of the mean: what varies by less is rounding in single precision


class Normaliser(eqx.Module):
    """(obs - mean) / std of the observations seen so far; before any, obs itself.

    Parameters
    ----------
    count : array, shape ()
        Number of observations.
    mean, var : array, shape (o,)
        Their mean and variance.
    """

    count: Float[Array, ""]
    mean: Float[Array, " o"]
    var: Float[Array, " o"]

    @classmethod
    def start(cls, obs_dim: int) -> "Normaliser":
        # with the dtype named: a weakly typed start would be another type to the compiled loop than
        # what it returns
        dtype = jnp.result_type(float)
        return cls(jnp.zeros((), dtype), jnp.zeros(obs_dim, dtype), jnp.ones(obs_dim, dtype))

    def __call__(self, obs: Float[Array, " o"]) -> Float[Array, " o"]:
        # whatever the unit is: micrometres that are given in metres vary by 1e-6
        least = jnp.maximum((DIGITS * self.mean) ** 2, SMALLEST)
        z = (obs.astype(self.mean.dtype) - self.mean) / jnp.sqrt(jnp.maximum(self.var, least))
        return jnp.clip(z, -CLIP, CLIP)

    def update(self, obs: Float[Array, "n t o"], mask: Bool[Array, "n t"]) -> "Normaliser":
        """The scale with the observations of a generation added."""
        return self.merged(Normaliser.of(obs.astype(self.mean.dtype), mask))

    @classmethod
    def of(cls, obs: Float[Array, "n t o"], mask: Bool[Array, "n t"]) -> "Normaliser":
        """The scale of these observations alone; rows that are not finite do not count.

        Parameters
        ----------
        obs : array, shape (N, T, o)
            Observations.
        mask : array of bool, shape (N, T)
            Which of them were made.

        Returns
        -------
        Normaliser
            The scale of these observations.
        """
        use = (mask & jnp.all(jnp.isfinite(obs), axis=-1))[..., None]
        count = jnp.sum(use, dtype=obs.dtype)
        n = jnp.maximum(count, 1.0)
        mean = jnp.sum(jnp.where(use, obs, 0.0), axis=(0, 1)) / n
        return cls(
            count, mean, jnp.sum(jnp.where(use, obs - mean[None, None], 0.0) ** 2, axis=(0, 1)) / n
        )

    def merged(self, other: "Normaliser") -> "Normaliser":
        """The scale of what both have seen (Chan's formula).

        Parameters
        ----------
        other : Normaliser
            The scale of other observations.

        Returns
        -------
        Normaliser
            The scale of all observations.
        """
        total = self.count + other.count
        share = other.count / jnp.maximum(total, 1.0)
        delta = other.mean - self.mean
        spread = (1 - share) * self.var + share * other.var + share * (1 - share) * delta**2
        seen = total > 0
        return Normaliser(total, self.mean + share * delta, jnp.where(seen, spread, self.var))
