"""The end of a run as a state machine: who gets the draws, and who is recommended."""

import numpy as np
import pytest

from phenes.evidence.estimate import Estimate
from phenes.evidence.verification import (
    Repeats,
    Verification,
    beats,
    carries,
    decide,
    expected_to_beat,
    surely_beats,
)

START, PROPOSAL, RIVAL = np.zeros(2), np.ones(2), np.full(2, 2.0)


def known(theta, fun, n=10, spread=0.1, unseen=0.0):
    error = spread / np.sqrt(max(n, 1))
    return Estimate(theta, fun, error, error, unseen, n, n, 0, spread)


class World:
    """Draws are counted; what is known of a place is its true value and how often it was drawn."""

    def __init__(self, values, rivals=()):
        self.values, self.others, self.draws = values, rivals, {key: 0 for key in values}

    def evidence(self, theta):
        key = float(theta[0])
        return known(theta, self.values[key], max(self.draws[key], 1))

    def run(self, reserve, batch=4, **options):
        v = Verification(
            START,
            PROPOSAL,
            reserve,
            self.evidence,
            lambda leader, entrants: [r for r in self.others if not any(r is e for e in entrants)],
            **options,
        )
        while not v.done:
            theta = v.ask(min(batch, v.left))
            for row in theta:
                self.draws[float(row[0])] += 1
            v.told(theta)
        return v


@pytest.mark.parametrize("batch", [1, 3, 50])
def test_without_doubt_all_draws_go_to_the_proposal(batch):
    world = World({0.0: 1.0, 1.0: 0.0})
    world.run(20, batch)
    assert world.draws == {0.0: 0, 1.0: 20}


@pytest.mark.parametrize("batch", [1, 4])
def test_a_rival_that_is_better_wins_the_race(batch):
    world = World({0.0: 5.0, 1.0: 1.0, 2.0: 0.0}, [RIVAL])
    world.run(60, batch)
    assert sum(world.draws.values()) == 60
    assert world.draws[2.0] > 40
    estimates = [
        known(theta, world.values[theta[0]], world.draws[theta[0]]) for theta in (PROPOSAL, RIVAL)
    ]
    assert decide(estimates, world.evidence(START)).theta is RIVAL


@pytest.mark.parametrize("batch", [1, 2, 3, 8])
@pytest.mark.parametrize("reserve", [5, 8, 11])
def test_places_that_are_as_good_do_not_share_the_draws_that_one_of_them_needs(reserve, batch):
    """Each draw makes a place look a little worse than the others of which less is known."""
    world = World({0.0: 9.0, 1.0: 0.0, 2.0: 0.0, 3.0: 0.0}, [RIVAL, np.full(2, 3.0)])

    def evidence(theta):
        n = world.draws[float(theta[0])]
        return known(theta, world.values[float(theta[0])] + 0.1 * n, n, spread=0.01)

    world.evidence = evidence
    v = world.run(reserve, batch)
    found = [evidence(theta) for theta in v.entrants]
    assert max(each.draws for each in found) >= 5
    assert decide(found, evidence(START)).theta is not START


def test_a_proposal_that_does_not_beat_the_start_is_not_recommended():
    world = World({0.0: 1.0, 1.0: 1.05})
    world.run(40)
    assert world.draws[0.0] >= 4  # the start had to be known better
    answer = decide([known(PROPOSAL, 1.05, world.draws[1.0])], known(START, 1.0, world.draws[0.0]))
    np.testing.assert_array_equal(answer.theta, START)


def test_few_draws_do_not_win_against_many():
    lucky, solid = known(RIVAL, -1.0, 3), known(PROPOSAL, 0.0, 40)
    assert decide([lucky, solid], known(START, 1.0)).theta is PROPOSAL


