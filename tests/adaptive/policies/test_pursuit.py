"""A model that is followed evaluation by evaluation: when, how, and until when."""

import numpy as np
import pytest

from phenes.adaptive import tuning
from phenes.adaptive.marginal import marginal_of
from phenes.adaptive.newton import Advice
from phenes.adaptive.phases import Recentre, Step
from phenes.adaptive.policies import pursuit
from phenes.adaptive.policies.pursuit import Pursuit
from tests.adaptive.problems import descent, ellipsoid, fed, run, sphere
from tests.adaptive.test_newton import a_fit

DIM = 3


def rosenbrock(x):
    return np.sum(100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1 - x[:, :-1]) ** 2, axis=1)


def far(length=3.0, crossed=True):
    """A step that is to be made, so long."""
    model = a_fit(np.ones(DIM), np.ones(DIM), turn=np.eye(DIM) if crossed else None)
    return (Step(model, Advice(np.zeros(DIM), np.ones(DIM), length, 1.0)),)


def begun(f=sphere, mean=5.0, n=40, **options):
    """A pursuit at its first step, with the descent around it."""
    one = fed(descent(np.zeros(DIM), mean=mean, **options), n, f, np.random.default_rng(0))
    policy = one.policies.pursuit
    policy.begin(one.state, far())
    one._apply(policy.begin(one.state, far()))
    assert policy.active
    return one, policy


def asked(one):
    return one.ask(1, np.random.default_rng(1))


def test_it_begins_at_the_best_point_when_a_second_full_model_leads_far():
    one = fed(descent(np.zeros(DIM)), 40, sphere, np.random.default_rng(0))
    policy = Pursuit()
    assert policy.begin(one.state, ()) == ()
    assert policy.begin(one.state, far(crossed=False)) == ()
    assert policy.begin(one.state, far()) == ()  # the search has not the shape of a model yet
    assert policy.begin(one.state, far(tuning.FAR)) == ()
    (recentre,) = policy.begin(one.state, far())
    assert isinstance(recentre, Recentre)
    assert recentre.why == pursuit.FAR
    best, value = one.state.archive.best()
    np.testing.assert_array_equal(recentre.mean, one.state.coords.to_y(best))
    assert policy.value == value


@pytest.mark.parametrize("options", [{"smooth": 0.1}, {"cov": np.full(DIM, 0.01)}])
def test_it_does_not_begin_with_noise(options):
    cov = options.pop("cov", np.zeros(DIM))
    one = fed(descent(cov, **options), 40, sphere, np.random.default_rng(0))
    policy = one.policies.pursuit
    assert [policy.begin(one.state, far()) for _ in range(3)] == [()] * 3


def test_the_minimum_of_the_model_within_the_region_is_asked_once():
    """Of a bowl whose minimum is beyond the region; then draws, until it is told."""
    one, policy = begun()
    mean = one.state.coords.to_x(one.state.marginal.mean)
    first = asked(one)
    np.testing.assert_array_equal(first[0], policy.aim.x)
    away = first[0] - mean
    assert np.linalg.norm(away) == pytest.approx(np.sqrt(DIM), rel=1e-3)
    assert away @ -mean == pytest.approx(np.linalg.norm(away) * np.linalg.norm(mean), rel=1e-2)
    assert not np.array_equal(asked(one), first)


def test_a_kept_promise_moves_and_widens_the_region():
    one, policy = begun()
    before = one.state.marginal
    theta = asked(one)
    one.tell(theta, sphere(theta))
    np.testing.assert_allclose(one.state.coords.to_x(one.state.marginal.mean), theta[0])
    assert one.state.marginal.root[0] == pytest.approx(
        tuning.PURSUIT_GROWTH * before.root[0], rel=1e-6
    )
    assert not policy.draws
    assert policy.value == sphere(theta)[0]


