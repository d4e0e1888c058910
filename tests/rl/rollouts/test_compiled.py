"""Compiled rollouts: what happened is what Gymnasium would have done, for each individual by
itself.
"""

import functools

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phenes.rl.rollouts import Trajectory, length, load, total, trimmed
from tests.laws.statistics import once
from tests.rl.rollouts.standin import play, population

BOTH = ["CartPole-v1", pytest.param("Pendulum-v1", marks=pytest.mark.tier("rl"))]


@functools.cache
def played(name, n=24, seed=0, deterministic=False):
    rollouts = load(name)
    return rollouts, play(rollouts, *population(rollouts.spaces, n, seed), deterministic)


@pytest.mark.parametrize("name", BOTH)
def test_trajectories_replay_in_gymnasium(name):
    """The recorded actions, from the recorded first observation, lead through the recorded
    observations and rewards.
    """
    rollouts, x = played(name)
    env, policy = gymnasium.make(name), population(rollouts.spaces, 24)[0]
    for i in range(3):
        env.reset(seed=0)
        first = np.asarray(x.obs[i, 0], float)
        env.unwrapped.state = (
            first if name == "CartPole-v1" else np.array([np.arctan2(first[1], first[0]), first[2]])
        )
        for t in range(int(length(x)[i])):
            action = np.asarray(policy.head.to_env(x.action[i, t]))
            obs, reward, terminated, truncated, _ = env.step(action)
            np.testing.assert_allclose(
                x.obs[i, t + 1] if x.mask[i, t + 1 : t + 2].any() else x.final_obs[i],
                obs,
                atol=1e-6,
            )
            assert abs(float(x.reward[i, t]) - reward) < 1e-6
        assert (terminated, terminated or truncated) == (bool(x.ended[i]), True)


@pytest.mark.parametrize("name", BOTH)
def test_masks_and_ends(name):
    rollouts, x = played(name)
    mask, steps, limit = np.asarray(x.mask), np.asarray(length(x)), rollouts.spaces.limit
    assert mask.shape == (24, limit)
    assert np.all(mask[:, :-1] >= mask[:, 1:])
    assert np.all(np.asarray(x.reward)[~mask] == 0)
    assert np.all(np.asarray(x.obs)[~mask] == 0)
    np.testing.assert_array_equal(
        np.asarray(x.ended), steps < limit if name == "CartPole-v1" else np.zeros(24, bool)
    )
    np.testing.assert_allclose(total(x), np.sum(np.asarray(x.reward), axis=1))
    assert float(total(jax.tree.map(lambda leaf: leaf[3], x))) == float(total(x)[3])


def test_termination_in_the_last_step_is_no_truncation():
    """The step limit put at the length of an episode that ends by itself: it has ended. One less:
    it was cut off.
    """
    rollouts, x = played("CartPole-v1")
    i = int(np.argmin(np.asarray(length(x))))
    steps, args = int(length(x)[i]), population(rollouts.spaces, 24)
    for limit, ended in ((steps, True), (steps - 1, False)):
        cut = play(load("CartPole-v1", max_episode_steps=limit), *args)
        assert (int(length(cut)[i]), bool(cut.ended[i])) == (limit, ended)
        np.testing.assert_array_equal(cut.mask, x.mask[:, :limit])


def test_an_individual_does_not_depend_on_the_others():
    rollouts, x = played("CartPole-v1")
    policy, theta, keys = population(rollouts.spaces, 24)
    few = play(rollouts, policy, theta[5:8], keys[5:8])
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a[5:8], b, atol=1e-9), x, few)


def test_first_states_can_be_shared_and_noise_not(key):
    rollouts = load("CartPole-v1")
    policy, theta, keys = population(rollouts.spaces, 24)
    same = jax.random.split(key, 12)
    x = play(
        rollouts, policy, jnp.zeros_like(theta), keys, initial_keys=jnp.concatenate([same, same])
    )
    np.testing.assert_array_equal(x.obs[:12, 0], x.obs[12:, 0])
    assert len(np.unique(np.asarray(x.obs[:12, 0, 0]))) == 12
    assert np.mean(np.asarray(x.action[:12, :8] == x.action[12:, :8])) < 0.75


