"""Natural gradients: the direction v with I v = g, where I is measured from the scores
themselves.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from phenes import estimators, inputs, metric, search
from phenes.diagnostics import individual_scores
from tests.laws import pairs
from tests.laws.statistics import CHUNK, assert_within, flat, once, over_chunks, population

FAMILIES = {
    "full": pairs.FULL,
    "diagonal": pairs.DIAG,
    "isotropic": pairs.ISO,
    "dirichlet": search.Dirichlet([[0.5, 1.2, 0.3], [2.0, 0.4, 1.0]]),
    "beta": search.Beta([0.9, 2.0], [1.6, 0.7]),
    "gamma": search.Gamma([1.36, 3.0], [0.8, 2.0]),
    "conjugate": search.Conjugate(0.3, 2.5, jax.nn.softplus),
}


def some_gradient(q):
    """A gradient without symmetries, but for the matrix part of full covariances, which is
    symmetric.
    """
    vector, unravel = ravel_pytree(q)
    g = unravel(jnp.cos(1.0 + 2.0 * jnp.arange(vector.size, dtype=float)))
    return jax.tree.map(
        lambda leaf: (
            0.5 * (leaf + leaf.T) if leaf.ndim == 2 and isinstance(q, search.Gaussian) else leaf
        ),
        g,
    )


def fisher_times(direction, estimator, p, q):
    """E[s <s, v>] in chunks: the Fisher information on a direction, with its standard error."""

    def chunk(key):
        s = individual_scores(estimator, p, q, population(q, p, key, CHUNK))
        return s.T @ (s @ direction) / CHUNK

    return chunk


REST = pytest.mark.tier("laws")
SOME = ("full",)


@pytest.mark.parametrize(
    "q",
    [pytest.param(q, id=name, marks=() if name in SOME else REST) for name, q in FAMILIES.items()],
)
def test_natural_gradient_in_the_metric_of_q(q, key):
    g = some_gradient(q)
    nothing = inputs.Law(lambda key, theta: theta, lambda x, theta: jnp.zeros(()))
    direction = once(lambda q, g: flat(metric.natural(nothing, q, g)))(q, g)
    assert_within(
        over_chunks(fisher_times(direction, estimators.genotype, nothing, q), key), flat(g)
    )


@pytest.mark.parametrize("pair", pairs.in_the_mean(pairs.GAUSSIAN_PAIRS), ids=repr)
def test_natural_gradient_in_the_metric_of_x(pair, key):
    g = some_gradient(pair.q)
    direction = once(lambda q, g: flat(metric.natural_marginal(pair.p, q, g)))(pair.q, g)
    assert_within(
        over_chunks(fisher_times(direction, estimators.phenotype, pair.p, pair.q), key), flat(g)
    )


def test_plain_is_the_gradient():
    g = some_gradient(pairs.FULL)
    assert metric.plain(None, pairs.FULL, g) is g


def test_natural_gradient_of_the_conjugate_family_is_the_difference_of_means(key):
    """In coordinates mu = E[T], T = (theta, -A), the natural gradient of log P is E'[T] - E[T]
    (erratum 8).
    """
    pair = next(pair for pair in pairs.COUNT_PAIRS if pair.name == "conjugate-poisson")
    q, x = pair.q, jnp.array(3.0)

    def means(phi, nu):
        def canonical(chi, nu):
            return q.log_normaliser(chi / nu, nu)

        return jnp.stack(jax.grad(canonical, argnums=(0, 1))(nu * phi, nu))

    @once
    def both(key):
        batch = population(q, pair.p, key, 1)._replace(x=x[None])
        step = metric.natural(pair.p, q, estimators.phenotype(pair.p, q, batch, jnp.ones(1)))
        by_phi, by_nu = jax.jacfwd(means, argnums=(0, 1))(q.phi, q.nu)
        after = pair.p.posterior(q, x)
        return (
            by_phi * step.phi + by_nu * step.nu,
            means(after.phi, after.nu) - means(q.phi, q.nu),
        )

    moved, difference = both(key)
    np.testing.assert_allclose(moved, difference, rtol=1e-7)
    np.testing.assert_allclose(moved, [0.645712, -0.722222], atol=1e-6)


@pytest.mark.parametrize(
    "gain",
    [
        pytest.param([[1.0, -0.5]], id="wide"),
        pytest.param([[1.0, 2.0], [2.0, 4.0]], id="rank 1", marks=REST),
    ],
)
@pytest.mark.parametrize(
    "kind", ["full", *(pytest.param(k, marks=REST) for k in ("diagonal", "isotropic"))]
)
def test_the_metric_of_x_with_fewer_outputs_than_inputs(kind, gain):
    """I[P] v = g for the gradient of a population, which is in its range, and v is the shortest:
    B v = g_m; B V B / 2 = g_S; of log spreads 2 s_k^2 s_l^2 B_kl^2 v_l = g_k, and summed over all
    for one.
    """
    q, p = FAMILIES[kind], inputs.GaussianNoise(0.4, gain=gain)
    g, v = once(
        lambda key: (
            g := estimators.phenotype(p, q, population(q, p, key, 6), jnp.linspace(-1.0, 2.0, 6)),
            metric.natural_marginal(p, q, g),
        )
    )(jax.random.key(0))
    H, S = np.array(gain), np.asarray(q.covariance.matrix(2))
    B = H.T @ np.linalg.solve(H @ S @ H.T + 0.16 * np.eye(len(H)), H)
    np.testing.assert_allclose(B @ v.mean, g.mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(v.mean, np.linalg.pinv(B) @ g.mean, rtol=1e-7)
    if kind == "full":
        np.testing.assert_allclose(B @ v.cov @ B / 2, g.cov, rtol=1e-9, atol=1e-12)
        return
    var = np.diag(S)
    fisher = 2 * np.outer(var, var) * B**2
    if kind == "isotropic":
        fisher = fisher.sum()
    np.testing.assert_allclose(np.dot(fisher, v.log_std), g.log_std, rtol=1e-7, atol=1e-12)
