"""The quadratic model: exact where f is one, gradient and Hessian of the smoothed f elsewhere."""

import numpy as np

from phenes.adaptive.model.quadratic import enrich, fit
from tests.adaptive.problems import ellipsoid, spd


def test_the_model_of_a_quadratic_is_exact():
    rng = np.random.default_rng(0)
    hessian, g = spd(4, 1), rng.standard_normal(4)
    z = rng.standard_normal((40, 4))
    model = fit(z, z @ g + 0.5 * np.sum((z @ hessian) * z, axis=1) + 3)
    assert model is not None
    assert model.turn is not None
    assert np.allclose((model.turn * model.h) @ model.turn.T, hessian, atol=1e-4)
    assert np.allclose(model.turn @ model.g, g, atol=1e-4)
    assert model.r2 > 1 - 1e-9


def test_the_gradient_is_that_of_the_smoothed_function():
    """Stein: for z^3 it is 3 at 0, where f' = 0; richer models make its error smaller."""
    rng = np.random.default_rng(0)
    plain, rich = [], []
    for _ in range(40):
        z = rng.standard_normal((200, 3))
        f = z[:, 0] ** 3 + z**2 @ np.array([1.0, 3.0, 9.0])
        model = fit(z, f)
        assert model is not None
        for found, one in ((plain, model), (rich, enrich(z, f, model))):
            assert one.turn is not None
            found.append((one.turn @ one.g)[0])
    for found in (plain, rich):
        assert abs(np.mean(found) - 3) < 4 * np.std(found) / np.sqrt(40) + 1e-6
    assert np.std(rich) < np.std(plain) / 3


def test_too_few_rows_or_equal_values_give_no_model():
    z = np.random.default_rng(0).standard_normal((40, 4))
    assert fit(z[:10], z[:10, 0]) is None
    assert fit(z, np.ones(40)) is None
    assert fit(z, np.full(40, np.inf)) is None


def test_without_rows_for_products_the_curvature_is_along_the_axes():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((16, 4))  # full: 15 features, axes: 9
    model = fit(z, z**2 @ np.arange(1.0, 5))
    assert model is not None
    assert model.turn is None
    assert np.allclose(model.h, 2 * np.arange(1.0, 5), atol=1e-4)
    assert np.allclose(model.predict(z), z**2 @ np.arange(1.0, 5), atol=1e-4)


def test_noise_of_the_values_is_as_large_inside_as_outside_and_a_missing_term_is_not():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((2000, 3))
    noise, quartic = fit(z, z[:, 0] + rng.standard_normal(2000)), fit(z, z[:, 0] ** 4)
    assert noise.outer < 1.2 < 2 < quartic.outer
    assert abs(noise.residual - 1) < 0.1
    assert abs(noise.r2 - 0.5) < 0.1


def test_the_value_is_that_under_the_noise():
    """E f at u under noise of variance v: the quadratic at u plus half the curvature times v."""
    z = np.random.default_rng(0).standard_normal((60, 2))
    model = fit(z, 3 + z @ [1.0, 2.0] + z**2 @ [2.0, 5.0])
    u, v = np.array([0.5, -1.0]), np.array([0.1, 0.3])
    truth = 3 + np.array([1.0, 2.0]) @ model.out_of(u) + np.array([2.0, 5.0]) @ model.out_of(u) ** 2
    cost = 0.5 * model.h @ v
    assert np.isclose(model.value(u, v), truth + cost, atol=1e-3)


def test_a_richer_model_needs_its_rows_and_has_to_explain_more():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((60, 3))
    plain = fit(z, z[:, 0] ** 3)
    assert enrich(z[:20], z[:20, 0] ** 3, plain) is plain  # too few rows
    better = enrich(z, z[:, 0] ** 3, plain)
    assert better.residual < 0.1 * plain.residual
    assert better.features > plain.features


def test_a_sum_of_functions_of_coordinates_that_are_not_orthogonal_is_exact():
    """12 rows in 4 coordinates: value, slope and Hessian of sum h_k v_k^2 / 2 + b_k v_k."""
    rng = np.random.default_rng(1)
    axes = rng.standard_normal((4, 4))
    axes /= np.linalg.norm(axes, axis=0)
    h, b = np.array([1.0, 20.0, 3.0, 0.1]), rng.standard_normal(4)
    z = rng.standard_normal((12, 4))
    found = fit(z, z @ axes @ b + 0.5 * (z @ axes) ** 2 @ h + 7, axes=axes)
    assert np.allclose((found.turn * found.h) @ found.turn.T, (axes * h) @ axes.T, atol=1e-3)
    assert np.allclose(found.turn @ found.g, axes @ b, atol=1e-3)
    assert np.allclose(found.predict(np.zeros((1, 4))), 7, atol=1e-3)


def test_curvature_is_along_the_axes_that_explain_more():
    """16 rows in 4 coordinates have no products: only the right axes make the model exact."""
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    z = rng.standard_normal((16, 4))
    f = (z @ axes) ** 2 @ np.arange(1.0, 5)
    turned, plain = fit(z, f, axes=axes), fit(z, f)
    assert np.allclose(np.abs(turned.turn.T @ axes), np.eye(4), atol=1e-5)
    assert not turned.crossed
    assert turned.residual < 1e-5 < plain.residual
    assert np.allclose(turned.h, 2 * np.arange(1.0, 5), atol=1e-4)
    assert fit(z, z**2 @ np.arange(1.0, 5), axes=axes).turn is None


def test_products_of_many_coordinates_grow_with_the_rows():
    """30 coordinates have 496 features: with 300 rows a model knows more than with the axes alone,
    with 520 it fits all of them by steps, with 600 directly."""
    rng = np.random.default_rng(0)
    _, f = ellipsoid(30, 10, seed=1)
    z = rng.standard_normal((600, 30))
    values = f(z)
    axes, some, all_of_them = (
        fit(z, values, crossed=False),
        fit(z[:300], values[:300]),
        fit(z, values),
    )
    assert not axes.crossed
    assert some.crossed
    assert some.residual < 0.8 * axes.residual
    assert some.features == axes.features
    assert all_of_them.features == 496
    assert all_of_them.residual < 1e-4
    assert some.explains(z[300:], values[300:]) > axes.explains(z[300:], values[300:])
