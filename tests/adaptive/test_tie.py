"""What ties `minimize` to `es` and `run`: one natural-gradient step on the law of x.

The adaptive search moves N(m, S + C), the marginal of x, by sum_i w_i r_i and
sum_i w_i (r_i r_i' - (S + C)), r_i = x_i - m. That is the natural gradient of `phenotype`, the
score of the marginal, under the metric of the marginal. Step-size control, the rank-one update and
models come on top.
"""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import phenes
from phenes.adaptive import cma
from phenes.adaptive.marginal import marginal_of
from phenes.batch import Batch
from tests.adaptive.problems import coordinates, spd

DIM, N = 4, 12


def plain_rates():
    """Those of the tutorial without negative weights, rank-one update and step-size control."""
    k = cma.rates(DIM, N, N, False)
    weights = np.maximum(k.weights, 0.0)
    return dataclasses.replace(k, weights=weights, c_1=0.0, damping=np.inf)


@pytest.mark.parametrize("seed", range(3))
def test_a_generation_is_the_natural_gradient_step_of_phenotype(seed):
    rng = np.random.default_rng(seed)
    mean, search, noise = rng.standard_normal(DIM), spd(DIM, seed + 10), 0.3 * spd(DIM, seed + 20)
    theta = rng.multivariate_normal(mean, search, N)
    x = theta + rng.multivariate_normal(np.zeros(DIM), noise, N)
    f = np.sum((x - 1) ** 2, axis=1)

    coords = coordinates(noise, width=np.geomspace(0.5, 2, DIM))
    into = coords.to_y(np.eye(DIM))  # rows: images of the unit vectors of x
    cov = into.T @ (search + noise) @ into
    marginal = marginal_of(coords.to_y(mean), cov, coords.c)
    k = plain_rates()
    told = cma.Population(coords.to_y(x), f, N)
    new = cma.update(marginal, cma.no_paths(DIM), told, k=k)
    back = coords.to_x(np.eye(DIM))

    w = np.zeros(N)
    w[np.argsort(f)] = k.weights
    p, q = phenes.inputs.GaussianNoise(noise), phenes.search.Gaussian(mean=mean, cov=search)
    gradient = phenes.estimators.phenotype(p, q, Batch(theta, jnp.asarray(x)), jnp.asarray(N * w))
    step = phenes.metric.natural_marginal(p, q, gradient)

    np.testing.assert_allclose(coords.to_x(new.mean) - mean, step.mean, rtol=1e-9, atol=1e-9)
    moved = back.T @ (new.cov - marginal.cov) @ back
    np.testing.assert_allclose(moved / k.c_mu, step.cov, rtol=1e-9, atol=1e-9)


def test_the_length_of_points_is_not_limited_within_the_reach_of_a_generation():
    """Else the tie would hold for short points only."""
    coords = coordinates(np.ones(DIM))
    marginal = marginal_of(np.zeros(DIM), 2 * np.eye(DIM), coords.c)
    y = np.full((N, DIM), 2.4 * np.sqrt(2))  # whitened length 4.8 of at most 5
    z, _ = cma.ranked(marginal, cma.Population(y, np.arange(N), N), plain_rates())
    assert np.allclose(np.abs(z), 2.4)
