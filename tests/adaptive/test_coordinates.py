"""Coordinates in which the noise is simple."""

import numpy as np
import pytest

from phenes.adaptive.coordinates import make_coordinates
from tests.adaptive.problems import coordinates, spd


def test_the_noise_is_white_in_y():
    cov, width = spd(3, 0), np.array([1.0, 10.0, 0.1])
    coords = coordinates(cov, width)
    noise = np.random.default_rng(1).multivariate_normal(np.zeros(3), cov, 20_000)
    # 20,000 draws: entries of the covariance have a standard error of at most .01
    assert np.allclose(np.cov(coords.to_y(noise).T), np.eye(3), atol=0.05)
    assert np.allclose(coords.to_x(coords.to_y(noise)), noise)
    assert np.allclose(coords.std_x(coords.start()), width)


def test_directions_without_noise_stay_so():
    root = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]).T
    assert sorted(coordinates(root @ root.T).c) == [0, 1, 1]


def test_noise_that_double_precision_does_not_resolve_is_none():
    coords = coordinates(np.array([1e-18, 1e-6]))
    assert list(coords.c) == [0, 1]
    assert coords.noisy
    assert not coordinates(np.full(2, 1e-18)).noisy


def test_beyond_a_size_everything_is_diagonal():
    coords = coordinates(np.eye(201) + 0.1)
    assert not coords.full
    assert coords.turn is None
    assert coords.start().shape == coords.noise_matrix().shape == (201,)


def test_bounds_are_those_of_theta_not_of_x():
    """The world adds 1: an aim at y = 0 means theta = -1, which the bounds move to -0.5."""
    coords = coordinates(np.ones(2), bias=1.0, lower=-0.5)
    assert np.allclose(coords.intend(np.zeros(2)), -0.5)
    assert np.allclose(coords.to_x(coords.inside(np.zeros(2))), 0.5)
    assert np.array_equal(coords.inside(np.ones(2)), np.ones(2))


@pytest.mark.parametrize(("mean", "cut"), [(0.0, False), (0.6, True)])
def test_bounds_cut_into_a_search_within_a_standard_deviation(mean, cut):
    coords = coordinates(np.zeros(2), upper=1.0)
    assert coords.cuts(np.full(2, mean), 0.25 * np.eye(2)) == cut
    assert not coordinates(np.zeros(2)).cuts(np.full(2, mean), 9 * np.eye(2))


@pytest.mark.parametrize("noise", [np.zeros(3), np.array([0.5, 0.0, 2.0]), spd(3, 4)], ids=str)
def test_coordinates_of_x_are_as_wide_as_they_must_be_and_others_stay(noise):
    least, width = np.array([0.0, 0.3, 0.2]), np.array([1.0, 10.0, 0.1])
    coords = make_coordinates(
        noise, width, np.zeros(3), np.full(3, -9.0), np.full(3, 9.0), least=least
    )
    narrow = 1e-4 * coords.start() + coords.noise_matrix()  # a hundredth of `width` in x
    wide = coords.widened(narrow, coords.least)
    before, after = (coords.std_x(cov - coords.noise_matrix()) for cov in (narrow, wide))
    assert np.allclose(before, 0.01 * width)
    assert np.allclose(after, [0.01, 0.3, 0.2])
    assert np.allclose(coords.widened(wide, coords.least), wide)
