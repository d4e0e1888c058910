"""All products of many coordinates, by conjugate gradients without the design."""

import numpy as np

from phenes.adaptive.model import products
from phenes.adaptive.model.features import design, pairs
from phenes.adaptive.model.products import Coefficients
from tests.adaptive.problems import spd

DIM = 6


def within(n, seed=0):
    """Rows as far out as draws at most: all weigh the same."""
    z = np.random.default_rng(seed).standard_normal((n, DIM))
    return z / np.maximum(np.linalg.norm(z, axis=1, keepdims=True) / np.sqrt(DIM), 1.0)


def random_coefficients(seed):
    rng = np.random.default_rng(seed)
    return Coefficients(float(rng.standard_normal()), rng.standard_normal(DIM), spd(DIM, seed))


def as_features(at):
    """The same coefficients as factors of the Hermite features."""
    return np.r_[at.c, at.g, np.diag(at.h) / np.sqrt(2), at.h[pairs(DIM)]]


def test_values_and_adjoint_are_those_of_the_design():
    z, at = within(20), random_coefficients(1)
    a = design(z, True)
    assert np.allclose(products.values(z, at), a @ as_features(at))
    w = np.random.default_rng(2).standard_normal(20)
    assert np.allclose(as_features(products._adjoint(z, w)), a.T @ w)
    assert np.isclose(at.squared, np.sum(as_features(at) ** 2))


def test_a_quadratic_is_found_where_rows_suffice():
    z, at = within(60), random_coefficients(1)
    found, missed = products.solve(z, products.values(z, at), random_coefficients(3))
    assert np.allclose(found.h, at.h, atol=1e-6)
    assert np.allclose(found.g, at.g, atol=1e-6)
    assert np.abs(missed).max() < 1e-6


def test_with_fewer_rows_the_change_is_the_least_that_explains_them():
    """Along the gradient of the squares, in the first step, and never out of the span of rows."""
    z, start = within(24), random_coefficients(1)
    stiff = Coefficients(start.c, start.g, start.h + 5 * np.outer(z[1], z[1]))
    b = products.values(z, stiff)
    learns = np.arange(24) % 8 != 0
    found, _ = products.solve(z, b, start)
    change = as_features(found) - as_features(start)
    span = design(z[learns], True)
    outside = change - np.linalg.pinv(span) @ (span @ change)
    assert np.linalg.norm(change) > 1
    assert np.linalg.norm(outside) < 1e-9 * np.linalg.norm(change)
    # a direction of high curvature is found with fewer rows than coefficients
    assert np.linalg.norm(found.h - stiff.h) < 0.7 * np.linalg.norm(start.h - stiff.h)


def test_noise_of_the_values_teaches_nothing():
    z = within(40)
    nothing = Coefficients(0.0, np.zeros(DIM), np.zeros((DIM, DIM)))
    found, missed = products.solve(z, np.random.default_rng(5).standard_normal(40), nothing)
    # 28 coefficients would explain most of 35 rows that they learn from
    assert found.squared < 0.5
    assert np.sqrt(np.mean(missed**2)) > 0.5
