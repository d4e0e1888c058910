"""Models of constraints: planes and bowls are known, what is not known is doubted."""

import numpy as np

from phenes.gp.limits import LimitModel

X = np.random.default_rng(0).uniform(-1, 1, (30, 2))
C = np.stack([X @ [1.0, 2.0] - 1, np.sum(X**2, axis=1), np.full(30, -3.0)], axis=1)


def test_planes_bowls_and_constants_are_known():
    model = LimitModel(X, C, np.zeros(2), np.full(2, 0.01))
    at = 0.3 * np.random.default_rng(1).standard_normal((20, 2))
    mean, sd = model.at(at)
    expected = np.stack([at @ [1.0, 2.0] - 1, np.sum(at**2, axis=1), np.full(20, -3.0)], axis=1)
    np.testing.assert_allclose(mean, expected, atol=1e-4)
    assert sd.max() < 1e-2
    np.testing.assert_array_equal(model.at(at, sure=True)[0].shape, (20, 3))


def test_rows_that_are_not_known_are_left_out_and_too_few_are_no_model():
    c = np.where(np.arange(30)[:, None] % 3, C, np.nan)
    assert LimitModel(X, c, np.zeros(2), np.ones(2)).ready
    assert not LimitModel(X, np.full((30, 1), np.nan), np.zeros(2), np.ones(2)).ready


def test_a_known_kernel_is_followed():
    first = LimitModel(X, C, np.zeros(2), np.ones(2))
    again = LimitModel(X, C, np.zeros(2), np.ones(2), first.fitted)
    assert [each and each.shape for each in again.fitted] == [
        each and each.shape for each in first.fitted
    ]


def test_the_mean_of_a_plane_and_a_bowl_is_exact():
    """E of a plane is the plane at the centre, E |x|^2 has the variances added."""
    model = LimitModel(X, C, np.zeros(2), np.full(2, 0.01))
    at, cov = np.array([0.2, -0.1]), np.array([[0.04, 0.01], [0.01, 0.09]])
    for noise, trace in ((np.diag(cov), 0.13), (cov, 0.13), (np.zeros(2), 0.0)):
        mean, sd = model.averaged(at, noise)
        np.testing.assert_allclose(mean, [-1.0, 0.05 + trace, -3.0], atol=1e-4)
        assert sd.max() < 1e-2