def test_surely_is_one_joint_standard_error_and_what_may_be_missed():
    assert surely_beats(known(PROPOSAL, 0.0), known(START, 0.1))
    assert not surely_beats(known(PROPOSAL, 0.0), known(START, 0.04))
    assert not surely_beats(known(PROPOSAL, 0.0, unseen=0.2), known(START, 0.1))
    assert not surely_beats(known(PROPOSAL, np.nan), known(START, 0.1))
    assert surely_beats(known(PROPOSAL, 0.0), known(START, np.nan))
    # two draws say little of a spread
    assert surely_beats(known(PROPOSAL, 0.0, 40), known(START, 0.1, 8))
    assert not surely_beats(known(PROPOSAL, 0.0, 40), known(START, 0.1, 2))
    # one draw says nothing of it: it is taken to be that of the other
    alone = Estimate(START, 0.2, np.inf, np.inf, 0.0, 1, 1, 0, np.inf)
    assert surely_beats(known(PROPOSAL, 0.0, 40), alone)
    assert not surely_beats(known(PROPOSAL, 0.15, 40), alone)
    # or what a model says it is, which is too little now and then: two of its errors count
    told = Estimate(START, 0.3, 0.1, 0.1, 0.0, 1, 1, 0, 0.1)
    assert surely_beats(known(PROPOSAL, -0.1, 40), told)
    assert not surely_beats(known(PROPOSAL, 0.0, 40), told)
    # and what is near the start may be hoped for
    assert not surely_beats(
        known(PROPOSAL, 0.0), Estimate(START, 0.1, 0.03, 0.03, 0.0, 10, 10, 0, 0.1, hoped=0.1)
    )


def test_more_draws_of_the_same_value_are_not_better():
    start = known(START, 0.0, 10, unseen=0.1)
    assert not beats(known(PROPOSAL, 0.0, 40, unseen=0.02), start)
    assert beats(known(PROPOSAL, -0.01, 40, unseen=0.02), start)


def test_a_leader_that_fails_loses_the_lead():
    """What is known of the proposal becomes worse with its first draws: the next go to the
    rival.
    """
    draws = {1.0: 0, 2.0: 0, 0.0: 0}

    def evidence(theta):
        n = draws[theta[0]]
        fun = {0.0: 5.0, 2.0: 1.0, 1.0: 0.0 if n < 3 else 3.0}[theta[0]]
        return known(theta, fun, n + 4)

    v = Verification(
        START,
        PROPOSAL,
        40,
        evidence,
        lambda leader, entrants: [RIVAL] if leader.fun > 1 and len(entrants) == 1 else [],
    )
    while not v.done:
        theta = v.ask(1)
        draws[theta[0, 0]] += 1
        v.told(theta)
    assert draws == {0.0: 0, 1.0: 5, 2.0: 35}


class Walled:
    """f is 0 at the proposal, where 40 % of the draws fail at a price of 100; 1 for each step back.

    From 3 steps on none fails.
    """

    def __init__(self):
        self.rows, self.asked = [], 0

    def evidence(self, theta):
        own = [failed for at, failed in self.rows if at == theta[0]]
        n, k = len(own), sum(own)
        fun = (9.0 - theta[0] if theta[0] else 9.0) * (1 - k / n) + 100 * k / n if n else np.nan
        error = 50 / np.sqrt(n) * min(k, 1) if n else np.inf
        return Estimate(theta, fun, error, error, 0.0, n, n, k, 1.0)

    def backward(self, theta, count):
        self.asked += 1
        return [theta - back * np.ones(2) for back in (1.0, 3.0, 5.0)]

    def run(self, reserve, share=0.4):
        v = Verification(
            START,
            np.full(2, 9.0),
            reserve,
            self.evidence,
            lambda leader, entrants: [],
            backward=self.backward,
        )
        rng = np.random.default_rng(0)
        while not v.done:
            theta = v.ask(1)
            self.rows.append((theta[0, 0], theta[0, 0] > 6 and rng.random() < share))
            v.told(theta)
        return v


