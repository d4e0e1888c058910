"""What violating constraints costs: the fixed point is the bound, whatever the first stiffness."""

import numpy as np
import pytest
from scipy import stats

import phenes
from phenes.evidence import Observations
from phenes.evidence.law import gaussian_law
from phenes.optimizer.penalty import Penalty, Term

NOISE, LIMIT = 0.1, 0.5


def law(theta):
    return gaussian_law(np.array([theta]), np.zeros(1), np.array([NOISE**2]), scale=np.ones(1))


def rows(theta, n=30, seed=0):
    seen = Observations(1)
    seen.name_limits(("high",))
    at = np.full((n, 1), theta)
    x = at + NOISE * np.random.default_rng(seed).standard_normal(at.shape)
    seen.add(at, x, x, -x[:, 0], c=x - LIMIT)
    return seen


@pytest.mark.parametrize("scale", [0.1, 10.0])
def test_a_descent_comes_to_rest_at_the_bound(scale):
    """min -theta, theta + k s <= 0: the multiplier becomes 1, the price of the bound."""
    (one,) = phenes.chance(0.9).requirements(("high",))
    k, s, theta = stats.norm.ppf(0.9), 0.3, -2.0
    term = Term(one, k)
    z = np.random.default_rng(0).standard_normal(400)
    z = s * (z - z.mean()) / z.std()
    for _ in range(400):
        term.learn(theta, s, scale)
        grid = theta + np.linspace(-0.2, 0.2, 41)
        cost = [-at + term.cost(at + z).mean() for at in grid]
        theta = grid[int(np.argmin(cost))]
    assert theta == pytest.approx(-k * s, abs=0.02)


def test_rows_that_hold_by_far_cost_nothing_and_the_others_more_and_more():
    penalty = Penalty(phenes.chance(0.9))
    assert penalty.update(rows(0.6), law(0.6))
    cost = penalty.values(np.array([[-5.0], [0.0], [0.5], [1.0], [np.nan]]))
    assert cost[0] == 0
    assert 0 < cost[1] < cost[2] < cost[3]
    assert np.isnan(cost[4])
    told = np.array([[1.0, 0.5]])
    assert penalty.merit(told)[0] == 1.0 + cost[2]


def test_the_multiplier_waits_for_a_mean_that_moves():
    penalty = Penalty(phenes.chance(0.9))
    assert penalty.update(rows(0.6), law(0.6))
    before = penalty.values(np.array([[0.5]]))
    assert not penalty.update(rows(0.6), law(0.6))
    assert penalty.values(np.array([[0.5]])) == before
    assert penalty.update(rows(0.61), law(0.61))
    assert penalty.values(np.array([[0.5]])) > before


def test_before_anything_is_known_it_is_the_value():
    penalty = Penalty(phenes.on_average())
    assert not penalty.update(Observations(1), law(0.0))
    np.testing.assert_array_equal(penalty.merit(np.array([np.nan, 1.0])), [np.nan, 1.0])
    np.testing.assert_array_equal(penalty.merit(np.array([[2.0, 9.0]])), [2.0])
