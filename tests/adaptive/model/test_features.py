"""Hermite features: orthonormal under N(0, I), and as many as they say."""

import numpy as np

from phenes.adaptive.model.features import (
    axis_features,
    crosses,
    dear,
    design,
    features_of,
    full_features,
    higher,
    pairs,
    richest,
)


def test_features_are_orthonormal():
    z = np.random.default_rng(0).standard_normal((200_000, 3))
    a = np.concatenate([design(z, True), higher(z, True)], axis=1)
    assert a.shape[1] == full_features(3) + 2 * 3 + 3 * 2
    # products have standard errors of up to sqrt(E h^4 / n): the fourth order's is about .07
    assert np.allclose(a.T @ a / len(z), np.eye(a.shape[1]), atol=0.2)
    low = design(z, True)
    assert np.allclose(low.T @ low / len(z), np.eye(low.shape[1]), atol=0.03)


def test_products_are_in_the_order_of_the_pairs():
    z = np.random.default_rng(0).standard_normal((5, 4))
    j, k = pairs(4)
    assert np.array_equal(design(z, True)[:, 9:], z[:, j] * z[:, k])
    assert np.array_equal(design(z, False), design(z, True)[:, :9])


def test_the_number_of_features_is_bounded():
    assert full_features(3) == 10
    assert axis_features(3) == 7
    assert features_of(43) == full_features(43)
    assert features_of(44) == axis_features(44)
    assert not dear(26)
    assert dear(27)
    assert dear(44)


def test_products_are_fitted_as_rows_allow_up_to_the_largest_matrix():
    assert richest(200) == full_features(200)
    assert richest(201) == axis_features(201)
    assert not crosses(100, 5923)  # 1.15 * 5151
    assert crosses(100, 5924)
    assert not crosses(201, 10**9)
    assert not crosses(1, 10**9)
