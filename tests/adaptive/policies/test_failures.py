"""Nothing but failures: back to the best point, or the end."""

import numpy as np
import pytest

from phenes.adaptive.phases import End, Return
from phenes.adaptive.policies.failures import FAILS, LOST, Failures
from tests.adaptive.problems import descent

BAD = np.full(4, np.nan)


def test_three_populations_of_failures_are_too_many():
    state, policy = descent(np.ones(2), popsize=4).state, Failures()
    assert policy.decide(state, BAD) == policy.decide(state, BAD) == ()
    (decision,) = policy.decide(state, BAD)
    assert decision == End(FAILS)
    assert policy.barren == 0


def test_with_a_best_point_the_search_goes_back_to_it():
    state, policy = descent(np.ones(2), popsize=4).state, Failures(barren=8)
    state.archive.add(np.array([[1.0, 2.0]]), np.array([3.0]))
    (decision,) = policy.decide(state, BAD)
    assert isinstance(decision, Return)
    assert decision.why == LOST
    assert np.array_equal(decision.x, [1.0, 2.0])


@pytest.mark.parametrize("good", [0, 3])
def test_one_value_is_enough_to_go_on(good):
    state, policy = descent(np.ones(2), popsize=4).state, Failures(barren=11)
    f = BAD.copy()
    f[good] = 1.0
    assert policy.decide(state, f) == ()
    assert policy.barren == 0


def test_switched_off_it_says_nothing():
    state, policy = descent(np.ones(2), popsize=4).state, Failures(on=False)
    assert all(policy.decide(state, BAD) == () for _ in range(9))
