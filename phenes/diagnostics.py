# pyright: reportUnknownMemberType=false
"""What the realised inputs bought, and whether the noise model fits."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray

from phenes._population import realise
from phenes._trees import dtype_of, rows
from phenes.batch import Batch
from phenes.estimators.scores import genotype, phenotype
from phenes.protocols import Estimator, InputLaw, SearchLaw, Tree

__all__ = ["Comparison", "Misfit", "compare", "individual_scores", "misfit"]


class Comparison(NamedTuple):
    """Two estimators on the same population; variances are traces over psi, of the average.

    Parameters
    ----------
    variance_genotype, variance_phenotype : array, shape []
        Variance of the first and of the second estimator.
    gain : array, shape []
        The first variance over the second, measured.
    predicted_gain : array, shape []
        Ratio of the second moments of the scores, what to expect of a weighting without structure
        (1 + C/S for an isotropic Gaussian mean).
    signal_genotype, signal_phenotype : array, shape []
        `|E g|^2 / E|g|^2`, without bias, so it may come out slightly negative.
    effective : array, shape []
        Effective number of individuals behind the weights.
    """

    variance_genotype: Float[Array, ""]
    variance_phenotype: Float[Array, ""]
    gain: Float[Array, ""]
    predicted_gain: Float[Array, ""]
    signal_genotype: Float[Array, ""]
    signal_phenotype: Float[Array, ""]
    effective: Float[Array, ""]


def individual_scores(
    estimator: Estimator, p: InputLaw, q: SearchLaw, batch: Batch
) -> Float[Array, "n psi"]:
    """The score of each individual alone, for estimators that are averages over individuals.

    Parameters
    ----------
    estimator : Estimator
        The estimator.
    p : InputLaw
        The input law.
    q : SearchLaw
        The search law.
    batch : Batch
        A population with theta, x and what the estimator asks for.

    Returns
    -------
    array, shape [N, psi]
        One row for each individual, over the parameters of q in one vector.

    Examples
    --------
    >>> p, q = phenes.inputs.GaussianNoise(0.1), phenes.search.IsotropicGaussian(jnp.zeros(2), 0.5)
    >>> batch = phenes.Batch(theta=jnp.ones((10, 2)), x=jnp.ones((10, 2)))
    >>> individual_scores(phenes.estimators.phenotype, p, q, batch).shape
    (10, 3)
    """
    one = jnp.ones((1,), dtype_of(q))
    keys = None if batch.key is None else jax.random.split(batch.key, rows(batch.theta))

    def row(individual: Batch, key: PRNGKeyArray | None) -> Array:
        alone: Batch = jax.tree.map(_alone, individual)
        return ravel_pytree(estimator(p, q, alone._replace(key=key), one))[0]

    return jax.vmap(row)(batch._replace(f=None, key=None), keys)


def _alone(leaf: Array) -> Array:
    return leaf[None]


def compare(
    p: InputLaw,
    q: SearchLaw,
    batch: Batch,
    w: Float[Array, " n"],
    first: Estimator = genotype,
    second: Estimator = phenotype,
) -> Comparison:
    """Genotype against phenotype (or any two) on the same batch.

    Use it as `es(..., monitor=compare)` or on demand.

    Parameters
    ----------
    p : InputLaw
        The input law.
    q : SearchLaw
        The search law.
    batch : Batch
        A population with theta and x.
    w : array, shape [N]
        Weights of the individuals.
    first : Estimator, default estimators.genotype
        Reported under the names of the genotype.
    second : Estimator, default estimators.phenotype
        Reported under the names of the phenotype.

    Returns
    -------
    Comparison
        Variances, gain and signal of both.

    Examples
    --------
    >>> p, q = phenes.inputs.GaussianNoise(0.5), phenes.search.IsotropicGaussian(jnp.zeros(2), 0.5)
    >>> theta = jax.vmap(q.push)(q.draw(jax.random.key(0), 10))
    >>> batch = phenes.Batch(theta=theta, x=p.sample_all(jax.random.key(1), theta))
    >>> compare(p, q, batch, jnp.linspace(-1.0, 1.0, 10)).effective.shape
    ()
    """
    scores = [individual_scores(estimator, p, q, batch) for estimator in (first, second)]
    (var_g, signal_g), (var_p, signal_p) = (_moments(w[:, None] * s) for s in scores)
    power = [jnp.sum(s**2) for s in scores]
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
    """How far the realised inputs are from what p says.

    Parameters
    ----------
    z : array, shape []
        Mean log-likelihood against draws from p at the same theta, in standard errors. Negative:
        less likely than p expects, the noise is larger or of another kind; positive: it is smaller.
    bias : array, shape [...], or None
        Mean residual of each coordinate, for x shaped like theta.
    ratio : array, shape [...], or None
        Spread of the residuals over the expected one.
    """

    z: Float[Array, ""]
    bias: Float[Array, "..."] | None
    ratio: Float[Array, "..."] | None


def misfit(key: PRNGKeyArray, p: InputLaw, theta: Tree, x: Tree, draws: int = 16) -> Misfit:
    """Residuals x - theta against p; a `|z|` above 4 is no accident.

    Parameters
    ----------
    key : key
        Randomness of the draws.
    p : InputLaw
        The input law in question.
    theta : tree of arrays, shape [N, ...]
        What was intended.
    x : tree of arrays, shape [N, ...]
        What was realised.
    draws : int, default 16
        Draws from p at each theta.

    Returns
    -------
    Misfit
        z, and bias and ratio by coordinate.

    Examples
    --------
    >>> p, theta = phenes.inputs.GaussianNoise(0.1), jnp.zeros((50, 2))
    >>> misfit(jax.random.key(0), p, theta, theta + 1.0).z.item() < -4
    True
    """

    def simulate(key: PRNGKeyArray) -> Tree:
        return realise(p, key, theta)

    simulated = jax.vmap(simulate)(jax.random.split(key, draws))
    seen = jax.vmap(p.log_prob)(x, theta)
    expected = jax.vmap(jax.vmap(p.log_prob), in_axes=(0, None))(simulated, theta)
    # common theta: compare each individual with its own draws
    excess = seen - jnp.mean(expected, axis=0)
    variance = jnp.mean(jnp.var(expected, axis=0, ddof=1))
    spread = jnp.sqrt(variance * (1 + 1 / draws) / rows(theta))
    z = jnp.mean(excess) / jnp.where(spread > 0, spread, jnp.inf)
    if not (isinstance(x, jax.Array) and isinstance(theta, jax.Array) and x.shape == theta.shape):
        return Misfit(z, None, None)
    own, model = x - theta, simulated - theta[None]
    ratio = jnp.nanstd(own, axis=0) / jnp.std(model, axis=(0, 1))
    return Misfit(z, jnp.nanmean(own, axis=0) - jnp.mean(model, axis=(0, 1)), ratio)
