"""The marginal likelihood against dense algebra, its gradient against finite differences."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from phenes.gp.cloud import Cloud
from phenes.gp.kernel import matern, squared_exponential, with_main_effects
from phenes.gp.likelihood import Likelihood, matrix, unpack
from tests.gp.reference import CLOUDS, VALUES

SHAPES = (squared_exponential(False), squared_exponential(True), matern(True), with_main_effects())


def somewhere(cost):
    rng = np.random.default_rng(1)
    return cost.prior.mean + 0.5 * rng.standard_normal(cost.prior.mean.size)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
@pytest.mark.parametrize("rows", CLOUDS, ids=lambda rows: str(np.shape(rows.cov)))
def test_gradient(shape, rows):
    cost = Likelihood(shape, rows, VALUES)
    at, h = somewhere(cost), 1e-5
    numeric = [(cost(at + e)[0] - cost(at - e)[0]) / (2 * h) for e in h * np.eye(at.size)]
    assert cost(at)[1] == pytest.approx(np.array(numeric), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("rows", CLOUDS, ids=lambda rows: str(np.shape(rows.cov)))
def test_cost_is_that_of_dense_algebra(rows):
    """The mean that costs least, one pseudo-observation of the variance, normal priors."""
    shape = SHAPES[1]
    cost = Likelihood(shape, rows, VALUES)
    at = somewhere(cost)
    kernel, eta = unpack(shape, at)
    k = matrix(kernel, rows, eta)
    inverse = np.linalg.inv(k)

    def q(mean):
        return (VALUES - mean) @ inverse @ (VALUES - mean)

    least = minimize_scalar(q).fun
    off = (at - cost.prior.mean) / cost.prior.std
    n = VALUES.size
    dense = 0.5 * (n + 1) * np.log(least + 1) + 0.5 * np.linalg.slogdet(k)[1] + 0.5 * off @ off
    assert cost(at)[0] == pytest.approx(dense, rel=1e-6)


def test_the_covariance_of_uncertain_rows_is_that_of_their_values():
    """Values at x ~ N(m, V), by simulation of f from the prior: 4 standard errors."""
    rng = np.random.default_rng(0)
    shape = squared_exponential(True)
    rows = CLOUDS[4]
    kernel, _ = unpack(shape, np.log([0.4, 0.7, 0.3, 0.2, 1e-3]))
    sets = 3_000
    roots = np.array([np.linalg.cholesky(c + 1e-15 * np.eye(2)) for c in rows.cov])
    z = rng.standard_normal((sets, len(rows), 2))
    x = rows.points + np.einsum("nij,snj->sni", roots, z)
    values = np.empty((sets, len(rows)))
    for s in range(sets):
        k = kernel.covariance(Cloud(x[s]), Cloud(x[s])) + 1e-9 * np.eye(len(rows))
        values[s] = np.linalg.cholesky(k) @ rng.standard_normal(len(rows))
    products = values[:, :, None] * values[:, None, :]
    error = products.std(axis=0) / np.sqrt(sets)
    assert np.all(np.abs(products.mean(axis=0) - matrix(kernel, rows, 0.0)) < 4 * error)


def test_a_kernel_that_cannot_be_factored_costs_infinity(monkeypatch):
    def fail(_):
        raise np.linalg.LinAlgError

    cost = Likelihood(SHAPES[0], CLOUDS[0], VALUES)
    monkeypatch.setattr("phenes.gp.likelihood.safe_cholesky", fail)
    value, gradient = cost(cost.prior.mean)
    assert value == np.inf
    assert not gradient.any()
