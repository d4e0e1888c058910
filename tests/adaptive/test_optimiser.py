"""Ask and tell as a laboratory uses them: parts, any order, failures, strangers, bounds."""

import numpy as np
import pytest

from phenes.adaptive import Adaptive, optimiser, tuning
from phenes.adaptive.phases import Claim, Phase
from phenes.adaptive.policies import floor, refinement
from phenes.adaptive.restarts import Kind
from tests.adaptive.problems import ellipsoid, nearly_sphere, play, run, sphere


def fresh(dim, cov=0.01, mean=1.0, **options):
    start, width = np.full(dim, mean), np.full(dim, 0.5)
    return Adaptive(start, width, np.full(dim, cov), rng=np.random.default_rng(0), **options)


def test_samples_may_come_one_by_one_and_late():
    """Three asks are out at any time, told in random order, one sample at a time."""
    matrix, f = ellipsoid(3, 10)
    world, search = np.random.default_rng(0), fresh(3, mean=2.0)
    waiting = [row for _ in range(3) for row in search.ask(7)]
    while search.evaluations < 1500:
        theta = waiting.pop(int(world.integers(len(waiting))))[None]
        x = theta + 0.1 * world.standard_normal(theta.shape)
        search.tell(theta, x, f(x))
        waiting.extend(search.ask(1))
    assert search.mean @ matrix @ search.mean < 1e-4


def test_failed_evaluations_are_survived():
    matrix, f = ellipsoid(3, 10)

    def fails(x):
        values = f(x)
        values[np.random.default_rng(int(1e6 * abs(x[0, 0]))).random(values.size) < 0.3] = np.nan
        values[values > 50] = np.inf
        return values

    search = run(fails, np.full(3, 2.0), 0.5, np.full(3, 0.01), 2000)
    assert search.mean @ matrix @ search.mean < 1e-4


def test_a_generation_of_failures_changes_nothing():
    search = fresh(3, cov=0.0)
    theta = search.ask()
    search.tell(theta, theta, np.full(len(theta), np.nan))
    assert np.array_equal(search.mean, np.ones(3))
    assert np.isnan(search.estimate[0])


def test_strangers_pull_gently():
    """Samples far away that nobody asked for: the mean stays within the reach of a generation."""
    search = fresh(3, mean=0.0)
    far = np.full((search.popsize, 3), 1e6)
    search.tell(far, far, np.arange(len(far), dtype=float))
    assert np.linalg.norm(search.mean) < 6
    assert np.all(search.spread < 10)


def test_bounds_hold_for_what_is_asked_and_answered():
    """The optimum is outside: the answer is on the border, points beyond it are good data."""
    lower, upper = np.array([0.5, -1.0, -1.0]), np.array([2.0, 1.0, 1.0])
    world = np.random.default_rng(0)
    search = fresh(3, lower=lower, upper=upper)
    while search.evaluations < 2000:
        theta = search.ask()
        assert np.all((theta >= lower) & (theta <= upper))
        x = theta + 0.1 * world.standard_normal(theta.shape)
        search.tell(theta, x, sphere(x))
    assert np.all((search.mean >= lower) & (search.mean <= upper))
    assert np.allclose(search.mean, [0.5, 0, 0], atol=0.02)
    assert np.array_equal(search.inside(np.array([[0.0, 0.0, 9.0]])), [[0.5, 0.0, 1.0]])


def test_better_knowledge_of_the_noise_keeps_the_distribution():
    """The same mean and spread of theta in the coordinates of another noise, and it goes on."""
    matrix, f = ellipsoid(3, 10)
    search = play(fresh(3, cov=0.04), f, np.full(3, 0.01), 60)
    mean, spread = search.mean, search.spread
    cov = np.array([[0.01, 0.002, 0.0], [0.002, 0.01, 0.0], [0.0, 0.0, 0.01]])
    search.update_noise(cov, np.zeros(3))
    assert np.allclose(search.mean, mean)
    assert np.allclose(search.spread, spread)
    play(search, f, cov, 1500)
    assert search.mean @ matrix @ search.mean < 1e-4


def test_convergence_is_reported_on_a_simple_problem_and_says_why():
    search = run(sphere, np.ones(2), 0.5, np.full(2, 0.01), 15_000)
    assert search.converged == refinement.RESOLVED
    events = search.take_events()
    assert events[refinement.RESOLVED] >= 1
    assert events[optimiser.SAME_PLACE] >= 3
    assert search.take_events() == {}


def test_no_convergence_is_claimed_while_restarts_are_under_way_or_values_never_differed():
    assert run(sphere, np.ones(2), 0.5, np.full(2, 0.01), 300).converged == ""
    flat = run(lambda x: np.ones(len(x)), np.ones(2), 0.5, np.zeros(2), 5000)
    assert flat._schedule.verdicts.pointless
    assert flat.converged == ""


