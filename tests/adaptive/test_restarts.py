"""The schedule: shares of the budget, populations, and when more restarts are pointless."""

import numpy as np
import pytest

from phenes.adaptive import tuning
from phenes.adaptive.descent import capacity
from phenes.adaptive.phases import Phase
from phenes.adaptive.restarts import Answer, Kind, Schedule, Verdicts, default_popsize
from tests.adaptive.problems import coordinates, descent


def challenge(schedule, coords=None, seed=0, explained=0.5, left=np.inf):
    coords = coordinates(np.ones(3)) if coords is None else coords
    answer = Answer(np.full(coords.dim, 0.3), explained)
    rng = np.random.default_rng(seed)
    return schedule.challenge(coords, np.zeros(coords.dim), answer, rng, left)


def test_the_default_population_is_the_tutorials():
    assert [default_popsize(dim) for dim in (1, 2, 10, 40)] == [4, 6, 10, 15]


def test_restarts_double_their_populations_in_bounded_memory():
    coords, schedule, large = coordinates(np.ones(3)), Schedule(1000, trends=False), []
    for _ in range(12):
        start = challenge(schedule, coords)
        large.append(start.popsize)
        assert capacity(coords, start.popsize) <= 2 * tuning.LARGEST_POPULATION
    assert large == [3300, 6600, 13_200, *[tuning.LARGEST_POPULATION] * 9]
    assert challenge(Schedule(30_000, trends=False)).popsize == 99_000


def test_kinds_take_turns_by_what_they_spent():
    schedule, kinds = Schedule(10), []
    for spent in (100, 150, 99, 20, 90, 10):
        challenge(schedule)
        schedule.spending.count(spent // 2)
        schedule.spending.count(spent)
        kinds.append(schedule.spending.kind)
    trend, large, small = Kind
    assert kinds == [trend, large, small, small, trend, small]
    assert schedule.spending.spent == {trend: 190, large: 150, small: 129}
    assert schedule.spending.total == 469
    assert schedule.started == 6


def test_a_trend_is_looked_for_at_the_answer_with_twice_as_many_draws_each_time():
    schedule = Schedule(10)
    coords = coordinates(np.ones(3), bias=0.1)
    first = challenge(schedule, coords)
    assert first.popsize == 10
    assert first.width == tuning.TREND_WIDTH
    assert first.trend == tuning.TREND_ROWS_PER_FEATURE * 10
    np.testing.assert_allclose(first.mean, 0.4)
    schedule.spending.spent = {Kind.TREND: 0, Kind.LARGE: 1, Kind.SMALL: 1}
    assert challenge(schedule, coords).trend == 2 * first.trend
    assert [challenge(schedule, coords).trend for _ in range(3)] == [4 * first.trend] * 3


def test_trends_are_not_looked_for_in_many_dimensions_without_noise_nor_if_switched_off():
    assert challenge(Schedule(10), coordinates(np.ones(27))).trend == 0
    assert challenge(Schedule(10, trends=False)).trend == 0
    assert challenge(Schedule(10), coordinates(np.zeros(26))).trend == 0  # no noise
    assert challenge(Schedule(10), coordinates(np.ones(26))).trend > 0


@pytest.mark.parametrize("explained", [0.95, np.nan])
def test_trends_are_not_looked_for_where_a_quadratic_explains_f(explained):
    assert challenge(Schedule(10), explained=explained).trend == 0


def test_a_trend_is_looked_for_only_if_a_third_of_what_is_left_pays_for_draws_and_descent():
    draws = tuning.TREND_ROWS_PER_FEATURE * 10
    for left, trend in ((3 * (draws + 70), draws), (3 * (draws + 70) - 1, 0)):
        assert challenge(Schedule(10, refined=70), left=left).trend == trend
    schedule = Schedule(10, trend=1, refined=70)  # the second has twice as many draws
    assert challenge(schedule, left=3 * (2 * draws + 70) - 1).trend == 0


def test_a_trend_that_leads_back_says_nothing_of_other_places():
    schedule = Schedule(10)
    schedule.spending.kind = Kind.TREND
    schedule.judged(better=False, same=True)
    assert schedule.verdicts == Verdicts()
    schedule.judged(better=False, same=False)
    assert schedule.verdicts == Verdicts(in_vain=1, elsewhere=1)
    schedule.spending.kind = Kind.LARGE
    schedule.judged(better=False, same=True)
    assert schedule.verdicts.same == 1


def test_small_restarts_are_narrower_by_up_to_a_hundred_and_large_ones_wide():
    schedule = Schedule(10, trends=False)
    assert challenge(schedule).width == tuning.LARGE_WIDTH
    schedule.spending.spent[Kind.LARGE] = 10**6
    widths = [challenge(schedule, seed=seed).width for seed in range(200)]
    assert 0.03 <= min(widths) < 0.04
    assert 2.5 < max(widths) <= 3
    # uniform in the logarithm: half are below the geometric middle
    assert np.mean(np.array(widths) < 0.3) == pytest.approx(0.5, abs=0.15)


def test_restarts_start_between_the_bounds_or_around_x0():
    bounded = coordinates(np.ones(2), lower=[-1.0, -np.inf], upper=[3.0, 0.5], bias=0.1)
    starts = (
        np.array([challenge(Schedule(9, trends=False), bounded, s).mean for s in range(300)]) - 0.1
    )
    assert starts[:, 0].min() < -0.9
    assert starts[:, 0].max() > 2.9
    assert starts[:, 1].max() <= 0.5
    free = coordinates(np.ones(2), width=0.5)
    around = np.array([challenge(Schedule(9, trends=False), free, s).mean for s in range(300)])
    assert np.std(around) == pytest.approx(tuning.START_SPREAD * 0.5, rel=0.15)


def test_where_all_values_were_equal_single_draws_look_around_x0():
    """Nor do they count as large or small restarts: populations would have doubled by then."""
    schedule = Schedule(9)
    answer = Answer(np.full(2, 0.3), np.nan, lost=True)
    coords = coordinates(np.ones(2), lower=[-1.0, -np.inf], upper=[3.0, np.inf], bias=0.1)
    rng = np.random.default_rng(0)
    starts = [schedule.challenge(coords, np.full(2, 0.2), answer, rng) for _ in range(40)]
    assert {(each.popsize, each.width, each.trend) for each in starts} == {
        (9, tuning.LOST_WIDTH, 0)
    }
    means = np.array([each.mean for each in starts]) - 0.1
    assert np.ptp(means[:, 0]) > 3  # uniform between bounds
    np.testing.assert_allclose(means[:, 1], 0.2)
    assert schedule.large == 0
    assert schedule.started == 40


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
    schedule.spending.spent[Kind.SMALL] = 100
    assert schedule.refine(state)
    state.evaluations += 99
    assert schedule.refine(state)
    state.evaluations += 1
    assert not schedule.refine(state)
    schedule.judged(better=True, same=False)  # another incumbent counts anew
    assert schedule.refined == -1


def test_an_ended_search_has_nothing_to_refine():
    state, schedule = descent(np.ones(2)).state, Schedule(10)
    state.phase, schedule.spending.spent[Kind.SMALL] = Phase.ENDED, 1000
    assert not schedule.refine(state)
