"""Vector environments: which environment they are of, and that it is the one that is played."""

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv

import phenes
from phenes.rl import rollouts
from phenes.rl.rollouts.python_envs import _seeds
from phenes.rl.rollouts.vectors import single
from phenes.rl.trajectories import Genotype
from tests.rl.rollouts.worlds import Walk
from tests.rl.training.small import as_optax_needs_it  # noqa: F401


def limited():
    return gymnasium.wrappers.TimeLimit(Walk(), 20)


def doubled():
    return gymnasium.wrappers.TransformReward(limited(), lambda reward: 2 * reward)


@pytest.mark.parametrize("mode", ["sync", "vector_entry_point"])
def test_a_vector_by_an_id_is_that_id(mode):
    env = gymnasium.make_vec("CartPole-v1", num_envs=2, vectorization_mode=mode)
    assert single(env) == "CartPole-v1"
    assert single(gymnasium.wrappers.vector.RecordEpisodeStatistics(env)) == "CartPole-v1"
    env.close()


def test_an_asynchronous_vector_is_that_id():
    env = AsyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * 2)
    assert single(env) == "CartPole-v1"
    env.close()


def test_options_of_the_vector_are_kept():
    env = gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="sync", max_episode_steps=50)
    assert rollouts.load(env).spaces.limit == 50
    env = gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="vector_entry_point")
    env.spec.kwargs["sutton_barto_reward"] = True
    one = gymnasium.make(single(env))
    assert one.unwrapped._sutton_barto_reward


def test_a_wrapper_of_the_single_environment_is_kept():
    maker = single(SyncVectorEnv([doubled, doubled]))
    assert maker is doubled
    assert single("CartPole-v1") == "CartPole-v1"
    by_id = lambda: gymnasium.wrappers.TransformReward(gymnasium.make("CartPole-v1"), abs)  # noqa: E731
    assert single(SyncVectorEnv([by_id])) is by_id


@pytest.mark.tier("rl")
def test_evaluate_and_a_plain_loop_over_the_vector_agree_to_the_last_bit():
    """Trained on a vector; every part of it plays an episode with `predict`."""
    episodes, seed = 5, 7
    env = SyncVectorEnv([doubled] * episodes, autoreset_mode=AutoresetMode.DISABLED)
    settings = {"generations": 5, "popsize": 4, "hidden": (), "estimator": Genotype()}
    trained = phenes.rl.train(env, **settings, target=None)
    by_one = phenes.rl.train(doubled, **settings, target=None)
    np.testing.assert_array_equal(trained.theta, by_one.theta)
    # the first states of `evaluate`: see `Trajectories.sample_some`
    start = jax.random.split(jax.random.key(seed))[1]
    keys = jax.vmap(lambda i: jax.random.fold_in(start, i))(jnp.arange(episodes))
    obs, _ = env.reset(seed=np.asarray(_seeds(keys)).tolist())
    returns, alive = np.zeros(episodes), np.ones(episodes, bool)
    while alive.any():
        actions = np.array([trained.predict(one) for one in obs])
        obs, reward, terminated, truncated, _ = env.step(actions)
        returns += np.where(alive, reward, 0.0)
        over = terminated | truncated
        alive &= ~over
        if over.any():
            obs = env.reset(options={"reset_mask": over})[0]
    np.testing.assert_array_equal(trained.evaluate(episodes, seed=seed).returns, returns)


@pytest.mark.tier("rl")
def test_a_table_in_a_vector():
    env = gymnasium.make_vec("FrozenLake-v1", 3, vectorization_mode="sync", is_slippery=False)
    trained = phenes.rl.train(env, generations=25, popsize=20)
    assert (trained.kind, trained.score.greedy) == ("table", 1.0)


class OwnVector(VectorEnv):
    spec = None


def test_what_cannot_be_taken_apart_is_said_in_one_sentence():
    with pytest.raises(ValueError, match=r"OwnVector does not say how one .* give the id"):
        phenes.rl.train(OwnVector())
    env = SyncVectorEnv([limited])
    scaled = gymnasium.wrappers.vector.NormalizeObservation(env)
    with pytest.raises(ValueError, match="in the wrapper NormalizeObservation cannot be taken"):
        phenes.rl.train(scaled)
    other = type("Other", (Walk,), {})
    with pytest.raises(ValueError, match=r"several environments \(Other, Walk\): give the id"):
        phenes.rl.train(SyncVectorEnv([limited, lambda: other()]))
