"""Fronts of two values: dominance, area, and the area that a point is expected to add."""

import numpy as np
import pytest

from phenes.pareto.hypervolume import (
    evenly,
    expected_improvement,
    hypervolume,
    nondominated,
    shown_to_be_beaten,
    staircase,
)

CORNER = np.array([4.0, 4.0])


def test_a_row_is_beaten_by_one_that_is_nowhere_worse_and_somewhere_better():
    values = np.array([[1.0, 3.0], [2.0, 2.0], [2.0, 3.0], [3.0, 1.0], [3.0, 1.0], [np.nan, 0.0]])
    assert nondominated(values).tolist() == [True, True, False, True, True, False]
    assert staircase(values).tolist() == [[1, 3], [2, 2], [3, 1]]


def test_only_what_is_beaten_by_more_than_the_errors_is_shown_to_be():
    values = np.array([[1.0, 1.0], [1.5, 1.5], [1.0, 2.0], [np.nan, 0.0]])
    exact = np.zeros((4, 2))
    assert shown_to_be_beaten(values, exact).tolist() == [False, True, True, True]
    assert shown_to_be_beaten(values, exact + 0.1).tolist() == [False, True, False, True]
    assert shown_to_be_beaten(values, exact + 0.5).tolist() == [False, False, False, True]
    assert not shown_to_be_beaten(values, exact + np.inf)[:3].any()


def test_the_area_is_that_of_the_boxes():
    assert hypervolume(np.array([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]]), CORNER) == 3 + 2 + 1
    assert hypervolume(np.array([[5.0, 0.0]]), CORNER) == 0.0
    drawn = np.random.default_rng(0).uniform(0, 4, (30, 2))
    points = np.random.default_rng(1).uniform(0, 4, (200_000, 2))
    ruled = np.zeros(len(points), bool)
    for each in drawn:
        ruled |= np.all(points >= each, axis=1)
    share = ruled.mean()
    error = 16 * np.sqrt(share * (1 - share) / len(points))
    assert hypervolume(drawn, CORNER) == pytest.approx(16 * share, abs=4 * error)


@pytest.mark.parametrize("k", [0, 1, 3])
def test_the_expected_improvement_is_the_mean_of_improvements(k):
    """Against 1,000 draws, within four of their standard errors."""
    stairs = np.array([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]])[:k]
    rng = np.random.default_rng(k)
    mean, sd = rng.uniform(0, 4, (5, 2)), rng.uniform(0.1, 1.5, (5, 2))
    found = expected_improvement(mean, sd, stairs, CORNER)
    before = hypervolume(stairs.reshape(-1, 2), CORNER)
    for j in range(5):
        drawn = mean[j] + sd[j] * rng.standard_normal((1000, 2))
        gains = [hypervolume(np.vstack([stairs, one]), CORNER) - before for one in drawn]
        error = np.std(gains) / np.sqrt(len(gains))
        assert found[j] == pytest.approx(np.mean(gains), abs=4 * error)


def test_without_error_the_improvement_is_what_is_added():
    stairs = np.array([[1.0, 3.0], [3.0, 1.0]])
    at = np.array([[2.0, 2.0], [3.5, 3.5]])
    found = expected_improvement(at, np.zeros((2, 2)), stairs, CORNER)
    assert found == pytest.approx([1.0, 0.0])


def test_a_front_is_thinned_evenly_and_keeps_its_ends():
    t = np.concatenate([np.linspace(0, 0.1, 50), np.linspace(0.1, 1, 10)])
    values = np.stack([t, 1 - t], axis=1)
    chosen = values[evenly(values, 5)]
    assert chosen[0, 0] == 0.0
    assert chosen[-1, 0] == 1.0
    assert np.ptp(np.diff(chosen[:, 0])) < 0.16
    assert len(evenly(values[:3], 5)) == 3
