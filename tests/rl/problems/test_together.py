"""A linear policy is searched as its observations vary."""

import dataclasses
import functools

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phenes.rl import rollouts, training
from phenes.rl.problems.network import GenerationStep
from phenes.rl.problems.starts import begin
from phenes.rl.problems.together import INDEPENDENT, Together
from tests.rl.problems.test_idle import one_generation
from tests.rl.training.small import as_optax_needs_it  # noqa: F401


def observed(obs, *, ended=False, mask=None):
    obs = jnp.asarray(obs)
    mask = jnp.ones(obs.shape[:2], bool) if mask is None else jnp.asarray(mask)
    return obs, mask, jnp.full(obs.shape[0], ended)


class Push(gymnasium.Env):
    """Nothing but spaces: actions between these bounds."""

    def __init__(self, low, high):
        self.observation_space = gymnasium.spaces.Box(-1, 1, (2,))
        self.action_space = gymnasium.spaces.Box(low, high, (1,))


def correlated(key, shape=(3, 50)):
    """Three observations of different sizes: two go together, one is apart."""
    z = jax.random.normal(key, (*shape, 3))
    return jnp.stack([z[..., 0], 100 * (0.9 * z[..., 0] + 0.3 * z[..., 1]), 5 + z[..., 2]], -1)


def test_covariance_is_that_of_all_observations(key):
    first, second = correlated(key), correlated(jax.random.key(1), (2, 20))
    mask = jnp.arange(20)[None] < jnp.array([[20], [7]])
    both = (
        Together.start(3)
        .update(*observed(first))
        .update(*observed(second.at[0, 3].set(jnp.nan), mask=mask))
    )
    rows = np.concatenate(
        [np.reshape(first, (-1, 3)), np.delete(second[0], 3, 0), second[1, :7]], dtype=float
    )
    assert both.count == len(rows)
    np.testing.assert_allclose(both.mean, rows.mean(0), rtol=1e-4)
    np.testing.assert_allclose(both.cov, np.cov(rows.T, ddof=0), rtol=1e-3, atol=1e-2)


def test_rows_of_weights_vary_as_observations_do_and_actions_as_before(key):
    seen = Together.start(3).update(*observed(correlated(key, (4, 500)), ended=True))
    xi = jax.random.normal(jax.random.key(2), (40_000, 2 * 3 + 2))
    out = np.asarray(seen.directions(xi, 2), float)
    R = np.corrcoef(np.reshape(correlated(key, (4, 500)), (-1, 3)).T)
    of_rows = np.cov(out[:, :3].T)
    shrunk = (1 - INDEPENDENT) * R + INDEPENDENT * np.eye(3)
    np.testing.assert_allclose(of_rows, shrunk * 3 / np.sum(shrunk**2), atol=0.03)
    np.testing.assert_allclose(np.trace(of_rows @ R), 3, rtol=0.03)  # the variance of an action
    np.testing.assert_allclose(np.cov(out[:, :3].T, out[:, 3:6].T)[:3, 3:], 0, atol=0.03)
    np.testing.assert_array_equal(out[:, 6:], xi[:, 6:])


def test_before_anything_is_seen_all_weights_are_searched_alike():
    xi = jnp.arange(16.0).reshape(2, 8)
    out = Together.start(3).directions(xi, 2)
    np.testing.assert_allclose(out[:, :6], xi[:, :6], rtol=1e-6)
    np.testing.assert_array_equal(out[:, 6:], 0)  # nor is it known whether there is a posture


def test_an_observation_that_never_varies_and_one_that_is_another():
    obs = np.random.default_rng(0).normal(size=(2, 30, 3))
    obs[..., 1], obs[..., 2] = 7.0, obs[..., 0]
    factor = Together.start(3).update(*observed(obs)).factor()
    assert np.all(np.isfinite(factor))


def test_mirrored_pairs_stay_mirrored(key):
    seen = Together.start(3).update(*observed(correlated(key)))
    xi = jax.random.normal(key, (2, 8))
    np.testing.assert_array_equal(seen.directions(-xi, 2), -seen.directions(xi, 2))


def test_the_first_generation_says_whether_a_posture_is_to_be_held(key):
    fell = Together.start(3).update(*observed(correlated(key), ended=True))
    stood = Together.start(3).update(*observed(correlated(key), ended=False))
    assert fell.posture
    assert not stood.posture
    assert fell.update(*observed(correlated(key), ended=False)).posture
    assert not stood.update(*observed(correlated(key), ended=True)).posture


@pytest.mark.parametrize(
    ("low", "high", "posture"),
    [(-1, 1, False), (-np.inf, np.inf, False), (0, 10, True), (0, np.inf, True)],
)
def test_where_bounds_are_not_symmetric_the_constant_is_searched_at_once(low, high, posture):
    """The middle of the actions is not doing nothing, and where to begin has to be found."""
    play = rollouts.load(functools.partial(Push, low, high), max_episode_steps=3)
    settings = training.linear()
    step = GenerationStep(settings, play, jax.random.key(0))
    carry = step.begin(*begin(jax.random.key(0), play.spaces, settings, None))
    assert carry.together.posture == posture
    assert np.any(np.asarray(step.ask(carry).theta)[:, -1] != 0) == posture


@pytest.mark.tier("rl")
@pytest.mark.parametrize(("env", "posture"), [("Hopper-v5", True), ("Swimmer-v5", False)])
def test_where_episodes_end_the_constant_is_searched(env, posture):
    carry, _ = one_generation(env, training.linear(), max_episode_steps=200)
    assert carry.together is not None
    assert carry.together.posture == posture


@pytest.mark.tier("rl")
def test_other_policies_are_searched_alike():
    """With hidden layers what goes into a layer is no observation."""
    settings = dataclasses.replace(training.linear(), hidden=(4,))
    assert one_generation("Hopper-v5", settings, max_episode_steps=50)[0].together is None


def test_it_needs_natural_steps():
    with pytest.raises(ValueError, match="together needs natural steps"):
        training.Settings(training.linear().estimator, together=True)


def test_weights_come_before_those_of_the_constant_in_theta():
    """And an output's own are side by side: what `directions` takes theta to be."""
    policy, _ = begin(jax.random.key(0), rollouts.spaces("HalfCheetah-v5"), training.linear(), None)
    (layer,) = policy.unravel(jnp.arange(6.0 * 17 + 6)).layers
    np.testing.assert_array_equal(layer.weight, jnp.arange(6.0 * 17).reshape(6, 17))
    np.testing.assert_array_equal(layer.bias, 6 * 17 + jnp.arange(6.0))
