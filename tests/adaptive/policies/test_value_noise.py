"""Noise of the values: told from what a wide search cannot explain, and looked through."""

import numpy as np
import pytest

from phenes.adaptive.marginal import marginal_of
from phenes.adaptive.phases import Enter, Widen
from phenes.adaptive.policies.value_noise import KNOWN, SEEN, ValueNoise, start_log_width
from tests.adaptive.problems import descent, fed, sphere
from tests.adaptive.test_newton import a_fit


def a_model(r2, residual):
    return a_fit(np.zeros(2), np.ones(2), r2=r2, residual=residual)


def narrower(state, times):
    """The state, with a search so many times narrower."""
    state.marginal = marginal_of(state.marginal.mean, state.marginal.cov / times**2, state.coords.c)
    return state


def a_state(cov=(0.0, 0.0), **options):
    return descent(np.array(cov), **options).state


def test_residuals_that_stay_while_the_search_narrows_thirty_times_are_noise():
    policy, state = ValueNoise(), a_state()
    wide = state.marginal.log_width
    assert policy.decide(state, a_model(0.3, 1.0)) == ()
    assert policy.decide(narrower(state, 29), a_model(0.3, 0.9)) == ()
    assert policy.decide(narrower(state, 1.1), a_model(0.3, 0.9)) == (
        Widen(SEEN, wide),
        Enter(SEEN),
    )
    assert policy.known == 1.0


@pytest.mark.parametrize("model", [a_model(0.6, 1.0), a_model(0.3, 0.39)])
def test_residuals_that_shrink_or_are_explained_are_part_of_f(model):
    policy, state = ValueNoise(), a_state()
    policy.decide(state, a_model(0.3, 1.0))
    assert policy.decide(narrower(state, 31), model) == ()
    assert policy.lost_residual == 0
    assert policy.decide(state, a_model(0.3, 1.0)) == ()  # counted anew from here


def test_noise_of_an_earlier_descent_is_known_again():
    assert ValueNoise(known=1.0).decide(a_state(), a_model(0.3, 1.4)) == (Enter(KNOWN),)
    assert ValueNoise(known=1.0).decide(a_state(), a_model(0.3, 1.6)) == ()
    assert ValueNoise(known=1.0).decide(a_state(), a_model(0.6, 1.4)) == ()


def test_with_noise_on_the_inputs_it_has_nothing_to_say():
    policy, state = ValueNoise(known=1.0), a_state((1.0, 1.0))
    assert policy.decide(state, a_model(0.3, 0.1)) == ()


def test_a_search_at_rest_is_blind_if_a_model_explains_nothing():
    rng = np.random.default_rng(0)
    noise = fed(descent(np.zeros(2)), 100, lambda x: rng.standard_normal(len(x)), rng).state
    policy = ValueNoise()
    assert policy.blind(noise)
    assert policy.lost_residual == pytest.approx(1, abs=0.4)
    assert policy.lost_log_width == pytest.approx(noise.marginal.log_width + np.log(30))
    assert not ValueNoise().blind(fed(descent(np.zeros(2)), 100, sphere, rng).state)
    assert not ValueNoise(on=False).blind(noise)


def test_wider_than_it_began_is_wide_enough():
    state = a_state(width=0.5)
    assert start_log_width(state) == pytest.approx(state.marginal.log_width)
    assert not ValueNoise().wide_enough(narrower(state, 1.01))
    assert ValueNoise().wide_enough(narrower(state, 0.9))
    flat = descent(np.zeros(201), width=0.5).state
    assert start_log_width(flat) == pytest.approx(flat.marginal.log_width)


def test_so_is_the_scale_of_noise_that_is_declared_but_not_measured():
    assert not ValueNoise().wide_enough(narrower(a_state(smooth=0.1), 11))
    assert ValueNoise().wide_enough(narrower(a_state(smooth=0.1), 9))


def test_and_twice_the_width_at_which_the_signal_was_lost():
    state = narrower(a_state(smooth=0.1), 20)
    lost = ValueNoise(lost_residual=1.0, lost_log_width=state.marginal.log_width - np.log(1.9))
    assert not lost.wide_enough(state)
    lost.lost_log_width -= np.log(1.1)
    assert lost.wide_enough(state)
    assert not lost.wide_enough(narrower(a_state(), 20))  # only if the scale of F is known
