"""The law of x in whitened coordinates: moments, coordinates without noise, laws known by draws."""

import numpy as np
import pytest

from phenes.evidence.law import SIMULATED, gaussian_law, sampled_law

THETA, BIAS = np.array([1.0, -2.0]), np.array([0.1, 0.0])
COV = np.array([[0.5, 0.3], [0.3, 0.4]])
COVS = {
    "variances": np.array([0.04, 0.25]),
    "partly exact": np.array([0.04, 0.0]),
    "full": np.array([[0.04, 0.03], [0.03, 0.25]]),
    "singular": np.array([[0.04, 0.04], [0.04, 0.04]]),
}


@pytest.mark.parametrize("cov", [COV, np.array([0.5, 0.4])], ids=["matrix", "diagonal"])
def test_whitened_draws_have_mean_zero_and_covariance_one(cov):
    law = gaussian_law(THETA, BIAS, cov, scale=np.ones(2))
    rng = np.random.default_rng(0)
    full = np.diag(cov) if cov.ndim == 1 else cov
    z = law.z(rng.multivariate_normal(THETA + BIAS, full, size=50_000))
    # 5 standard errors
    np.testing.assert_allclose(z.mean(axis=0), 0, atol=5 / np.sqrt(50_000))
    np.testing.assert_allclose(np.cov(z.T), np.eye(2), atol=5 * np.sqrt(2 / 50_000))
    assert law.weighs
    assert law.draws.shape == (SIMULATED, 2)


@pytest.mark.parametrize("cov", [np.diag([0.25, 0.0]), np.array([0.25, 0.0])], ids=["2", "1"])
def test_coordinates_without_noise_are_in_units_of_the_search(cov):
    law = gaussian_law(THETA, np.zeros(2), cov, scale=np.array([9.0, 0.01]))
    z = np.abs(law.z(THETA + np.array([0.5, 0.01])))
    np.testing.assert_allclose(np.sort(z), [1.0, 1.0])
    assert not law.weighs
    assert np.count_nonzero(law.noisy) == 1
    assert np.all(law.draws[:, ~law.noisy] == 0)


def test_a_law_that_is_known_by_draws_only():
    rng = np.random.default_rng(1)
    x = THETA + rng.uniform(-1, 1, size=(20_000, 2))
    law = sampled_law(THETA, x, np.ones(2))
    assert not law.exact
    assert law.rests_on == len(x)
    np.testing.assert_allclose(law.centre, x.mean(axis=0))
    np.testing.assert_allclose(np.cov(law.draws.T), np.eye(2), atol=1e-9)


@pytest.mark.parametrize("cov", COVS.values(), ids=COVS)
def test_whitened_coordinates_and_back(cov):
    law = gaussian_law(THETA, np.full(2, 0.1), cov, scale=np.array([0.5, 2.0]))
    x = np.random.default_rng(0).normal(0, 1, (5, 2))
    np.testing.assert_allclose(law.x(law.z(x)), x, atol=1e-12)
    np.testing.assert_allclose(law.cov, cov, atol=1e-12)


@pytest.mark.parametrize("cov", COVS.values(), ids=COVS)
def test_squared_lengths_are_those_of_z_across_blocks(cov, monkeypatch):
    law = gaussian_law(THETA, np.full(2, 0.1), cov, scale=np.array([0.5, 2.0]))
    monkeypatch.setattr("phenes.evidence.law.BLOCK", 6)
    x = np.random.default_rng(0).normal(0, 1, (7, 2))
    np.testing.assert_allclose(law.squared(x), np.sum(law.z(x) ** 2, axis=1), rtol=1e-12)
    shifted = np.sum(law.z(x + BIAS) ** 2, axis=1)
    np.testing.assert_allclose(law.squared(x, BIAS), shifted, rtol=1e-12)


def test_moments_of_draws():
    x = np.random.default_rng(1).gamma(2.0, 1.0, (500, 2))
    law = sampled_law(THETA, x, np.ones(2))
    np.testing.assert_allclose(law.cov, np.cov(x.T), atol=1e-12)
    np.testing.assert_allclose(law.x(law.draws), x, atol=1e-12)
