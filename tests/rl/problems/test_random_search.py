"""Augmented random search against its definition, written down once more in NumPy."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phenes.rl import rollouts, training
from phenes.rl.problems.directions import TopDirections
from phenes.rl.problems.network import GenerationStep
from phenes.rl.problems.random_search import PUBLISHED, published
from phenes.rl.problems.starts import begin
from phenes.rl.training import Search, random_search, random_search_v1
from tests.rl.training.small import as_optax_needs_it  # noqa: F401

SHORT = {"max_episode_steps": 20}


def test_the_step_by_hand():
    """Three directions, of which the best two count: (R+, R-) = (1, 5), (2, 3), (4, 0)."""
    f = jnp.asarray([1.0, 2.0, 4.0, 5.0, 3.0, 0.0])
    delta = np.array([[1.0, 0.0], [7.0, 7.0], [0.0, 1.0]])
    spread = np.std([1.0, 5.0, 4.0, 0.0])
    by_hand = ((1.0 - 5.0) * delta[0] + (4.0 - 0.0) * delta[2]) / (2 * spread)
    w = np.asarray(TopDirections(2)(f))
    np.testing.assert_allclose(np.mean(w[:, None] * np.concatenate([delta, -delta]), 0), by_hand)
    assert w[1] == w[4] == 0


@pytest.mark.parametrize(("pairs", "top"), [(1, 1), (2, 1), (4, 2), (5, 3)])
def test_half_of_the_directions_count_unless_given(pairs, top):
    f = jax.random.normal(jax.random.key(pairs), (2 * pairs,))
    np.testing.assert_array_equal(TopDirections()(f), TopDirections(top)(f))


def test_two_bad_episodes_do_not_lead_back():
    """The pair that returned (-900, -100) is left out; ranks of all would follow it."""
    f = jnp.asarray([1.0, -900.0, 3.0, -100.0])
    np.testing.assert_allclose(TopDirections()(f), [-4.0, 0.0, 4.0, 0.0], atol=1e-5)


@pytest.mark.parametrize("f", [[2.0, 2.0], [np.nan, np.nan]])
def test_returns_without_spread_are_no_step(f):
    np.testing.assert_array_equal(TopDirections(1)(jnp.asarray(f)), 0)


def test_a_failed_return_is_the_worst():
    w = TopDirections(2)(jnp.asarray([1.0, np.nan, 3.0, 2.0]))
    np.testing.assert_allclose(w, TopDirections(2)(jnp.asarray([1.0, 1.0, 3.0, 2.0])))


@pytest.mark.tier("rl")
@pytest.mark.parametrize("normalise", [False, True])
def test_two_generations_are_those_of_the_paper(normalise):
    """V1 and V2 with the survival bonus taken away, on InvertedPendulum: b = 2 of 3 directions."""
    env = rollouts.load("InvertedPendulum-v5", workers=1, **SHORT)
    search = Search(3, 2, step=0.02, noise=0.5, bonus=0.75, normalise=normalise)
    settings = random_search(env.spaces, search)
    policy, theta = begin(jax.random.key(0), env.spaces, settings, None)
    np.testing.assert_array_equal(theta, 0)
    assert theta.shape == (4,)  # without a bias
    step = GenerationStep(settings, env, jax.random.key(1))
    carry, m, seen = step.begin(policy, theta), np.zeros(4), np.zeros((0, 4))
    for _ in range(2):
        batch = step.ask(carry)
        x = step.sample(carry, batch)
        mean, std = np.zeros(4), np.ones(4)
        if normalise and len(seen):
            mean, std = seen.mean(0), seen.std(0)
        delta = (np.asarray(batch.theta) - m) / 0.5
        np.testing.assert_allclose(delta[:3], -delta[3:], atol=1e-6)
        np.testing.assert_allclose(
            np.asarray(x.action)[:, 0, 0],
            np.sum(np.asarray(batch.theta) * (x.obs[:, 0] - mean) / std, axis=1),
            rtol=1e-4,
            atol=1e-6,
        )
        f = np.sum((np.asarray(x.reward) - 0.75) * x.mask, axis=1)
        top = np.argsort(-np.maximum(f[:3], f[3:]))[:2]
        spread = np.std(np.concatenate([f[top], f[3 + top]]))
        m = m + 0.02 / (2 * spread) * (f[top] - f[3 + top]) @ delta[top]
        carry, report = step.tell(carry, batch, x)
        np.testing.assert_allclose(carry.state.q.mean, m, rtol=1e-3, atol=1e-6)
        np.testing.assert_allclose(report.mean, np.mean(np.sum(np.asarray(x.reward), axis=1)))
        seen = np.concatenate([seen, np.asarray(x.obs)[np.asarray(x.mask)]])
    env.close()


def test_published_settings_are_found_by_the_name():
    assert published("Hopper-v5") == Search(8, 4, 0.01, 0.025, bonus=1.0)
    assert not published("Swimmer-v5").normalise
    assert published("HumanoidStandup-v5") == published("NoSuch-v0") != PUBLISHED["Humanoid"]
    spaces = rollouts.spaces("Hopper-v5")
    whole = random_search_v1(spaces)
    assert whole.weighting == TopDirections(8)
    assert not whole.normalise
    assert dataclasses.replace(whole, weighting=TopDirections(4), normalise=True) == random_search(
        spaces
    )


def test_more_best_directions_than_directions_are_refused():
    with pytest.raises(ValueError, match="top must be at most the number of directions 2, got 3"):
        random_search(rollouts.spaces("Pendulum-v1"), Search(2, 3, 0.1, 0.1))


@pytest.mark.tier("rl")
def test_it_learns_and_is_kept(tmp_path):
    """CartPole stands for 200 steps within 160 episodes (seeds 0 to 2: 80, 80, 160), as published
    for one of the easiest tasks; a file keeps a policy without a bias.
    """
    out = training.train(
        "CartPole-v1",
        preset="ars",
        seed=0,
        generations=10,
        target=195.0,
        options={"max_episode_steps": 200},
    )
    assert out.about["solved"]
    assert out.theta.shape == (8,)
    loaded = training.load(out.save(tmp_path / "p"))
    np.testing.assert_array_equal(loaded.predict(np.ones(4)), out.predict(np.ones(4)))