def test_the_answer_is_led_back_from_where_draws_fail():
    world = Walled()
    v = world.run(200)
    at = [row for row, _ in world.rows]
    assert at.count(6.0) > 100 > at.count(9.0)
    assert any(theta[0] == 6.0 for theta in v.entrants)
    assert len(v.contenders) == len(v.entrants) + 3  # all that were drawn at are known


@pytest.mark.parametrize(("reserve", "share"), [(200, 0.0), (20, 0.4)])
def test_no_way_back_is_looked_for_without_failures_or_with_few_draws(reserve, share):
    world = Walled()
    v = world.run(reserve, share)
    assert world.asked == 0
    assert v.retreat is None


def test_rows_that_nobody_tells_are_asked_for_again():
    v = Verification(
        START, PROPOSAL, 10, World({0.0: 1.0, 1.0: 0.0}).evidence, lambda leader, entrants: []
    )
    for _ in range(5):
        np.testing.assert_array_equal(v.ask(8), np.tile(PROPOSAL, (8, 1)))
    assert not v.done


def test_repeats_take_the_mean_and_then_the_best():
    v = Repeats(PROPOSAL, 3, lambda: RIVAL)
    np.testing.assert_array_equal(v.ask(3), PROPOSAL[None])
    v.told(PROPOSAL[None])
    np.testing.assert_array_equal(v.ask(2), np.tile(RIVAL, (2, 1)))
    v.told(np.tile(RIVAL, (2, 1)))
    assert v.done


class TestImprovement:
    """The search learns from the first draws, and may propose again."""

    @staticmethod
    def run(reserve, proposals):
        """Draws at each place, where the search proposes these after one another."""
        world = World({0.0: 5.0, 1.0: 1.0, 2.0: 0.5})
        waiting = list(proposals)
        v = Verification(
            START,
            PROPOSAL,
            reserve,
            world.evidence,
            lambda leader, entrants: [],
            lambda theta: waiting.pop(0) if waiting else None,
        )
        while not v.done:
            theta = v.ask(1)
            world.draws[float(theta[0, 0])] += 1
            v.told(theta)
        return world.draws, v

    def test_what_is_proposed_again_gets_the_rest_of_the_draws(self):
        draws, v = self.run(8, [RIVAL])
        assert draws == {0.0: 0, 1.0: 2, 2.0: 6}
        assert v.proposal is RIVAL

    def test_not_when_too_few_draws_are_left_to_verify_it(self):
        draws, v = self.run(8, [None, RIVAL])  # after 2 draws nothing, after 4 too late
        assert draws == {0.0: 0, 1.0: 8, 2.0: 0}
        assert v.proposal is PROPOSAL


class TestStartByTheModel:
    """One draw at the start may be lucky; the model of the search knows all rows."""

    LUCKY = Estimate(START, 0.6, np.inf, np.inf, 0.0, 1, 1, 0, np.inf)

    def test_it_decides_where_a_single_draw_says_nothing(self):
        proposal = known(PROPOSAL, 0.5, 8, spread=0.6)
        assert decide([proposal], self.LUCKY).theta is START
        assert decide([proposal], self.LUCKY, known(START, 2.0, 30)).theta is PROPOSAL

    def test_draws_that_contradict_the_model_count_for_more(self):
        modelled = known(START, 2.0, 30)
        worse = known(PROPOSAL, 1.9, 8, spread=0.6)
        feared = known(PROPOSAL, 0.5, 8, spread=0.6, unseen=1.5)
        failed = Estimate(PROPOSAL, 0.5, 0.1, 0.1, 0.0, 8, 8, 1, 0.6)
        for each in (worse, feared, failed):
            assert not expected_to_beat(each, modelled)
            assert decide([each], self.LUCKY, modelled).theta is START

    def test_a_model_that_is_not_sure_decides_nothing(self):
        unsure = known(START, 2.0, 30, spread=10.0)
        assert not expected_to_beat(known(PROPOSAL, 0.5, 8), unsure)
        assert not expected_to_beat(known(PROPOSAL, 0.5, 8), None)

    @pytest.mark.parametrize(("fun", "drawn"), [(2.0, False), (1.0, True)])
    def test_no_draws_go_to_a_start_that_it_knows_to_be_worse(self, fun, drawn):
        world = World({0.0: 1.0, 1.0: 1.0})
        world.run(40, modelled=lambda: known(START, fun, 30))
        assert (world.draws[0.0] > 0) == drawn


