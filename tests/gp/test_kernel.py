"""Expectations of kernels under Gaussian inputs are those of quadrature."""

import numpy as np
import pytest
from scipy.linalg import cholesky

from phenes.gp.cloud import Cloud
from phenes.gp.kernel import Kernel, matern, safe_cholesky, squared_exponential
from tests.gp.reference import CLOUDS, DIAGONAL, FULL, KERNELS, expected, nodes, plain

SOME = ((0, 1), (1, 2), (3, 7), (4, 4), (5, 8))
# what the second has, the first or the third has too
EACH = [
    pytest.param(kernel, id=kernel.shape.name, marks=pytest.mark.tier("runs") if i == 1 else ())
    for i, kernel in enumerate(KERNELS)
]


def diagonal(kernel, x):
    return np.array([plain(kernel, row[None], row[None])[0, 0] for row in x])


def name(cloud):
    return "exact" if cloud.cov is None else f"{cloud.cov.shape}"


@pytest.mark.parametrize("kernel", EACH)
@pytest.mark.parametrize("a", CLOUDS, ids=name)
@pytest.mark.parametrize("b", CLOUDS, ids=name)
def test_covariance_is_the_expected_kernel(kernel, a, b):
    """Independent x and x', also those of the same row."""
    found = kernel.covariance(a, b)
    for i, j in SOME:
        assert found[i, j] == pytest.approx(expected(kernel, a, i, b, j), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("kernel", EACH)
@pytest.mark.parametrize("cloud", CLOUDS, ids=name)
def test_own_variance_is_that_of_one_uncertain_point(kernel, cloud):
    """E k(x, x), where `averaged` has two independent draws: E k(x, x')."""
    own = kernel.own(cloud)
    for row in range(len(cloud)):
        x, weights = nodes(cloud, row)
        assert own[row] == pytest.approx(weights @ diagonal(kernel, x), rel=1e-8)
    if not cloud.each:
        averaged = [expected(kernel, cloud, row, cloud, row) for row in range(len(cloud))]
        assert kernel.averaged(cloud) == pytest.approx(np.array(averaged), rel=1e-8)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.shape.name)
@pytest.mark.parametrize("noise", [None, DIAGONAL, FULL], ids=["none", "diagonal", "full"])
@pytest.mark.parametrize("rows", CLOUDS, ids=name)
def test_slopes_are_those_of_finite_differences(kernel, noise, rows):
    theta, h = np.array([0.3, 0.6]), 1e-5
    steps = h * np.eye(2)

    def k(at):
        return kernel.covariance(Cloud(at[None], noise), rows)[0]

    def own(at):
        return kernel.averaged(Cloud(at[None], noise))[0]

    numeric = np.stack([(k(theta + s) - k(theta - s)) / (2 * h) for s in steps], axis=1)
    value, slope = kernel.at(Cloud(theta[None], noise), rows)
    assert value == pytest.approx(k(theta), rel=1e-9, abs=1e-12)
    assert slope == pytest.approx(numeric, rel=1e-6, abs=1e-8)
    numeric = np.array([(own(theta + s) - own(theta - s)) / (2 * h) for s in steps])
    assert kernel.averaged_slope(Cloud(theta[None], noise)) == pytest.approx(
        numeric, rel=1e-6, abs=1e-8
    )


def test_the_mixture_is_matern_five_halves():
    """Closed form (1 + r + r^2 / 3) exp(-r), r = sqrt 5 times the distance."""
    distance = np.linspace(0, 4, 81)
    r = np.sqrt(5) * distance
    kernel = Kernel(matern(False), np.ones(1))
    found = kernel.covariance(Cloud(np.zeros((1, 1))), Cloud(distance[:, None]))[0]
    assert found == pytest.approx((1 + r + r**2 / 3) * np.exp(-r), abs=0.005)


def test_parts_share_a_covariance_where_they_can():
    """Rows under way all have that of the noise: one block, without an array of every pair."""
    cov = np.zeros((5, 2))
    cov[3:] = DIAGONAL
    parts = Cloud(np.zeros((5, 2)), cov, each=True).parts
    assert [(list(index), part.each) for index, part in parts] == [
        ([0, 1, 2], False),
        ([3, 4], False),
    ]
    assert np.array_equal(parts[1][1].cov, DIAGONAL)


def test_cholesky_of_a_singular_matrix_gets_the_least_jitter():
    kernel = Kernel(squared_exponential(False), np.full(2, 30.0))
    points = np.random.default_rng(0).random((60, 2))
    k = kernel.covariance(Cloud(points), Cloud(points))
    with pytest.raises(np.linalg.LinAlgError):
        cholesky(k, lower=True)
    factor = np.tril(safe_cholesky(k))
    assert factor @ factor.T == pytest.approx(k, abs=1e-6)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        safe_cholesky(np.diag([1.0, -1.0]))


@pytest.mark.parametrize("cloud", CLOUDS, ids=name)
def test_each_coordinate_of_a_cloud_has_its_own_variance(cloud):
    for j, one in enumerate(cloud.coordinates):
        np.testing.assert_array_equal(one.points[:, 0], cloud.points[:, j])
        variances = np.broadcast_to(cloud.variances(), cloud.points.shape)[:, j]
        np.testing.assert_array_equal(np.broadcast_to(one.variances(), (9, 1))[:, 0], variances)


@pytest.mark.parametrize("cloud", CLOUDS, ids=name)
def test_some_points_of_a_cloud_keep_their_covariances(cloud):
    index = np.array([1, 4, 8])
    some, kernel = cloud.some(index), KERNELS[-1]
    found, whole = kernel.covariance(some, some), kernel.covariance(cloud, cloud)
    np.testing.assert_allclose(found, whole[np.ix_(index, index)], rtol=1e-12)
    np.testing.assert_array_equal(kernel.own(some), kernel.own(cloud)[index])
