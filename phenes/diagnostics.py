"""What the realised inputs bought: variances of the two estimators on one batch, and whether the
noise model fits.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray

from phenes.batch import Batch, realise
from phenes.estimators.scores import Estimator, genotype, phenotype


class Comparison(NamedTuple):
    """Two estimators on the same population; variances are traces over psi, of the population
    average.

    gain: variance of the first over that of the second, measured. predicted_gain: ratio of the
    second moments of their scores, what to expect of a weighting without structure (1 + C/S for an
    isotropic Gaussian mean). signal: |E g|^2 / E|g|^2, without bias (so it may come out slightly
    negative). effective: effective number of individuals behind the weights.
    """

    variance_genotype: Float[Array, ""]
    variance_phenotype: Float[Array, ""]
    gain: Float[Array, ""]
    predicted_gain: Float[Array, ""]
    signal_genotype: Float[Array, ""]
    signal_phenotype: Float[Array, ""]
    effective: Float[Array, ""]


def individual_scores(estimator: Estimator, p: Any, q: Any, batch: Batch) -> Float[Array, "n psi"]:
    """The score of each individual alone, one row each, for estimators that are averages over
    individuals.
    """
    n = jax.tree.leaves(batch.theta)[0].shape[0]
    dtype = jnp.result_type(*jax.tree.leaves(eqx.filter(q, eqx.is_inexact_array)))
    keys = None if batch.key is None else jax.random.split(batch.key, n)

    def row(individual, key):
        alone = jax.tree.map(lambda leaf: leaf[None], individual)._replace(key=key)
        return ravel_pytree(estimator(p, q, alone, jnp.ones((1,), dtype)))[0]

    return jax.vmap(row)(batch._replace(f=None, key=None), keys)


def compare(
    p: Any,
    q: Any,
    batch: Batch,
    w: Float[Array, " n"],
    first: Estimator = genotype,
    second: Estimator = phenotype,
) -> Comparison:
    """Genotype against phenotype (or any two) on the same batch; use as `es(..., monitor=compare)`
    or on demand.
    """
    rows = [individual_scores(estimator, p, q, batch) for estimator in (first, second)]
    (var_g, signal_g), (var_p, signal_p) = (_moments(w[:, None] * s) for s in rows)
    power = [jnp.sum(s**2) for s in rows]
    total = jnp.sum(jnp.abs(w)) ** 2
    return Comparison(
        variance_genotype=var_g,
        variance_phenotype=var_p,
        gain=var_g / var_p,
        predicted_gain=power[0] / power[1],
        signal_genotype=signal_g,
        signal_phenotype=signal_p,
        effective=total / jnp.where(total > 0, jnp.sum(w**2), 1.0),
    )


def _moments(g: Float[Array, "n psi"]) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Variance of the mean over individuals, and its signal fraction."""
    n = g.shape[0]
    mean = jnp.mean(g, axis=0)
    variance = jnp.sum((g - mean[None]) ** 2) / max(n - 1, 1) / n
    power = jnp.sum(mean**2)
    return variance, (power - variance) / power


class Misfit(NamedTuple):
    """How far the realised inputs are from what p says, in standard errors.

    z: of the mean log-likelihood against draws from p at the same theta (negative: less likely than
    p expects; the noise is larger or of another kind; positive: it is smaller). bias, ratio: mean
    residual, and its spread over the expected one, by coordinate (for x shaped like theta).
    """

    z: Float[Array, ""]
    bias: Any
    ratio: Any


def misfit(key: PRNGKeyArray, p: Any, theta: Any, x: Any, draws: int = 16) -> Misfit:
    """Residuals x - theta against p. A |z| above 4 is no accident."""
    n = jax.tree.leaves(theta)[0].shape[0]
    simulated = jax.vmap(lambda key: realise(p, key, theta))(jax.random.split(key, draws))
    seen = jax.vmap(p.log_prob)(x, theta)
    expected = jax.vmap(lambda x: jax.vmap(p.log_prob)(x, theta))(simulated)
    # common theta: compare each individual with its own draws
    excess = seen - jnp.mean(expected, axis=0)
    spread = jnp.sqrt(jnp.mean(jnp.var(expected, axis=0, ddof=1)) * (1 + 1 / draws) / n)
    z = jnp.mean(excess) / jnp.where(spread > 0, spread, jnp.inf)
    if not (isinstance(x, jax.Array) and isinstance(theta, jax.Array) and x.shape == theta.shape):
        return Misfit(z, None, None)
    own, model = x - theta, simulated - theta[None]
    ratio = jnp.nanstd(own, axis=0) / jnp.std(model, axis=(0, 1))
    return Misfit(z, jnp.nanmean(own, axis=0) - jnp.mean(model, axis=(0, 1)), ratio)
