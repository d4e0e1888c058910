"""Early Newton steps: when a model is due, and when it is trusted."""

import numpy as np
import pytest

from phenes.adaptive import tuning
from phenes.adaptive.phases import Step
from phenes.adaptive.policies.early_newton import EarlyNewton, first_model
from tests.adaptive.problems import descent, ellipsoid, fed, nearly_sphere, sphere
from tests.adaptive.test_newton import a_fit


def noise(rng):
    return lambda x: rng.standard_normal(len(x))


def test_a_model_that_explains_nearly_everything_advises_a_step():
    one = fed(descent(np.full(3, 0.01), mean=1.0), 40, sphere, np.random.default_rng(0))
    policy = EarlyNewton()
    model = policy.model(one.state)
    (step,) = policy.decide(one.state, model)
    assert isinstance(step, Step)
    target = one.state.marginal.mean + one.state.marginal.unwhiten(model.out_of(step.advice.move))
    assert np.allclose(one.state.coords.to_x(target), 0, atol=1e-3)
    assert policy.last_median == np.median(one.state.archive.newest(8)[1])


@pytest.mark.parametrize("model", [None, a_fit([1.0, 1.0, 1.0], np.ones(3), r2=0.94)])
def test_a_model_that_leaves_more_unexplained_advises_nothing(model):
    one = fed(descent(np.full(3, 0.01)), 40, sphere, np.random.default_rng(0))
    policy = EarlyNewton(near=1)
    assert policy.decide(one.state, model) == ()
    assert policy.near == 0


def test_switched_off_it_advises_nothing_and_still_fits_models():
    one = fed(descent(np.full(3, 0.01)), 40, sphere, np.random.default_rng(0))
    policy = EarlyNewton(on=False)
    assert policy.decide(one.state, policy.model(one.state)) == ()
    assert policy.due > one.state.evaluations


def test_the_next_model_is_due_after_half_as_many_rows_as_it_has_features():
    one = fed(descent(np.zeros(10), popsize=10), 200, sphere, np.random.default_rng(0))
    policy = EarlyNewton()
    policy.model(one.state)
    assert policy.due == 200 + 33
    few = fed(descent(np.zeros(10), popsize=10), 15, sphere, np.random.default_rng(0))
    assert policy.model(few.state) is None
    assert policy.due == 15 + 10


def test_models_that_keep_failing_wait_longer():
    """d = 20: 231 features, so that the wait doubles after six failures, and no further."""
    rng = np.random.default_rng(0)
    one = fed(descent(np.zeros(20), popsize=10), 500, noise(rng), rng)
    policy, waits = EarlyNewton(), []
    for _ in range(12):
        policy.model(one.state)
        waits.append(policy.due - one.state.evaluations)
    assert waits == [115] * 5 + [230] * 7
    assert policy.failures == 12
    good = fed(descent(np.zeros(20), popsize=10), 500, sphere, rng)
    policy.model(good.state)
    assert policy.failures == 0


def test_a_step_taken_back_counts_as_several_failures():
    policy = EarlyNewton(failures=1)
    policy.reverted()
    assert policy.failures == 1 + tuning.FAILURES_PER_REVERT


def test_in_many_dimensions_the_axes_come_first():
    """d = 30: a sphere needs no more; a turned ellipsoid does, and is not fitted at every turn."""
    rng, policy = np.random.default_rng(0), EarlyNewton()
    one = fed(descent(np.zeros(30), popsize=14), 1000, sphere, rng)
    assert policy.model(one.state).turn is None
    assert policy.full_due == 0
    turned = fed(descent(np.zeros(30), popsize=14), 1000, ellipsoid(30, 100, seed=1)[1], rng)
    assert policy.model(turned.state).turn is not None
    assert policy.full_due == 1000 + 2 * 496
    assert policy.model(turned.state).turn is None  # not due again
    assert policy.due == 1000 + 61


def test_in_many_dimensions_failures_delay_all_of_the_curvature():
    rng, policy = np.random.default_rng(0), EarlyNewton(failures=2)
    one = fed(descent(np.zeros(30), popsize=14), 1000, noise(rng), rng)
    policy.model(one.state)
    assert policy.failures == 3
    assert policy.full_due == 1000 + 3 * 2 * 496


@pytest.mark.parametrize(("mean", "width", "near"), [(0.0, 0.1, 1), (0.0, 5.0, 0), (9.0, 0.1, 0)])
def test_steps_are_near_if_they_are_short_and_the_variation_is_the_noises(mean, width, near):
    """Noise 1: a search of 0.1 is at it, one of 5 is not; from 9 the way is long."""
    one = descent(np.ones(3), mean=mean, width=width)
    fed(one, 100, nearly_sphere, np.random.default_rng(0))
    policy = EarlyNewton()
    policy.decide(one.state, policy.model(one.state))
    assert policy.near == near


@pytest.mark.parametrize(("last", "factor"), [(np.inf, 2.0), (-np.inf, 1.0)])
def test_with_curvature_of_the_axes_only_wider_only_while_it_pays(last, factor):
    one = fed(descent(np.zeros(3)), 40, sphere, np.random.default_rng(0))
    slope = a_fit([5.0, 5.0, 5.0], np.zeros(3), residual=0.01)
    (step,) = EarlyNewton(last_median=last).decide(one.state, slope)
    assert np.allclose(step.advice.factors, factor)


def test_the_first_model_is_due_when_the_axes_have_enough_rows():
    assert [first_model(dim) for dim in (1, 2, 10)] == [4, 7, 28]
    assert descent(np.zeros(10)).policies.early_newton.due == 28


def test_a_search_that_went_back_counts_anew():
    policy = EarlyNewton(near=1, due=50)
    policy.returned(None)
    assert (policy.near, policy.due) == (0, 50)
    policy.returned(99)
    assert policy.due == 99


@pytest.mark.parametrize(
    ("cov", "r2", "far", "near"),
    [(0.01, 1.0, 0.5, 2), (0.01, 1 - 1e-5, 0.5, 0), (0.01, 1.0, 5.0, 0), (0.0, 1.0, 0.5, 0)],
)
def test_an_exact_model_needs_one_step_within_its_reach(cov, r2, far, near):
    """The refinement may begin at once, with noise: ranks would only lead away again."""
    one = fed(descent(np.full(3, cov), popsize=8), 40, sphere, np.random.default_rng(0))
    policy = EarlyNewton()
    policy.decide(one.state, a_fit([far, 0.0, 0.0], np.ones(3), r2=r2))
    assert policy.near == near


@pytest.mark.parametrize(("r2", "wait"), [(1.0, 8), (1 - 1e-5, 22)])
def test_an_exact_model_whose_minimum_is_far_away_is_due_again_at_once(r2, wait):
    one = fed(descent(np.full(3, 0.01), popsize=8), 40, sphere, np.random.default_rng(0))
    policy = EarlyNewton(due=62, full_due=62)
    policy.decide(one.state, a_fit([5.0, 0.0, 0.0], np.ones(3), r2=r2))
    assert policy.exact == (wait == 8)
    assert policy.due == policy.full_due == 40 + wait


def test_an_exact_model_stays_with_all_of_the_curvature():
    """d = 30: the axes explain 0.99 of a function that is nearly round, and do not suffice."""
    rng = np.random.default_rng(0)
    one = fed(descent(np.zeros(30), popsize=14), 1000, ellipsoid(30, 1.3, seed=1)[1], rng)
    assert EarlyNewton().model(one.state).crossed is False
    assert EarlyNewton(exact=True).model(one.state).crossed is True
