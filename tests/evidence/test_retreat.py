"""Back from a wall: which places are compared, by how many draws, and which of them is left."""

import numpy as np
import pytest

from phenes.evidence.estimate import Estimate
from phenes.evidence.law import gaussian_law
from phenes.evidence.retreat import DRAWS, MOST_PLACES, SHARE, Retreat, affordable, way_back

PROPOSAL, START = np.zeros(2), np.array([30.0, 40.0])  # 100 standard deviations apart


def law(theta=PROPOSAL):
    return gaussian_law(theta, np.zeros(2), np.full(2, 0.25), scale=np.ones(2))


def test_places_lie_between_the_proposal_and_the_middle_of_the_way_to_the_start():
    places = way_back(law(), START, 6)
    distance = np.linalg.norm(places, axis=1) / 0.5
    np.testing.assert_allclose(distance, np.geomspace(1, 50, 6))
    np.testing.assert_allclose(places / distance[:, None], np.tile([0.3, 0.4], (6, 1)))


def test_from_the_start_itself_no_way_leads_back():
    assert len(way_back(law(START), START, 6)) == 0


def test_a_short_way_has_places_too():
    np.testing.assert_allclose(way_back(law(), np.array([0.6, 0.0]), 2)[-1], [0.3, 0.0])


def spend(retreat, value, batch):
    """Draws at each place until one is left: value(theta) is the mean of all draws there."""
    draws = {theta.tobytes(): 0 for theta in retreat.places}

    def evidence(theta):
        n = draws[theta.tobytes()]
        fun = value(theta) if n else np.nan
        return Estimate(theta, fun, 1.0, 1.0, 0.0, n, n, 0, 1.0)

    while retreat.next(evidence) is not None:
        for theta in retreat.ask(batch, evidence):
            draws[theta.tobytes()] += 1
    return draws


@pytest.mark.parametrize("reserve", [24, 30, 100, 500, 1000])
def test_no_more_than_its_share_is_spent(reserve):
    count = affordable(reserve)
    assert 2 <= count <= MOST_PLACES
    draws = spend(Retreat(list(way_back(law(), START, count))), np.linalg.norm, 1)
    assert sum(draws.values()) <= SHARE * reserve


def test_a_small_reserve_is_not_divided():
    assert affordable(8) == affordable(20) == 0


@pytest.mark.parametrize("batch", [1, 7, 50])
@pytest.mark.parametrize("best", range(5))
def test_the_best_place_is_left_with_draws_of_every_round(best, batch):
    places = list(way_back(law(), START, 5))
    retreat = Retreat(places)
    draws = spend(retreat, lambda theta: float(np.linalg.norm(theta - places[best])), batch)
    assert retreat.left[0] is places[best]
    assert draws[places[best].tobytes()] >= 3 * DRAWS


def test_places_where_all_draws_fail_are_left_out_first():
    places = list(way_back(law(), START, 4))
    retreat = Retreat(places)
    spend(retreat, lambda theta: np.inf if np.linalg.norm(theta) < 10 else 1.0, 3)
    assert np.linalg.norm(retreat.left[0]) >= 10


def test_a_batch_is_spread_over_all_that_lack_draws():
    retreat = Retreat(list(way_back(law(), START, 3)))
    rows = retreat.ask(8, lambda theta: Estimate(theta, 0, 1, 1, 0, 0, 0, 0, 1))
    assert [int(np.all(rows == theta, axis=1).sum()) for theta in retreat.places] == [3, 3, 2]