def test_deterministic_actions_are_modes():
    rollouts, x = played("Pendulum-v1", deterministic=True)
    policy, theta, _ = population(rollouts.spaces, 24)
    np.testing.assert_allclose(x.action[2, 7], policy.output(theta[2], x.obs[2, 7]), atol=1e-12)


def test_noise_of_actions_is_independent_and_normal():
    """24 x 200 draws: mean 0, standard deviation 0.3, no correlation from one step or individual to
    the next, within 5 standard errors.
    """
    rollouts, x = played("Pendulum-v1")
    policy, theta, _ = population(rollouts.spaces, 24)
    mean = jax.vmap(jax.vmap(policy.output, (None, 0)))(theta, x.obs)
    z, n = np.asarray((x.action - mean)[..., 0] / 0.3), 24 * 200
    assert abs(z.mean()) < 5 / np.sqrt(n)
    assert abs(z.var() - 1) < 5 * np.sqrt(2 / n)
    assert abs(np.mean(z[:, 1:] * z[:, :-1])) < 5 / np.sqrt(n)
    assert abs(np.mean(z[1:] * z[:-1])) < 5 / np.sqrt(n)


@pytest.mark.tier("rl")
def test_part_of_a_larger_program_under_vmap(key):
    """Populations of several seeds in one compiled function are those of each alone."""
    rollouts = load("CartPole-v1", max_episode_steps=30)
    policy, theta, _ = population(rollouts.spaces, 6)
    keys = jax.random.split(key, 2)
    together = once(jax.vmap(lambda k: rollouts.play(policy, theta, jax.random.split(k, 6))))(keys)
    alone = play(rollouts, policy, theta, jax.random.split(keys[1], 6))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a[1], b, atol=1e-9), together, alone)


def test_single_precision():
    rollouts = load("Pendulum-v1", max_episode_steps=20)
    policy, theta, keys = population(rollouts.spaces, 4)
    x, y = (
        play(rollouts, policy, theta.astype(dtype), keys, True)
        for dtype in (jnp.float32, jnp.float64)
    )
    assert {v.dtype for v in (x.obs, x.action, x.reward, x.final_obs)} == {jnp.dtype(jnp.float32)}
    assert y.obs.dtype == jnp.float64
    assert x.obs.shape == y.obs.shape == (4, 20, 3)


def test_trimming_keeps_what_happened():
    _, x = played("CartPole-v1")
    short, longest = trimmed(x), int(np.max(length(x)))
    assert short.mask.shape[1] == 1 << (longest - 1).bit_length() < 500
    np.testing.assert_array_equal(total(short), total(x))
    np.testing.assert_array_equal(short.obs, x.obs[:, : short.mask.shape[1]])
    assert trimmed(played("Pendulum-v1")[1]) is played("Pendulum-v1")[1]
    one = trimmed(jax.tree.map(lambda leaf: leaf[0], x))
    assert isinstance(one, Trajectory)
    assert float(total(one)) == float(total(x)[0])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"theta": np.zeros(10)}, r"theta must be real numbers \[N, D\].*got shape \(10,\)"),
        ({"theta": np.zeros((24, 10), int)}, "theta must be real numbers .* of int64"),
        (
            {"keys": jax.random.split(jax.random.key(0), 3)},
            r"keys must be typed keys of shape \(24,\).*got shape \(3,\)",
        ),
        ({"keys": 7}, "keys must be typed keys .* got 7"),
        (
            {"keys": np.zeros((24, 2), np.uint32)},
            r"keys must be typed keys .* got shape \(24, 2\) of uint32",
        ),
        ({"initial_keys": jax.random.key(0)}, r"initial_keys must be typed keys"),
    ],
)
def test_misuse_is_a_value_error(wrong, said):
    rollouts = load("CartPole-v1")
    policy, theta, keys = population(rollouts.spaces, 24)
    with pytest.raises(ValueError, match=said):
        rollouts.play(policy, **{"theta": theta, "keys": keys, **wrong})
