"""Imitation, the paper's proposal for any p: what it is, and what its bias is."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phenes import Batch, estimators, inputs, search
from phenes._score import score
from tests.laws import pairs
from tests.laws.statistics import flat, once, population

LAWS = {
    "full": (pairs.FULL, inputs.GaussianNoise(pairs.NOISE)),
    "isotropic": (pairs.ISO, inputs.LaplaceNoise([0.3, 0.6])),
    "heteroscedastic": (pairs.DIAG, inputs.HeteroscedasticNoise(pairs.hetero_std)),
    "dirichlet": (search.Dirichlet([[0.5, 1.2, 0.3], [2.0, 0.4, 1.0]]), inputs.Multinomial(2)),
    "beta": (search.Beta([0.9, 2.0], [1.6, 0.7]), inputs.Bernoulli(3)),
    "gamma": (search.Gamma([1.36, 3.0], [0.8, 2.0]), inputs.Poisson(1.0)),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name == "full" else pytest.mark.tier("laws")) for name in LAWS],
)
def test_it_is_the_likelihood_at_the_centre(name):
    q, p = LAWS[name]
    w = jnp.linspace(-1.0, 1.5, 6)

    @once
    def both(q, key):
        batch = population(q, p, key, 6)
        by_definition = score(
            lambda q: jax.vmap(lambda x: p.log_prob(x, q.centre()))(batch.x), q, w
        )
        return estimators.biased_imitation(p, q, batch, w), by_definition

    got, expected = both(q, jax.random.key(0))
    np.testing.assert_allclose(flat(got), flat(expected), rtol=1e-9, atol=1e-12)
    assert np.any(np.abs(flat(got)) > 1e-3)


def test_the_centre_is_the_mean():
    assert LAWS["full"][0].centre() is LAWS["full"][0].mean
    for name, back in (("dirichlet", jnp.exp), ("beta", jax.nn.sigmoid), ("gamma", jnp.exp)):
        q = LAWS[name][0]
        np.testing.assert_allclose(back(q.centre()), q.mean, rtol=1e-12)


@pytest.mark.parametrize("spread", [0.0, 0.01, 1.0])
def test_its_bias_for_gaussian_noise(spread):
    """E[(a.r) C^-1 r] = C^-1 (S + C) a, exact by quadrature: it falls with the spread of the
    search, and is none for a point population, where phenotype is the same individual by
    individual.
    """
    S, C, a = spread * pairs.COV, pairs.NOISE, np.array([0.7, -1.1])
    q, p = search.Gaussian(pairs.MEAN, S), inputs.GaussianNoise(C)
    node, weight = np.polynomial.hermite_e.hermegauss(6)
    z = np.stack(np.meshgrid(node, node), -1).reshape(-1, 2)
    r = z @ np.linalg.cholesky(S + C).T
    w = jnp.asarray(np.outer(weight, weight).ravel() / (2 * np.pi) * (r @ a) * len(r))
    x = jnp.asarray(r + pairs.MEAN)
    got, unbiased = (
        e(p, q, Batch(theta=None, x=x), w)
        for e in (estimators.biased_imitation, estimators.phenotype)
    )
    np.testing.assert_allclose(unbiased.mean, a, rtol=1e-9)
    np.testing.assert_allclose(got.mean, a + np.linalg.solve(C, S @ a), rtol=1e-9)
    np.testing.assert_array_equal(got.cov, np.zeros((2, 2)))
    bias = np.linalg.norm(got.mean - a) / np.linalg.norm(a)
    assert bias < 1e-9 if spread == 0 else bias > 2 * spread


def test_what_it_refuses(key):
    batch = once(lambda key: population(pairs.GATE, PAIR.p, key, 4))(key)
    with pytest.raises(ValueError, match="needs a search law with a centre, got Gate"):
        estimators.biased_imitation(PAIR.p, pairs.GATE, batch, jnp.ones(4))
    p = inputs.UniformNoise(0.1)
    with pytest.raises(ValueError, match="UniformNoise has a density without slope"):
        estimators.biased_imitation(p, pairs.DIAG, population(pairs.DIAG, p, key, 4), jnp.ones(4))


PAIR = next(pair for pair in pairs.COUNT_PAIRS if pair.name == "gate-experts")
