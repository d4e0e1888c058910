"""The search has shrunk to the noise."""

import numpy as np
import pytest

from phenes.adaptive.marginal import marginal_of
from phenes.adaptive.phases import Enter
from phenes.adaptive.policies.floor import AT_FLOOR, NEAR, Floor
from tests.adaptive.problems import descent


def at_floor(excess):
    """State of a search whose variance is that of the noise times (1 + excess)."""
    state = descent(np.ones(len(excess))).state
    state.marginal = marginal_of(state.marginal.mean, np.diag(1 + np.array(excess)), state.coords.c)
    return state


def test_half_of_the_directions_for_some_generations():
    policy, state = Floor(), at_floor([0.01, 0.01, 0.01, 9.0, 9.0])
    decisions = [policy.decide(state, 0) for _ in range(6)]
    assert decisions == [()] * 5 + [(Enter(AT_FLOOR),)]  # 5 + 5 / 5


@pytest.mark.parametrize("excess", [[0.01, 9.0, 9.0], [0.06] * 3])
def test_not_with_fewer_or_wider_directions(excess):
    policy, state = Floor(generations=99), at_floor(excess)
    assert policy.decide(state, 0) == ()
    assert policy.generations == 0


def test_two_early_steps_within_the_noise_are_enough():
    state = at_floor([9.0, 9.0])
    assert Floor().decide(state, 1) == ()
    assert Floor().decide(state, 2) == (Enter(NEAR),)


def test_without_noise_there_is_no_floor():
    policy, state = Floor(), descent(np.zeros(3)).state
    assert all(policy.decide(state, 0) == () for _ in range(20))


def test_switched_off_it_says_nothing():
    policy, state = Floor(on=False), at_floor([0.01])
    assert all(policy.decide(state, 9) == () for _ in range(20))
