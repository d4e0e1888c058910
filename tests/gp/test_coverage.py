"""Rows that stand for all must reach as far as the law does."""

import numpy as np

from phenes.gp.coverage import covering


def test_few_rows_are_all_taken():
    assert covering(np.array([3.0, 1.0, 2.0]), 2, 5).tolist() == [0, 1, 2]


def test_rows_reach_as_far_as_the_law():
    """Of 5000 draws of the law, 100 have its spread; the nearest 100 have not."""
    x = np.random.default_rng(0).standard_normal((5000, 3))
    distance = np.sum(x**2, axis=1)
    chosen = covering(distance, 3, 100)
    assert len(np.unique(chosen)) == len(chosen) == 100
    assert np.all(np.diff(chosen) > 0)
    np.testing.assert_allclose(x[chosen].std(axis=0), 1, atol=0.25)
    nearest = np.argsort(distance)[:100]
    assert x[nearest].std() < 0.4


def test_rows_that_the_law_does_not_reach_come_last():
    near = np.linspace(0, 5, 30)
    far = np.linspace(1e3, 2e3, 50)
    distance = np.concatenate([far, near])
    assert set(covering(distance, 2, 40)) == {*range(50, 80), *range(10)}
