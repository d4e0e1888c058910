"""One-sided bounds: covered for every probability, exactly, by summing the binomial law."""

import numpy as np
import pytest
from scipy import stats

from phenes.constraints import bounds


@pytest.mark.parametrize("n", [1, 8, 60])
def test_a_probability_is_covered_at_95_per_cent_whatever_it_is(n):
    k = np.arange(n + 1)
    lower = np.array([bounds.lower(int(each), n) for each in k])
    upper = np.array([bounds.upper(int(each), n) for each in k])
    for p in np.linspace(0.01, 0.999, 60):
        mass = stats.binom.pmf(k, n, p)
        assert mass[lower <= p].sum() >= 0.95 - 1e-12
        assert mass[upper >= p].sum() >= 0.95 - 1e-12
    # and no wider than they must be: at its own bound a count is just as rare as 5 %
    assert stats.binom.sf(n - 1, n, bounds.lower(n, n)) == pytest.approx(0.05)


def test_a_thousandth_needs_three_thousand_draws():
    n = bounds.needed(0.999)
    assert n == 2995
    assert bounds.lower(n, n) >= 0.999 > bounds.lower(n - 1, n - 1)


def test_a_mean_is_covered_at_95_per_cent():
    draws = np.random.default_rng(0).standard_normal((4000, 5))
    found = np.array([bounds.of_mean(row) for row in draws])
    error = np.sqrt(0.95 * 0.05 / 4000)
    assert np.mean(found[:, 1] <= 0) == pytest.approx(0.95, abs=3 * error)
    assert np.mean(found[:, 2] >= 0) == pytest.approx(0.95, abs=3 * error)
    assert bounds.of_mean(np.array([1.0])) == (1.0, -np.inf, np.inf)


@pytest.mark.parametrize("violated", [0, 1, 4])
@pytest.mark.parametrize("level", [0.9, 0.99])
def test_draws_that_confirm_a_probability_are_the_fewest(level, violated):
    n = bounds.needed(level, violated)
    assert bounds.lower(n - violated, n) >= level > bounds.lower(n - 1 - violated, n - 1)


def test_a_mean_is_contradicted_later_than_it_is_bounded():
    values = np.array([0.1, 0.4, 0.3])
    mean, low, high = bounds.of_mean(values)
    assert mean - low == pytest.approx(high - mean)
    assert bounds.of_mean(values, 0.999)[1] < 0 < low
    assert bounds.of_mean(values, 0.999)[2] == high