def test_a_broken_promise_narrows_the_region_and_a_draw_is_next():
    one, policy = begun()
    before = one.state.marginal
    theta = asked(one)
    one.tell(theta, np.array([policy.value]))
    np.testing.assert_array_equal(one.state.marginal.mean, before.mean)
    assert one.state.marginal.root[0] == pytest.approx(
        tuning.PURSUIT_SHRINK * before.root[0], rel=1e-6
    )
    theta = asked(one)
    assert policy.aim is None
    one.tell(theta, sphere(theta) + 1e3)
    np.testing.assert_array_equal(asked(one)[0], policy.aim.x)


def ended(one, policy, tell, most=200):
    """The reason of the end, and the evaluations until then."""
    for count in range(most):
        theta = asked(one)
        tell(one, theta)
        if not policy.active:
            return next(iter(one._events.take()), ""), count + 1
    raise AssertionError("it did not end")


def test_values_that_no_model_predicts_end_it_with_the_search_it_began_with():
    one, policy = begun()
    cov, rng = one.state.marginal.cov, np.random.default_rng(5)
    one._events.take()
    why, count = ended(one, policy, lambda one, x: one.tell(x, policy.value + rng.random(1)))
    assert why == pursuit.BROKEN
    assert count < 40
    np.testing.assert_allclose(one.state.marginal.cov, cov)
    assert policy.due > one.state.evaluations


def test_a_failure_ends_it():
    one, policy = begun()
    one._events.take()
    assert ended(one, policy, lambda one, x: one.tell(x, np.array([np.nan])))[1] == 1


def test_a_step_that_never_comes_back_is_broken():
    """x is reported a little beside what was asked, though no noise is declared."""
    one, policy = begun()
    one._events.take()
    ended(one, policy, lambda one, x: one.tell(x + 1e-9, sphere(x) + 1e3), most=2000)


def test_a_model_with_nothing_to_promise_ends_it_where_it_is():
    matrix, bowl = ellipsoid(DIM, 10, seed=2)
    one, policy = begun(f=lambda x: 1 + bowl(x))
    one._events.take()
    why, _ = ended(one, policy, lambda one, x: one.tell(x, 1 + bowl(x)))
    assert why == pursuit.ARRIVED
    mean = one.state.coords.to_x(one.state.marginal.mean)
    assert mean @ matrix @ mean < 1e-12


def test_a_kink_is_told_from_a_smooth_minimum():
    """What steps promise falls as the region narrows at a kink, with its square at a minimum."""
    one, policy = begun()
    narrow = 0.9 / tuning.KINK_NARROWING
    wide = one.state.marginal
    region = marginal_of(wide.mean, wide.cov * narrow**2, np.zeros(DIM))
    policy.first, policy.last = 1.0, narrow
    assert policy._end(region, np.zeros(1)) == pursuit.KINK
    assert policy._end(wide, np.zeros(1)) == ""
    policy.last = narrow**2
    assert policy._end(region, np.zeros(1)) == ""


def test_steps_stay_within_the_bounds():
    one, policy = begun(lower=1.0, upper=9.0)
    for _ in range(30):
        theta = asked(one)
        assert np.all((theta >= 1) & (theta <= 9))
        one.tell(theta, sphere(theta))
    assert policy.value < 3 + 1e-6


@pytest.mark.tier("runs")
def test_a_curved_valley_is_followed():
    """Rosenbrock's function in 10 dimensions from 0: the median was 2760 without pursuit."""
    reached = []
    for seed in range(3):
        seen = []

        def f(x, seen=seen):
            seen.extend(rosenbrock(x))
            return rosenbrock(x)

        run(f, np.zeros(10), 0.5, np.zeros(10), 3000, seed=seed)
        below = np.flatnonzero(np.array(seen) < 1e-6)
        reached.append(below[0] if below.size else np.inf)
    assert np.median(reached) < 1600, reached


def test_one_evaluation_is_asked_at_a_time():
    search = run(rosenbrock, np.zeros(10), 0.5, np.zeros(10), 600)
    while not search.current.policies.pursuit.active:
        theta = search.ask()
        search.tell(theta, theta, rosenbrock(theta))
    assert search.popsize == search.least == len(search.ask()) == 1
    assert len(search.ask(7)) == 7