def test_phases_have_words():
    search = fresh(2)
    words = []
    world = np.random.default_rng(1)
    while search.evaluations < 4000:
        theta = search.ask()
        x = theta + 0.1 * world.standard_normal(theta.shape)
        search.tell(theta, x, sphere(x))
        words.append(search.phase)
    order = list(dict.fromkeys(words))
    assert order[:3] == ["search", "newton", "restart 1: search"]
    assert "refine" in order


def test_the_population_is_that_of_the_descent_under_way():
    assert fresh(10).popsize == 10
    assert fresh(10, popsize=7).popsize == 7
    search = fresh(2)
    while search.phase != "restart 1: search":
        play(search, sphere, np.full(2, 0.01), search.evaluations + 1)
        assert search.evaluations < 4000
    assert search.popsize == len(search.ask()) == round(tuning.LARGE_FACTOR * 6)


def test_reasons_tell_a_descent_from_restarts():
    events = run(sphere, np.ones(2), 0.5, np.full(2, 0.01), 4000).take_events()
    reasons = list(events)
    assert reasons[0] in (floor.AT_FLOOR, floor.NEAR)
    assert reasons[1:3] == [refinement.RESOLVED, optimiser.BEGINS[Kind.LARGE]]
    assert any(text.startswith("restart: ") for text in reasons[3:])


def test_where_f_is_rugged_the_trend_is_looked_for_first():
    events = run(wavy, np.ones(2), 0.5, np.full(2, 0.01), 4000).take_events()
    restarts = [reason for reason in events if reason in optimiser.BEGINS.values()]
    assert restarts[0] == optimiser.BEGINS[Kind.TREND]


def test_where_the_budget_is_small_restarts_look_elsewhere_first():
    search = fresh(2, budget=1000)
    play(search, wavy, np.full(2, 0.01), 1000)
    restarts = [reason for reason in search.take_events() if reason in optimiser.BEGINS.values()]
    assert restarts[0] == optimiser.BEGINS[Kind.LARGE]
    assert optimiser.BEGINS[Kind.TREND] not in restarts


def wavy(x):
    return sphere(x) + np.sum(np.cos(50 * x), axis=1)


def test_the_evidence_may_send_it_elsewhere():
    search = run(sphere, np.ones(2), 0.5, np.full(2, 0.01), 3000)
    known = search._incumbent.policies.value_noise
    known.known = 0.25
    search.restart(np.full(2, 0.7))
    assert np.allclose(search.mean, 0.7)
    assert np.allclose(search.spread, 0.25)
    assert search.restarts == 0
    assert search._incumbent.policies.value_noise.known == 0.25
    assert optimiser.ELSEWHERE in search.take_events()


def test_samples_to_learn_from_move_nothing():
    search = run(nearly_sphere, np.ones(3), 0.5, np.full(3, 0.01), 35)
    mean, before = search.mean, search.estimate
    x = search.mean + 0.1 * np.random.default_rng(5).standard_normal((40, 3))
    search.learn(x, x, nearly_sphere(x) + 1)
    assert np.array_equal(search.mean, mean)
    assert search.evaluations == 35 + 40
    assert search.estimate != before


@pytest.mark.parametrize(("value", "replaced"), [(0.95, False), (0.7, True)])
def test_a_challenger_replaces_the_answer_by_a_clear_margin_only(value, replaced):
    """1.0 +- 0.1 against +- 0.1, at another place."""
    search = fresh(2)
    other = fresh(2, mean=50.0)._incumbent
    search._incumbent.state.claim, search._incumbent.state.phase = Claim(1.0, 0.1), Phase.SETTLED
    other.state.claim, other.state.phase = Claim(value, 0.1), Phase.SETTLED
    search._challenger = other
    search._judge()
    assert (search._incumbent is other) == replaced
    assert optimiser.BETTER in search.take_events() or not replaced


def test_of_two_at_the_same_place_the_one_that_can_go_on_averaging_is_the_answer():
    for phase, replaced in ((Phase.ENDED, True), (Phase.SETTLED, False)):
        search, other = fresh(2), fresh(2)._incumbent
        search._incumbent.state.claim, search._incumbent.state.phase = Claim(1.0, 0.1), phase
        other.state.claim, other.state.phase = Claim(1.01, 0.1), Phase.REFINE
        search._challenger = other
        search._judge()
        assert (search._incumbent is other) == replaced


def test_a_new_answer_that_is_over_is_challenged_at_once():
    search = fresh(2)
    search._incumbent.state.claim, search._incumbent.state.phase = Claim(1.0, 0.1), Phase.ENDED
    search._judge()
    assert search.phase == "restart 1: search"
    assert search.challenging is False  # its incumbent has seen no values
