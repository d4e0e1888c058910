"""What doing nothing is worth: the bonus for being alive, and a search that widens without it."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phenes.rl import rollouts, training
from phenes.rl.problems.idle import WIDEST, Idle, survival, widened
from phenes.rl.problems.network import GenerationStep
from phenes.rl.problems.starts import begin
from phenes.rl.rollouts.trajectory import Trajectory
from tests.rl.training.small import as_optax_needs_it  # noqa: F401


def paid(reward, mask=None):
    reward = jnp.asarray(reward)
    mask = jnp.ones(reward.shape, bool) if mask is None else jnp.asarray(mask)
    return Trajectory(None, None, reward, mask, None, None)


@pytest.mark.parametrize(
    ("rewards", "bonus"),
    [
        ([1.0, 1.5, 0.5, 1.0, 2.0], 1.0),  # what hops
        ([1.0, 1.0, 1.0, 1.0, 1.0], 0.0),  # a pole that is to be balanced: it is all there is
        ([9.0, 9.3, 9.2, 9.1, 9.4], 0.0),  # nearly all
        ([-1.0, -1.0, -0.2, -1.0, -2.0], 0.0),  # what a step costs is no bonus
    ],
)
def test_the_bonus_is_the_median_where_it_is_not_all_there_is(rewards, bonus):
    np.testing.assert_allclose(survival(paid([rewards])), bonus)


def test_steps_that_were_not_taken_are_not_paid():
    reward = [[1.0, 2.0, 3.0, 0.0, 0.0, 0.0]]
    assert survival(paid(reward, [[True] * 3 + [False] * 3])) == 2.0


def known(value=0.0, width=1.0):
    return Idle.start(0.0)._replace(value=jnp.asarray(value), width=jnp.asarray(width))


@pytest.mark.parametrize(
    ("f", "ended", "width", "found", "after"),
    [
        ([-1.0, -2.0, 0.0, np.nan], [0, 0, 0, 0], 4.0, False, 8.0),  # nobody is better
        ([-1.0, -2.0, 0.5, -1.0], [0, 0, 0, 0], 4.0, True, 4.0),  # one is
        ([-1.0, 2.0, 0.5, -1.0], [0, 0, 0, 0], 4.0, True, 2.0),  # half are
        ([-1.0, 2.0, 0.5, -1.0], [0, 0, 0, 0], 1.0, True, 1.0),
        ([-1.0, -2.0, -1.0, -1.0], [1, 0, 0, 0], 4.0, True, 4.0),  # falling is an event, too
        ([-1.0, -2.0, -1.0, -1.0], [0, 0, 0, 0], WIDEST, False, 1.0),  # anew
    ],
)
def test_the_width(f, ended, width, found, after):
    idle, saw = widened(known(width=width), jnp.asarray(f), jnp.asarray(ended, bool))
    assert (bool(saw), float(idle.width)) == (found, after)


def test_without_an_event_the_mean_stays_and_the_spread_doubles():
    """MountainCarContinuous for 30 steps: nobody arrives, and every push costs."""
    env = rollouts.load("MountainCarContinuous-v0", max_episode_steps=30)
    settings = training.default(env.spaces._replace(limit=999))
    policy, theta = begin(jax.random.key(0), env.spaces, settings, None)
    np.testing.assert_array_equal(theta, 0)
    step = GenerationStep(settings, env, jax.random.key(0))
    carry = step.begin(policy, theta)
    first = step.ask(carry)
    np.testing.assert_array_equal(first.theta[jnp.array([0, 4])], 0)
    assert np.all(np.any(np.asarray(first.theta)[[1, 2, 3, 5, 6, 7]] != 0, axis=1))
    for generation in range(3):
        carry, report = step.once(carry)
        np.testing.assert_array_equal(carry.state.q.mean, 0)
        np.testing.assert_allclose(carry.state.q.std, 0.05 * 2 ** (generation + 1), rtol=1e-6)
        assert report.mean < 0
    assert carry.idle.value == 0


def test_a_late_reward_is_found():
    """MountainCarContinuous: the hill is climbed within 200 episodes (seeds 0 to 9: 96 to 192)."""
    out = training.train("MountainCarContinuous-v0", seed=0, generations=24, target=None)
    assert out.about["value"] > 80


def test_settings_that_do_not_go_together():
    settings = training.linear()
    with pytest.raises(ValueError, match="widen needs mirrored pairs and natural steps"):
        dataclasses.replace(settings, natural=False)
