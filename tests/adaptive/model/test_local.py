"""A model that changes as little as its rows demand."""

import numpy as np
import pytest

from phenes.adaptive.model.local import least_change
from tests.adaptive.problems import spd

DIM = 4
HESSIAN, SLOPE = spd(DIM, 0), np.array([1.0, -2.0, 0.5, 0.0])


def rise(z):
    return z @ SLOPE + np.sum((z @ HESSIAN) * z, axis=1) / 2


def rows(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, DIM))


@pytest.mark.parametrize("known", [np.zeros((DIM, DIM)), HESSIAN, -spd(DIM, 3)])
def test_rows_that_show_all_of_a_quadratic_decide_alone(known):
    z = rows(60)
    model = least_change(z, rise(z) + 1e-12 * z[:, 0], known)
    np.testing.assert_allclose(model.hessian, HESSIAN, atol=0.02)
    np.testing.assert_allclose(model.turn @ model.g, SLOPE, atol=0.02)
    u = model.turn.T @ z[0]
    assert model.change(u) == pytest.approx(rise(z[:1])[0], abs=0.02)


def test_curvature_that_no_row_shows_stays():
    """Rows in the plane of two coordinates, and a change of the curvature there."""
    z = rows(40)
    z[:, 2:] *= 1e-9
    bent = HESSIAN + np.diag([1.0, 0, 0, 0])
    model = least_change(z, rise(z) + z[:, 0] ** 2 / 2, HESSIAN)
    np.testing.assert_allclose(model.hessian, bent, atol=0.02)


def test_fewer_rows_than_coefficients_are_explained():
    """4 rows, 14 coefficients: the least change that explains them, nearly."""
    z = rows(4)
    model = least_change(z, rise(z), np.zeros((DIM, DIM)))
    told = [model.change(model.turn.T @ each) for each in z]
    np.testing.assert_allclose(told, rise(z), rtol=0.05)


def test_rows_far_out_weigh_less():
    """Half of the rows are from ten times as far, where the curvature is another."""
    z = rows(120) / 2
    far = np.arange(120) % 2 == 0
    z[far] *= 10
    values = np.where(far, 3 * rise(z), rise(z))
    near = least_change(z, values, HESSIAN)
    same = least_change(z[far], values[far], HESSIAN)
    error = np.linalg.norm(near.hessian - HESSIAN)
    assert error < np.linalg.norm(same.hessian - HESSIAN) / 1.5


def test_nothing_to_learn_is_no_model():
    z = rows(60)
    assert least_change(z, np.zeros(60), np.zeros((DIM, DIM))) is None
    assert least_change(z, np.full(60, np.nan), HESSIAN) is None
