"""The best point of a model that the bounds allow."""

import numpy as np

from phenes.adaptive import bounds
from phenes.adaptive.marginal import marginal_of
from tests.adaptive.problems import coordinates

HESSIAN = np.array([[2.0, 1.0], [1.0, 3.0]])


def problem(upper):
    """min (x - (2, 1))' H (x - (2, 1)) below `upper`, in whitened units."""
    coords = coordinates(np.ones(2), upper=upper)
    marginal = marginal_of(np.zeros(2), 2 * np.eye(2), coords.c)
    curvature, turn = np.linalg.eigh(2 * HESSIAN)
    return coords, marginal, turn, turn.T @ marginal.whiten(np.array([2.0, 1.0])), curvature


def test_the_bounds_allow_the_best_point_of_the_model_inside():
    """x_0 <= 1: compared with the exact solution."""
    coords, marginal, turn, u, curvature = problem([1.0, np.inf])
    found = bounds.nearest(coords, marginal, turn, u, curvature)
    inside = marginal.mean + marginal.unwhiten(turn @ found)
    assert np.allclose(inside, [1.0, 1 + 1 / 3])


def test_a_point_within_the_bounds_is_left_alone():
    coords, marginal, turn, u, curvature = problem([3.0, 3.0])
    assert bounds.nearest(coords, marginal, turn, u, curvature) is u
    unbounded, *_ = problem(np.inf)
    assert bounds.confine(unbounded, marginal, turn)(u, curvature) is u


def test_a_coordinate_that_leaves_late_is_put_on_its_border_too():
    """x_0 <= 1 makes x_1 want 4/3, which is outside as well."""
    coords, marginal, turn, u, curvature = problem([1.0, 1.2])
    found = bounds.confine(coords, marginal, turn)(u, curvature)
    assert np.allclose(marginal.mean + marginal.unwhiten(turn @ found), [1.0, 1.2])
