"""What may be claimed of a requirement: what its bound covers, or draws confirm."""

import pytest

from phenes.constraints import Requirement
from phenes.evidence.standing import USED, USED_UNRESOLVED, Place, Standing

WISH = Requirement((0,), 0.95, "g")
MEAN = Requirement((0,), None, "g")


def standing(violation, cautious, draws=8, violated=0, **more):
    return Standing(WISH, draws, violated, violation, cautious, 0.0, **more)


def test_what_is_expected_is_claimed_if_the_error_of_the_model_allows_it():
    assert standing(0.03, 0.04).met
    unsure = standing(0.03, 0.06)
    assert unsure.expected
    assert not unsure.met
    assert unsure.bound == 0.06
    assert not Place((standing(0.03, 0.04), unsure)).met
    assert Place((standing(0.03, 0.04), unsure)).expected


def test_what_no_model_resolves_is_added_to_the_bound():
    counted = standing(0.01, 0.01, unresolved=("g",), uncounted=0.3)
    assert counted.expected
    assert not counted.met
    assert counted.bound == pytest.approx(0.31)
    assert standing(0.01, 0.01, 59, unresolved=("g",), uncounted=0.0495).met


def test_of_a_limit_that_jumps_no_more_draws_violate_than_are_allowed():
    jumps = {"unresolved": ("g",), "uncounted": 0.3}
    assert standing(0.01, 0.01, 20, 1, **jumps).expected
    assert not standing(0.01, 0.01, 8, 1, **jumps).expected
    assert standing(0.01, 0.01, 8, 1).expected


def test_draws_alone_confirm_and_contradict():
    assert standing(0.2, 0.3, 59).met
    assert not standing(0.01, 0.02, 20, 8).met
    assert not standing(0.01, 0.02, 20, 8).expected


def test_a_proposal_keeps_more_distance_from_a_limit_that_jumps():
    share = (USED + USED_UNRESOLVED) / 2 * 0.05
    assert standing(0.0, share).safe
    assert not standing(0.0, share, unresolved=("g",)).safe


def test_a_mean_is_claimed_with_the_error_against_it():
    assert Standing(MEAN, 8, 4, -0.1, -0.01, 0.0, -0.5, 0.2).met
    assert not Standing(MEAN, 8, 4, -0.01, 0.01, 0.0, -0.5, 0.2).met
    assert Standing(MEAN, 8, 4, -0.01, 0.01, 0.0, -0.5, -0.1).met  # the draws confirm it
