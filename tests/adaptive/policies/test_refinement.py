"""The refinement: which samples it has, when it steps, and when it has settled."""

import numpy as np
import pytest

from phenes.adaptive.newton import Advice
from phenes.adaptive.phases import Claim, End, Phase, Step
from phenes.adaptive.policies import refinement as module
from phenes.adaptive.policies.refinement import RESOLVED, Refinement
from phenes.adaptive.policies.value_noise import ValueNoise
from tests.adaptive.problems import descent, fed, sphere


def refining(cov, n=600, f=sphere, mean=0.0, **options):
    """State of a descent in its refinement with n samples, all of the phase."""
    one = fed(descent(cov, mean=mean, **options), n, f, np.random.default_rng(0))
    one.state.phase = Phase.REFINE
    return one.state


def test_the_newest_samples_of_the_search_are_the_first_of_the_phase():
    policy, state = Refinement(), refining(np.ones(3), n=100)
    policy.begin(state)
    assert policy.entered == 100 - 2 * 10
    assert policy.due == 100 + state.popsize
    assert policy.stepped == 100  # values from before do not judge the step that led here
    policy.begin(refining(np.ones(3), n=5))
    assert policy.entered == 0


@pytest.mark.parametrize(("dim", "own", "wait"), [(3, 20, 8), (3, 400, 120), (30, 400, 248)])
def test_the_next_model_is_due_after_a_third_more_rows(dim, own, wait):
    """0.3 of its own samples, a population, or a quarter (half if dear) of the features."""
    state = refining(np.ones(dim), n=500)
    policy = Refinement(entered=500 - own)
    policy.postpone(state)
    assert policy.due == 500 + wait


def test_in_many_dimensions_the_next_model_waits_for_the_rows_that_the_last_one_had():
    state = refining(np.ones(30), n=5000)
    policy = Refinement(used=1000)
    policy.postpone(state)
    assert policy.due == 5000 + 300


def test_a_step_leads_to_the_optimum_of_the_smoothed_function():
    state = refining(np.full(3, 0.04), n=300, mean=0.2, width=0.3)
    policy = Refinement()
    step = policy.decide(state, ValueNoise())[0]
    assert isinstance(step, Step)
    move = state.marginal.unwhiten(step.model.out_of(step.advice.move))
    assert np.allclose(state.coords.to_x(state.marginal.mean + move), 0, atol=1e-3)
    assert step.claim.value == pytest.approx(3 * 0.04, rel=1e-2)
    assert policy.stepped == 300
    assert policy.promise == pytest.approx(-step.model.g @ step.advice.move)


def test_too_few_samples_give_no_step():
    assert Refinement().decide(refining(np.ones(3), n=5), ValueNoise()) == ()


def test_it_settles_when_steps_are_below_what_the_noise_resolves():
    rng = np.random.default_rng(1)
    noisy = lambda x: sphere(x) + 0.05 * rng.standard_normal(len(x))  # noqa: E731
    decided = Refinement().decide(refining(np.ones(2), f=noisy, width=0.5), ValueNoise())
    assert isinstance(decided[0], Step)
    assert decided[1:] == (End(RESOLVED),)
    early = Refinement().decide(refining(np.ones(2), n=300, f=noisy, width=0.5), ValueNoise())
    assert len(early) == 1


def settled(own=400, error=0.01, cost=1.0, length=0.1, signal=1.0, factor=1.0, cov=1.0):
    state = descent(np.full(2, cov)).state  # p = 6
    advice = Advice(np.zeros(2), np.full(2, factor), length, signal)
    return module._settled(state, advice, Claim(0.0, error, cost), own)


def test_what_it_takes_to_settle():
    assert settled()
    assert not settled(own=399)
    assert not settled(factor=1.6)
    assert not settled(length=0.2, signal=5.0)
    assert settled(length=0.2, signal=3.9)
    assert settled(length=0.1, signal=5.0)


def test_it_does_not_settle_while_f_is_unsure():
    """With noise: its error must be below a tenth of what the noise costs, up to 12 p samples."""
    big = descent(np.ones(10)).state  # p = 66: 400 < 12 p
    advice = Advice(np.zeros(10), np.ones(10), 0.1, 1.0)
    assert not module._settled(big, advice, Claim(0.0, 0.11, 1.0), 12 * 66 - 1)
    assert module._settled(big, advice, Claim(0.0, 0.09, 1.0), 12 * 66 - 1)
    assert module._settled(big, advice, Claim(0.0, 0.11, 1.0), 12 * 66)
    assert settled(error=9.0, cov=0.0)  # no noise, no cost


def test_far_from_the_optimum_models_come_soon_and_old_samples_go():
    """The way is longer than the search is wide: half of the samples are from elsewhere."""
    state = refining(np.full(3, 0.04), n=300, mean=5.0, width=0.3)
    policy = Refinement(due=10**6)
    policy.decide(state, ValueNoise())
    assert policy.due == 300 + state.popsize
    assert policy.entered == 150


def test_close_to_it_they_stay():
    state = refining(np.full(3, 0.04), n=300, mean=0.0, width=0.3)
    policy = Refinement(due=10**6)
    policy.decide(state, ValueNoise())
    assert policy.entered == 0


@pytest.mark.parametrize(("width", "grows"), [(0.2, True), (2.0, False)])
def test_without_input_noise_the_search_widens_but_not_beyond_its_start(width, grows):
    """Values are nothing but noise: from a fifth of the start width it widens, from twice not."""
    rng = np.random.default_rng(1)
    one = descent(np.zeros(2), width=1.0)
    one.state.marginal = _scaled(one.state, width)
    fed(one, 300, lambda x: rng.standard_normal(len(x)), np.random.default_rng(0))
    step = Refinement().decide(one.state, ValueNoise())[0]
    assert (step.advice.factors.max() > 1) == grows


def _scaled(state, width):
    from phenes.adaptive.marginal import marginal_of

    return marginal_of(state.marginal.mean, state.marginal.cov * width**2, state.coords.c)