class TestCarries:
    """The answer moves to where the search would have it after the last draws."""

    CHOSEN = known(PROPOSAL, 0.5, 8)

    def test_to_a_better_place_of_which_enough_is_known(self):
        assert carries(self.CHOSEN, known(RIVAL, 0.4, 6))

    @pytest.mark.parametrize(
        ("chosen", "here"),
        [
            (known(PROPOSAL, 0.5, 8), known(RIVAL, 0.5, 8)),
            (known(PROPOSAL, 0.5, 8), known(RIVAL, 0.4, 8, unseen=0.2)),
            (known(PROPOSAL, 0.5, 8), known(RIVAL, 0.4, 4)),
            (known(PROPOSAL, 0.5, 4), known(RIVAL, 0.4, 8)),
            (known(PROPOSAL, 0.5, 9), known(RIVAL, 0.4, 8)),
            (Estimate(PROPOSAL, 0.5, 0.1, 0.1, 0.0, 8, 8, 1, 0.1), known(RIVAL, 0.4, 8)),
        ],
        ids=["no better", "feared", "not known", "hardly drawn", "well drawn", "failed"],
    )
    def test_else_it_stays(self, chosen, here):
        assert not carries(chosen, here)


class Aimed(World):
    """So many evaluations beside the proposal are wanted before its draws."""

    def __init__(self, values, times):
        super().__init__(values)
        self.times = times

    def probe(self, theta):
        return np.full(2, 7.0) if self.draws[7.0] < self.times else None


@pytest.mark.parametrize(("times", "made"), [(2, 2), (50, 6)])
def test_what_none_has_met_is_visited_first_but_not_with_more_than_a_share(times, made):
    world = Aimed({0.0: 5.0, 1.0: 0.0, 7.0: 3.0}, times)
    world.run(20, 1, probe=world.probe)
    assert world.draws == {0.0: 0, 1.0: 20 - made, 7.0: made}


def test_a_batch_has_one_that_is_aimed_and_draws_beside_it():
    world = Aimed({0.0: 5.0, 1.0: 0.0, 7.0: 3.0}, 1)
    verification = Verification(
        START, PROPOSAL, 20, world.evidence, lambda leader, entrants: [], probe=world.probe
    )
    np.testing.assert_array_equal(verification.ask(3)[:, 0], [7.0, 1.0, 1.0])
    # what is under way is not asked for twice
    np.testing.assert_array_equal(verification.ask(2)[:, 0], [1.0, 1.0])


@pytest.mark.parametrize(("needed", "made"), [(17, 3), (20, 0), (30, 6)])
def test_draws_that_show_a_tail_by_themselves_are_not_aimed(needed, made):
    """Unless there are too few of them anyway."""
    world = Aimed({0.0: 5.0, 1.0: 0.0, 7.0: 3.0}, 50)
    world.run(20, 1, probe=world.probe, needed=needed)
    assert world.draws[7.0] == made


@pytest.mark.parametrize(("needed", "moves"), [(18, 1), (19, 0), (40, 1)])
def test_a_proposal_moves_as_long_as_the_draws_that_show_a_tail_are_left(needed, moves):
    """After a first round of 2 of 20 draws."""
    asked: list[np.ndarray] = []

    def improve(theta):
        asked.append(theta)
        return RIVAL.copy() if len(asked) == 1 else None

    world = World({0.0: 5.0, 1.0: 1.0, 2.0: 0.0})
    found = world.run(20, 1, improve=improve, needed=needed)
    assert float(found.proposal[0]) == (2.0 if moves else 1.0)
