"""The schedule: shares of the budget, populations, and when more restarts are pointless."""

import numpy as np
import pytest

from phenes.adaptive import tuning
from phenes.adaptive.descent import capacity
from phenes.adaptive.phases import Phase
from phenes.adaptive.restarts import Schedule, Verdicts, default_popsize
from tests.adaptive.problems import coordinates, descent


def challenge(schedule, coords=None, seed=0):
    coords = coordinates(np.ones(3)) if coords is None else coords
    return schedule.challenge(coords, np.zeros(coords.dim), 0.0, np.random.default_rng(seed))


def test_the_default_population_is_the_tutorials():
    assert [default_popsize(dim) for dim in (1, 2, 10, 40)] == [4, 6, 10, 15]


def test_restarts_double_their_populations_in_bounded_memory():
    coords, schedule, large = coordinates(np.ones(3)), Schedule(1000), []
    for _ in range(12):
        start = challenge(schedule, coords)
        large.append(start.popsize)
        assert capacity(coords, start.popsize) <= 2 * tuning.LARGEST_POPULATION
    assert large == [3300, 6600, 13_200, *[tuning.LARGEST_POPULATION] * 9]
    assert challenge(Schedule(30_000)).popsize == 99_000


def test_large_and_small_restarts_take_turns_by_what_they_spent():
    schedule = Schedule(10)
    assert challenge(schedule).popsize == 33
    schedule.spending.count(60)
    schedule.spending.count(100)
    assert schedule.spending.large == 100
    assert challenge(schedule).popsize == 10
    schedule.spending.count(99)
    assert challenge(schedule).popsize == 10
    schedule.spending.count(2)
    assert challenge(schedule).popsize == 66
    assert schedule.started == 4


def test_small_restarts_are_narrower_by_up_to_a_hundred_and_large_ones_wide():
    schedule = Schedule(10)
    assert challenge(schedule).width == tuning.LARGE_WIDTH
    schedule.spending.large = 10**6
    widths = [challenge(schedule, seed=seed).width for seed in range(200)]
    assert 0.03 <= min(widths) < 0.04
    assert 2.5 < max(widths) <= 3
    # uniform in the logarithm: half are below the geometric middle
    assert np.mean(np.array(widths) < 0.3) == pytest.approx(0.5, abs=0.15)


def test_restarts_start_between_the_bounds_or_around_x0():
    bounded = coordinates(np.ones(2), lower=[-1.0, -np.inf], upper=[3.0, 0.5], bias=0.1)
    starts = np.array([challenge(Schedule(9), bounded, s).mean for s in range(300)]) - 0.1
    assert starts[:, 0].min() < -0.9
    assert starts[:, 0].max() > 2.9
    assert starts[:, 1].max() <= 0.5
    free = coordinates(np.ones(2), width=0.5)
    around = np.array([challenge(Schedule(9), free, s).mean for s in range(300)])
    assert np.std(around) == pytest.approx(tuning.START_SPREAD * 0.5, rel=0.15)


def test_more_restarts_are_pointless_after_three_at_one_place_or_nine_in_vain():
    verdicts = Verdicts()
    for count in range(1, 4):
        verdicts.add(better=False, same=True)
        assert verdicts.pointless == (count == 3)
    verdicts.add(better=False, same=False)
    assert not verdicts.pointless
    for _ in range(5):
        verdicts.add(better=False, same=False)
    assert verdicts.in_vain == 9
    assert verdicts.pointless
    verdicts.add(better=True, same=False)
    assert not verdicts.pointless


def test_the_share_of_the_refinement_grows_as_restarts_come_to_the_same_place():
    verdicts = Verdicts()
    assert verdicts.share == 0.5
    verdicts.add(False, True)
    assert verdicts.share == 3 / 5
    verdicts.add(False, True)
    assert verdicts.share == 4 / 6
    verdicts.add(False, False)  # one other place is proof enough that there are others
    assert verdicts.share == 2 / 5


def test_an_incumbent_is_refined_up_to_its_share():
    state, schedule = descent(np.ones(2)).state, Schedule(10)
    state.phase, state.evaluations = Phase.SETTLED, 1000
    assert not schedule.refine(state)  # a challenger first
    schedule.spending.small = 100
    assert schedule.refine(state)
    state.evaluations += 99
    assert schedule.refine(state)
    state.evaluations += 1
    assert not schedule.refine(state)
    schedule.judged(better=True, same=False)  # another incumbent counts anew
    assert schedule.refined == -1


def test_an_ended_search_has_nothing_to_refine():
    state, schedule = descent(np.ones(2)).state, Schedule(10)
    state.phase, schedule.spending.small = Phase.ENDED, 1000
    assert not schedule.refine(state)
