"""What is said of constraints in words: which binds, and what is confirmed by counting alone."""

import numpy as np
import pytest

import phenes
from phenes.constraints import Requirement
from phenes.evidence.standing import Place, Standing
from phenes.optimizer.answer.held import table, unconfirmed, unmet

NAMES = ("stress", "gap")


def told(wish, violation, own, names=NAMES, exact=False):
    wanted = wish.requirements(names)
    h = [own[:, list(one.members)].max(axis=1) for one in wanted]
    standings = tuple(
        Standing(one, len(own), int(np.sum(each > 0)), violation, violation, 0.0)
        for one, each in zip(wanted, h, strict=True)
    )
    return table(wish, names, Place(standings, (violation, 0.0)), own, exact)


OWN = np.full((10, 2), -1.0)


def test_what_is_confirmed_is_what_counting_shows_and_no_more():
    held = told(phenes.chance(0.999), 1e-4, OWN)
    assert held.met
    assert not held.confirmed
    assert held.all.probability == 1.0
    assert held.all.lower == pytest.approx(0.05**0.1)
    (said,) = unconfirmed(held)
    assert "10 fresh draws, of which none violate, confirm 0.7411" in said
    assert "0.999 would take 2995 draws without a violation" in said
    assert unconfirmed(told(phenes.chance(0.7), 1e-4, OWN)) == []


def test_what_is_not_met_says_which_binds_and_by_how_much():
    own = OWN.copy()
    own[:6, 0] = 2.0
    held = told(phenes.chance(0.9), 0.6, own)
    assert not held.met
    assert held["stress"].binding
    assert not held["gap"].binding
    assert "all hold in 4 of 10 draws and 0.4 by the model, 0.9 wanted" in unmet(held)
    assert "what binds is stress (mean 0.8)" in unmet(held)
    each = told(phenes.chance(stress=0.9, gap=0.5), 0.6, own)
    assert "stress holds in 4 of 10 draws and 0.4 by the model, 0.9 wanted" in unmet(each)


def test_a_mean_above_its_limit():
    requirement = Requirement((0,), None, "stress")
    place = Place((Standing(requirement, 10, 0, 0.2, 0.2, 0.2, low=0.1, high=0.3),), (0.5,))
    held = table(phenes.on_average(), ("stress",), place, np.full((10, 1), 0.2), False)
    assert "the mean of stress is 0.2, above 0" in unmet(held)


def test_without_noise_what_is_seen_is_confirmed():
    held = told(phenes.chance(0.999), 0.0, OWN[:1], exact=True)
    assert held.confirmed
    assert held.all.lower == 1.0


def pass_or_fail(own, draws_bound):
    """The table of a limit that only says pass or fail, as a model is sure of it."""
    one = Requirement((0,), 0.95, "g")
    violated = int(np.sum(own > 0))
    known = Standing(
        one, len(own), violated, 0.01, 0.02, 0.0, unresolved=("g",), uncounted=draws_bound
    )
    return table(phenes.chance(0.95), ("g",), Place((known,), (0.01,)), own, False)


def test_of_what_jumps_it_is_said_how_many_draws_would_do():
    held = pass_or_fail(np.full((8, 1), -1.0), 0.31)
    assert not held.met
    assert held["g"].unresolved == ("g",)
    assert held["g"].bound == pytest.approx(0.05 ** (1 / 8))
    said = unmet(held)
    assert "no model tells where the limit of g is" in said
    assert "8 fresh draws, of which none violate, confirm 0.6877" in said
    assert "0.95 would take 59 with no more violations" in said
    own = np.full((59, 1), -1.0)
    own[0] = 1.0
    assert "0.95 would take 93 with no more violations" in unmet(pass_or_fail(own, 0.08))
    assert pass_or_fail(np.full((60, 1), -1.0), 0.049).met


def test_what_is_expected_but_not_sure_says_by_how_much():
    one = Requirement((0, 1), 0.9, "all")
    place = Place((Standing(one, 10, 0, 0.05, 0.2, 0.0),), (0.05, 0.0))
    held = table(phenes.chance(0.9), NAMES, place, OWN, False)
    assert not held.met
    assert "it is not sure that all hold with 0.9: by the model it is 0.95" in unmet(held)
    mean = Place((Standing(Requirement((0,), None, "stress"), 10, 0, -0.1, 0.1, 0.0),), (0.5,))
    said = unmet(table(phenes.on_average(), ("stress",), mean, OWN[:, :1], False))
    assert (
        "it is not sure that the mean of stress is at most 0: it is -1 over 10 fresh draws" in said
    )


@pytest.mark.parametrize(
    ("violated", "said"), [(2, "that is expected to meet the"), (6, "that meets the")]
)
def test_that_none_meets_them_is_said_only_where_the_draws_exclude_it(violated, said):
    own = np.full((10, 1), -1.0)
    own[:violated] = 1.0
    one = Standing(Requirement((0,), 0.8, "g"), 10, violated, 0.25, 0.3, 0.0)
    held = table(phenes.chance(0.8), ("g",), Place((one,), (0.25,)), own, False)
    assert f"no design was found {said} constraints, x violates them least" in unmet(held)


def test_failures_that_none_has_met_are_not_ruled_out():
    one = Requirement((0, 1), 0.9, "all")
    place = Place((Standing(one, 10, 0, 0.05, 0.05, 0.0, reached=60),), (0.05, 0.0))
    held = table(phenes.chance(0.9), NAMES, place, OWN, False)
    assert held.met
    assert held.all.unseen == pytest.approx(1 - 0.05 ** (1 / 60))
    assert "no failure was met in the 60 evaluations that could show one" in unconfirmed(held)[-1]
    assert "up to 4.9% of x may fail unseen" in unconfirmed(held)[-1]
    assert held.all.assured == pytest.approx(0.95 * 0.05 ** (1 / 60))
    assert "if they do, P is at least 0.9037 only" in unconfirmed(held)[-1]
    assert len(unconfirmed(told(phenes.chance(0.9), 0.05, OWN))) == 1
