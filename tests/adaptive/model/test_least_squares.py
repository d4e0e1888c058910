"""The one least squares behind every model."""

import numpy as np

from phenes.adaptive.model.least_squares import conjugate_gradients, solve


def test_both_ways_agree_with_the_reference():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((200, 80)), rng.standard_normal(200)
    a[:, 0] = 1
    reference = np.linalg.lstsq(a, b, rcond=None)[0]
    assert np.allclose(solve(a, b), reference, atol=1e-5)
    assert np.allclose(conjugate_gradients(a, b), reference, atol=1e-5)


def test_conjugate_gradients_stand_rows_of_a_wider_search():
    """Features 1, z and z^2 of rows whose widths differ by ten, 1.3 rows for each: exact values."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((521, 200)) * rng.uniform(1, 10, (521, 1)) + 5
    a = np.concatenate([np.ones((521, 1)), z, z**2 - 1], axis=1)
    b = a @ rng.standard_normal(401)
    assert np.std(b - a @ conjugate_gradients(a, b)) < 1e-3 * b.std()


def test_collinear_features_are_survived():
    a = np.ones((20, 3))
    assert np.allclose(a @ solve(a, np.full(20, 6.0)), 6, atol=1e-4)


def test_equations_that_cannot_be_solved_give_nothing():
    """Columns that are equal, and so large that no ridge tells them apart."""
    assert solve(np.full((20, 3), 1e20), np.ones(20)) is None
