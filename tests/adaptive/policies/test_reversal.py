"""Newton steps that made values far worse are taken back."""

import numpy as np
import pytest

from phenes.adaptive.phases import Revert
from phenes.adaptive.policies.reversal import WORSE, Reversal
from tests.adaptive.problems import descent


def kept(on=True):
    """Before the step values were 0 to 4: bar = 2 * 4 - 2 = 6."""
    state, policy = descent(np.ones(2), popsize=5).state, Reversal(on)
    state.archive.add(np.zeros((7, 2)), np.array([50.0, 60.0, 0.0, 1.0, 2.0, 3.0, 4.0]))
    policy.keep(state)
    return policy, state


@pytest.mark.parametrize(
    ("f", "back"),
    [([6.0, 6.0, 99.0], False), ([6.1, 6.1, 0.0], True), ([np.nan, np.nan, 0.0], True)],
)
def test_the_median_after_a_step_must_not_exceed_the_bar(f, back):
    policy, state = kept()
    assert policy.bar == 6
    expected = (Revert(WORSE, state.marginal),) if back else ()
    assert policy.decide(np.array(f)) == expected


def test_a_step_is_judged_once():
    policy, _ = kept()
    assert policy.decide(np.array([5.0])) == ()
    assert policy.decide(np.array([99.0])) == ()


def test_without_a_step_there_is_nothing_to_take_back():
    assert Reversal().decide(np.array([99.0])) == ()
    policy, _ = kept()
    policy.forget()
    assert policy.decide(np.array([99.0])) == ()


def test_switched_off_nothing_is_taken_back():
    policy, _ = kept(on=False)
    assert policy.decide(np.array([99.0])) == ()
