"""The law of x around a theta, and its whitened coordinates."""

import numpy as np
import pytest

from phenes.evidence.law import gaussian_law, sampled_law

THETA = np.array([1.0, -2.0])
COVS = {
    "variances": np.array([0.04, 0.25]),
    "partly exact": np.array([0.04, 0.0]),
    "full": np.array([[0.04, 0.03], [0.03, 0.25]]),
    "singular": np.array([[0.04, 0.04], [0.04, 0.04]]),
}


@pytest.mark.parametrize("cov", COVS.values(), ids=COVS)
def test_whitened_coordinates_and_back(cov):
    law = gaussian_law(THETA, np.full(2, 0.1), cov, scale=np.array([0.5, 2.0]))
    x = np.random.default_rng(0).normal(0, 1, (5, 2))
    np.testing.assert_allclose(law.x(law.z(x)), x, atol=1e-12)
    np.testing.assert_allclose(law.cov, cov, atol=1e-12)


def test_moments_of_draws():
    x = np.random.default_rng(1).gamma(2.0, 1.0, (500, 2))
    law = sampled_law(THETA, x, np.ones(2))
    np.testing.assert_allclose(law.cov, np.cov(x.T), atol=1e-12)
    np.testing.assert_allclose(law.x(law.draws), x, atol=1e-12)
