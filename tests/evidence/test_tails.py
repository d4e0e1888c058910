"""Probabilities of violations by lines, against the normal and the noncentral chi-square law."""

import numpy as np
import pytest
from scipy import stats

from phenes.evidence.law import gaussian_law, sampled_law
from phenes.evidence.tails import violating


def law(dim, cov=None):
    cov = np.full(dim, 0.01) if cov is None else cov
    return gaussian_law(np.zeros(dim), np.zeros(dim), cov, scale=np.ones(dim))


@pytest.mark.parametrize("dim", [1, 3, 12])
@pytest.mark.parametrize("k", [0.0, 2.0, 4.5])
def test_a_plane_is_exact(dim, k):
    a = np.random.default_rng(dim).standard_normal(dim)
    limit = k * 0.1 * np.linalg.norm(a)
    found = violating(law(dim), lambda x: (x @ a - limit)[:, None])
    assert found == pytest.approx(stats.norm.sf(k), rel=1e-6)


def test_a_plane_under_correlated_noise_is_exact():
    cov, a = np.array([[0.04, 0.03], [0.03, 0.25]]), np.array([1.0, -2.0])
    limit = 3 * np.sqrt(a @ cov @ a)
    found = violating(law(2, cov), lambda x: (x @ a - limit)[:, None])
    assert found == pytest.approx(stats.norm.sf(3), rel=1e-6)


@pytest.mark.parametrize("dim", [2, 10])
@pytest.mark.parametrize("p", [0.1, 0.001])
def test_a_ball_is_right_to_some_per_cent(dim, p):
    away = np.zeros(dim)
    away[0] = 0.3
    limit = 0.01 * stats.ncx2.isf(p, dim, 9)
    found = violating(law(dim), lambda x: np.sum((x - away) ** 2, axis=1, keepdims=True) - limit)
    assert found == pytest.approx(p, rel=0.06)


def test_both_sides_count():
    found = violating(law(1), lambda x: np.abs(x) - 0.3)
    assert found == pytest.approx(2 * stats.norm.sf(3), rel=0.02)


@pytest.mark.parametrize("dim", [2, 6, 20])
@pytest.mark.parametrize("p", [0.1, 0.01])
def test_a_band_is_violated_on_both_sides(dim, p):
    """One limit that is a band, or one for each side: slopes point both ways, the mean nowhere."""
    a = np.random.default_rng(dim).standard_normal(dim)
    a = a / np.linalg.norm(a) / 0.1
    limit = stats.norm.isf(p / 2)
    band = violating(law(dim), lambda x: (np.abs(x @ a) - limit)[:, None])
    sides = violating(law(dim), lambda x: np.stack([x @ a - limit, -x @ a - limit], axis=1))
    assert [band, sides] == pytest.approx([p, p], rel=0.01)


@pytest.mark.parametrize("dim", [2, 6, 20])
def test_two_limits_at_a_right_angle(dim):
    """Lines along one of them say little of how often the other is violated."""
    limits = np.array([stats.norm.isf(0.03), stats.norm.isf(0.02)])
    found = violating(law(dim), lambda x: x[:, :2] / 0.1 - limits)
    assert found == pytest.approx(1 - 0.97 * 0.98, rel=0.01)


def test_without_noise_and_by_draws():
    assert violating(law(2, np.zeros(2)), lambda x: x[:, :1] + 1) == 1.0
    assert violating(law(2, np.zeros(2)), lambda x: x[:, :1] - 1) == 0.0
    x = np.random.default_rng(0).uniform(-1, 1, (1000, 1))
    drawn = sampled_law(np.zeros(1), x, np.ones(1))
    assert violating(drawn, lambda at: at[:, :1] - 0.5) == pytest.approx(np.mean(x > 0.5))
