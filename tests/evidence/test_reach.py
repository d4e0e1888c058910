"""What evaluations have met of a law: shares beyond the farthest of them."""

import numpy as np
import pytest
from scipy import special

from phenes.evidence.law import gaussian_law, sampled_law
from phenes.evidence.reach import WITHIN, aimed, unmet

SCALE = np.ones(2)


def law(noise=(0.5, 2.0)):
    return gaussian_law(np.array([1.0, -1.0]), np.zeros(2), np.square(noise), scale=SCALE)


def ring(radius, n=400):
    """x at a distance of so many standard deviations, all around."""
    angle = np.linspace(0, 2 * np.pi, n, endpoint=False)
    return law().x(radius * np.stack([np.cos(angle), np.sin(angle)], axis=1))


@pytest.mark.parametrize("radius", [1.0, 2.0])
def test_of_a_ring_the_share_beyond_it_is_unmet(radius):
    assert unmet(law(), ring(radius)).share == pytest.approx(special.ndtr(-radius), rel=1e-3)


def test_the_direction_is_the_side_without_evaluations():
    points = ring(2.0)
    left = points[points[:, 0] <= 1.0 + 0.5 * 0.3]
    found = unmet(law(), left)
    np.testing.assert_allclose(found.direction, [1.0, 0.0], atol=0.05)
    assert found.share == pytest.approx(special.ndtr(-0.3), abs=0.02)


def test_what_is_far_away_has_met_nothing():
    """An evaluation ten standard deviations to the right says nothing of an edge in between."""
    near = ring(1.0)[:200]
    far = law().x(np.array([[2 * WITHIN, 0.0], [0.0, -2 * WITHIN]]))
    assert unmet(law(), np.concatenate([near, far])).share == unmet(law(), near).share


def test_a_law_of_draws_is_counted():
    draws = np.random.default_rng(0).uniform(-1, 1, (4000, 1))
    found = unmet(sampled_law(np.zeros(1), draws, np.ones(1)), np.array([[-0.95], [0.0], [0.4]]))
    np.testing.assert_array_equal(found.direction, [1.0])
    assert found.share == pytest.approx(0.3, abs=0.02)


def test_without_noise_there_is_nothing_to_meet():
    exact = gaussian_law(np.zeros(2), np.zeros(2), np.zeros(2), scale=SCALE)
    assert unmet(exact, np.empty((0, 2))).share == 0.0


def test_coordinates_without_noise_are_no_directions():
    some = law((0.5, 0.0))
    assert unmet(some, np.empty((0, 2))).direction[1] == 0.0


def test_half_of_what_is_aimed_lands_beyond():
    """In the direction, by the normal quantile of a quarter of the share."""
    here = law()
    theta = aimed(here, np.array([0.6, 0.8]), 0.1)
    np.testing.assert_allclose(here.z(theta), -special.ndtri(0.025) * np.array([0.6, 0.8]))
