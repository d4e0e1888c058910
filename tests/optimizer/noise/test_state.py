"""What a run knows of the noise: learnt, declared and contradicted, and how well that is known."""

import warnings

import numpy as np
import pytest

import phenes
from phenes.optimizer import NoiseWarning
from phenes.optimizer.noise import model as noise_model
from phenes.optimizer.noise.local_laws import GaussianAt
from phenes.optimizer.noise.model import LearntNoiseModel, SampledNoiseModel
from phenes.optimizer.noise.state import FIRST_LEARNT, NoiseState

RNG = np.random.default_rng(0)


def told(state, n, std=0.2, bias=0.0, first=False):
    theta = RNG.standard_normal((n, 2))
    x = theta + bias + std * RNG.standard_normal((n, 2))
    state.observe(theta, x, first)
    return state.refresh(theta, x)


def test_noise_is_learnt_once_there_are_enough_residuals():
    state = NoiseState("learn", np.zeros(2))
    assert state.noiseless
    assert not told(state, FIRST_LEARNT - 1)[1]
    np.testing.assert_array_equal(state.known.cov, 0)
    assert told(state, 200)[1]
    assert isinstance(state.model, LearntNoiseModel)
    np.testing.assert_allclose(np.sqrt(state.known.variances), 0.2, rtol=0.2)
    assert not state.noiseless
    assert "isotropic noise" in state.described()


def test_the_error_of_learnt_variances_falls_with_the_number_of_residuals():
    state = NoiseState("learn", np.zeros(2))
    told(state, 50)
    assert state.relative_error() == pytest.approx(np.sqrt(2 / 50))
    assert state.law_at(np.zeros(2)).rests_on == 50
    declared = NoiseState(0.2, np.zeros(2))
    told(declared, 50)
    assert declared.relative_error() == 0.0
    assert declared.law_at(np.zeros(2)).rests_on == np.inf


@pytest.fixture(scope="module")
def learnt():
    """Twenty runs of 150 evaluations, without a verification."""
    results = []
    for seed in range(20):
        rng = np.random.default_rng(seed)

        def lab(theta, rng=rng):
            x = theta + 0.5 * rng.standard_normal(3)
            return x, np.sum(x**2)

        options = {"realises": True, "budget": 150, "verify": 0, "seed": seed}
        results.append(phenes.minimize(lab, np.full(3, 0.5), 0.3, "learn", **options))
    return results


def test_the_error_of_learnt_noise_is_part_of_what_is_claimed(learnt):
    """(fun - F) / fun_se over 20 seeds is about standard normal: of the claim, by evidence.

    F(theta) = |theta|^2 + d s^2; s is learnt, and most of the error is in d s^2.
    """
    z = [(each.fun - np.sum(each.x**2) - 0.75) / each.fun_se for each in learnt]
    assert 0.6 < np.sqrt(np.mean(np.square(z))) < 1.5


def test_the_error_of_learnt_noise_is_part_of_what_the_search_says(learnt):
    """The same of the model of the search, in the history."""
    last = [{name: column[-1] for name, column in each.history.items()} for each in learnt]
    z = [(each["fun"] - np.sum(each["x"] ** 2) - 0.75) / each["fun_se"] for each in last]
    assert 0.6 < np.sqrt(np.mean(np.square(z))) < 1.5


def test_a_contradicted_declaration_is_said_once():
    state = NoiseState(0.1, np.zeros(2))
    with pytest.warns(NoiseWarning, match="declared noise does not fit"):
        told(state, 100, std=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told(state, 500, std=0.3)
    assert "noise='learn'" in state.warning


def test_nothing_measured_is_said_at_the_first_update():
    state = NoiseState("learn", np.zeros(2))
    with pytest.warns(NoiseWarning, match="nothing was measured"):
        state.observe(np.zeros((3, 2)), np.full((3, 2), np.nan), True)


def test_what_nobody_measures_is_not_known_to_the_search():
    state = NoiseState([0.1, 0.2], np.zeros(2))
    theta = np.zeros((4, 2))
    x = np.array([[0.1, np.nan]] * 4)
    points, changed = state.refresh(theta, x)
    assert changed
    np.testing.assert_array_equal(points, [[0.1, 0.0]] * 4)
    np.testing.assert_allclose(state.known.variances, [0.01, 0.0])
    np.testing.assert_allclose(state.unmeasured_variances(theta), [0.0, 0.04])


def test_laws_that_only_sample_are_known_by_draws_while_all_of_x_is_measured():
    state = NoiseState(phenes.inputs.LaplaceNoise(0.1), np.zeros(2))
    assert isinstance(state.model, SampledNoiseModel)
    assert state.law_at(np.ones(2)).shape == (4096, 2)
    state.points(np.zeros((1, 2)), np.array([[0.0, np.nan]]))
    assert isinstance(state.law_at(np.ones(2)), GaussianAt)
    assert state.one_pattern
    state.points(np.zeros((1, 2)), np.zeros((1, 2)))
    assert not state.one_pattern


def test_moments_of_a_sampled_law_are_kept_while_theta_hardly_moves(monkeypatch):
    """Estimated at the start and where the search has gone, not anew for every question."""
    asked = []
    draw = noise_model.sample
    monkeypatch.setattr(
        noise_model, "sample", lambda *given: asked.append(len(given[-1])) or draw(*given)
    )
    opt = phenes.Optimizer(np.zeros(2), 0.5, phenes.inputs.UniformNoise(0.2), seed=0)
    for _ in range(10):
        opt.tell(np.ones((8, 2)), np.arange(8.0), realised=np.ones((8, 2)))
    assert asked.count(noise_model.DRAWS) == 2


def test_rounding_of_large_theta_is_not_taken_for_noise():
    """Doubles near 1e15 are an eighth apart, those near 1e12 a ten-thousandth."""
    rng = np.random.default_rng(0)
    state = NoiseState(0.1, np.zeros(2))
    for size in (1e15, 1e12):
        theta = size + rng.normal(size=(500, 2))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            state.observe(theta, theta + 0.1 * rng.normal(size=theta.shape), True)
    assert state.residuals.samples == 500
