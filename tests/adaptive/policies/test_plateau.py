"""Generations of equal values."""

import numpy as np

from phenes.adaptive import tuning
from phenes.adaptive.phases import End, Return, Stay
from phenes.adaptive.policies.plateau import FLAT, WORSE, Plateau
from tests.adaptive.problems import descent


def state_with(best):
    state = descent(np.ones(2)).state
    state.archive.add(np.array([[1.0, 2.0]]), np.array([best]))
    return state


def test_values_that_differ_are_none_of_its_business():
    policy = Plateau()
    assert policy.decide(state_with(0.0), np.array([1.0, 2.0])) == ()
    assert policy.decide(state_with(0.0), np.array([])) == ()
    assert policy.decide(state_with(0.0), np.array([1.0, np.nan])) == ()
    assert policy.flat == 0


def test_on_the_best_plateau_the_search_stays_and_on_a_worse_one_it_goes_back():
    assert Plateau().decide(state_with(1.0), np.ones(8)) == (Stay(),)
    (decision,) = Plateau().decide(state_with(0.5), np.ones(8))
    assert isinstance(decision, Return)
    assert decision.why == WORSE
    assert np.array_equal(decision.x, [1.0, 2.0])


def test_after_twenty_generations_it_ends():
    policy, state = Plateau(ever=True), state_with(1.0)
    for _ in range(tuning.FLAT_GENERATIONS):
        assert policy.decide(state, np.ones(8)) == (Stay(),)
    assert policy.decide(state, np.ones(8)) == (End(FLAT),)


def test_where_values_never_differed_it_ends_soon():
    policy, state = Plateau(), state_with(1.0)
    assert not policy.lost
    for _ in range(tuning.LOST_GENERATIONS):
        assert policy.decide(state, np.ones(8)) == (Stay(),)
    assert policy.decide(state, np.ones(8)) == (End(FLAT),)
    assert policy.lost
    policy.moved()
    assert not policy.lost


def test_a_generation_that_moved_the_search_counts_anew():
    policy = Plateau(flat=tuning.FLAT_GENERATIONS)
    policy.moved()
    assert policy.decide(state_with(1.0), np.ones(8)) == (Stay(),)


def test_switched_off_it_says_nothing():
    assert Plateau(on=False).decide(state_with(0.5), np.ones(8)) == ()
