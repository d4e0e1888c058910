"""Many theta in order by what was seen: the better first, without the luck of their own row."""

import numpy as np

from phenes.evidence.law import gaussian_law
from phenes.evidence.observations import Observations
from phenes.evidence.ranking import ROWS, rank

STD = 0.3


def observed(n=300, seed=0):
    rng = np.random.default_rng(seed)
    theta = rng.uniform(-2, 2, size=(n, 2))
    x = theta + STD * rng.standard_normal((n, 2))
    seen = Observations(2)
    seen.add(theta, x, x, np.sum(x**2, axis=1))
    return seen


LAW = gaussian_law(np.zeros(2), np.zeros(2), np.full(2, STD**2), scale=np.ones(2))
POOL = np.array([[0.0, 0.0], [0.8, 0.0], [1.5, 1.5]])
NOBODY = np.full(3, -1)


def test_the_better_theta_has_the_lower_bound():
    bound = rank(observed(), LAW, 10.0, POOL, NOBODY)
    assert np.all(np.diff(bound) > 0)
    truth = np.sum(POOL**2, axis=1) + 2 * STD**2
    assert np.all(bound > truth - 0.2)


def test_where_nothing_was_seen_there_is_no_bound():
    far = rank(observed(), LAW, 10.0, np.array([[1e6, 0.0]]), NOBODY[:1])
    assert far[0] == np.inf


def test_the_luck_of_its_own_row_does_not_count():
    seen = observed()
    lucky = np.array([[1.5, 1.5]])
    seen.add(lucky, lucky, lucky, np.array([-50.0]))
    own = np.array([seen.count - 1])
    with_luck = rank(seen, LAW, 10.0, lucky, NOBODY[:1])
    without = rank(seen, LAW, 10.0, lucky, own)
    assert with_luck[0] != without[0]
    np.testing.assert_allclose(without, rank(observed(), LAW, 10.0, lucky, NOBODY[:1]), rtol=0.3)


def test_failures_that_have_a_place_count_for_more_than_their_price():
    seen = observed()
    rng = np.random.default_rng(3)
    x = np.array([0.8, 0.0]) + 0.1 * rng.standard_normal((60, 2))
    seen.add(x, x, x, np.full(60, np.nan))
    assert seen.walled
    free, walled = rank(observed(), LAW, 10.0, POOL, NOBODY), rank(seen, LAW, 10.0, POOL, NOBODY)
    assert walled[1] > free[1] + 1


def test_long_runs_are_thinned():
    few, many = observed(ROWS), observed(5 * ROWS)
    for seen in (few, many):
        assert np.all(np.isfinite(rank(seen, LAW, 10.0, POOL, NOBODY)))


def test_ranking_orders_by_what_was_seen_nearby_and_not_by_luck():
    """A bowl with scrap in its middle: the best sample lies beside the hole, and its surroundings
    count.
    """
    rng = np.random.default_rng(0)
    theta = rng.uniform(-2, 2, (300, 2))
    x = theta + 0.2 * rng.standard_normal(theta.shape)
    radius = np.linalg.norm(x, axis=1)
    seen = Observations(2)
    seen.add(theta, x, x, np.where(radius < 0.5, np.nan, radius**2))
    lucky = int(np.nanargmin(seen.f))
    law = gaussian_law(np.zeros(2), np.zeros(2), np.full(2, 0.04), scale=np.ones(2))
    pool = np.array([x[lucky], [1.0, 0.0], [1.9, 0.0], [50.0, 0.0]])
    bound = rank(seen, law, 8.0, pool, np.array([lucky, -1, -1, -1]))
    assert np.argmin(bound) == 1
    assert bound[3] > bound[1]
