"""The judge: margins between the answers of two descents."""

import numpy as np
import pytest

from phenes.adaptive.comparison import better, decided, same_place
from phenes.adaptive.phases import Claim, Phase
from tests.adaptive.problems import descent


def at(value, error=0.1, mean=0.0, phase=Phase.REFINE, promise=0.0):
    one = descent(np.ones(2), mean=mean)
    one.state.claim, one.state.phase = Claim(value, error), phase
    one.policies.refinement.promise = promise
    return one


@pytest.mark.parametrize(
    ("value", "wins"), [(0.95, False), (0.87, False), (0.85, True), (0.7, True), (1.5, False)]
)
def test_a_challenger_wins_by_one_joint_standard_error(value, wins):
    """1.0 +- 0.1 against +- 0.1: the joint error is 0.1414."""
    assert better(at(value), at(1.0)) == wins


def test_a_value_beats_none_and_none_beats_nothing():
    nothing = at(np.nan, np.nan)
    assert better(at(5.0), nothing)
    assert not better(nothing, at(5.0))
    assert not better(nothing, nothing)


@pytest.mark.parametrize(("value", "error", "wins"), [(0.4, 0.1, True), (0.2, 0.1, False)])
def test_a_claim_below_the_best_value_that_was_seen_is_no_evidence(value, error, wins):
    one = at(value, error)
    one.state.archive.add(np.zeros((2, 2)), np.array([0.4, 3.0]))
    assert better(one, at(1.0)) == wins


@pytest.mark.parametrize(
    ("value", "mean", "same"),
    [
        (1.0, 0.0, True),
        (1.69, 0.0, True),  # within five joint standard errors
        (1.72, 0.0, False),  # one place, two values: not the same optimum
        (0.2, 0.0, False),
        (1.0, 0.6, True),  # 0.85 apart; half of the spread is 1
        (1.0, 1.2, False),
        (np.nan, 0.0, False),
    ],
)
def test_the_same_place_is_one_mean_and_one_value(value, mean, same):
    assert same_place(at(value, mean=mean), at(1.0)) == same


def test_values_without_error_agree_to_rounding():
    assert same_place(at(1.0 + 1e-10, 0.0), at(1.0, 0.0))
    assert not same_place(at(1.0 + 1e-8, 0.0), at(1.0, 0.0))


def test_a_challenger_is_decided_when_it_is_over():
    for phase in Phase:
        assert decided(at(-9.0, phase=phase, mean=9.0), at(1.0)) == phase.over


@pytest.mark.parametrize(
    ("value", "promise", "over"),
    [(1.40, 0.0, False), (1.45, 0.0, True), (1.45, 0.1, False), (1.6, 0.1, True)],
)
def test_a_challenger_in_its_refinement_is_given_up_if_clearly_worse(value, promise, over):
    """By three joint standard errors, 0.424, and what its next step promises."""
    challenger = at(value, mean=9.0, promise=promise)
    assert decided(challenger, at(1.0)) == over


def test_a_challenger_in_its_refinement_is_given_up_at_the_same_place():
    assert decided(at(1.0), at(1.0))
    assert not decided(at(1.0, phase=Phase.SEARCH), at(1.0))
    assert not decided(at(np.nan, np.nan), at(1.0))
