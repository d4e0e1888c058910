"""What comes out of `train`, of tables and networks alike: it acts, is evaluated, and is kept."""

import functools
import json

import equinox as eqx
import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import phenes
from phenes.rl import tabular
from phenes.rl.curve import Curve
from phenes.rl.policies import MLP, policy
from phenes.rl.problems.network import NetworkPolicy
from phenes.rl.rollouts import load, spaces, total
from phenes.rl.rollouts.python_envs import _seeds
from phenes.rl.training import Evaluation, Trained
from phenes.rl.training.policy_file import NETWORK_1, TABLE_1
from tests.rl.rollouts.worlds import Echo
from tests.rl.training.small import as_optax_needs_it, resaved, same, short, table  # noqa: F401


@pytest.fixture(scope="module")
def network():
    return short(seed=3)


@pytest.fixture(scope="module")
def lake():
    """On ice that is not slippery."""
    return table(seed=1, generations=50, popsize=100, options={"is_slippery": False})


def test_what_a_network_leaves_behind(network, tmp_path):
    assert (network.kind, network.episodes, network.name) == ("network", 60, "CartPole-v1")
    assert network.steps == network.curve.steps.sum()
    np.testing.assert_array_equal(network.curve.at, [5, 10])
    found = network.evaluate(20, seed=5)
    assert found.returns.shape == (20,)
    assert found.se == pytest.approx(np.std(found.returns, ddof=1) / np.sqrt(20))
    assert str(found) == f"{found.mean:.5g} ± {found.se:.2g} on 20 episodes"
    again = phenes.rl.load(network.save(tmp_path / "cartpole.phenes"))
    same(network, again)
    assert again.about == json.loads(json.dumps(dict(network.about)))
    obs = [np.array([0.1, 0.2, -0.1, -0.3]), np.array([-0.1, 0.5, 0.1, 0.4])]
    assert [again.predict(o) for o in obs] == [network.predict(o) for o in obs]
    np.testing.assert_array_equal(again.evaluate(20, seed=5).returns, found.returns)
    with pytest.raises(AttributeError, match="network, which has no table"):
        _ = network.probabilities


def test_printed_it_is_one_line(network, lake):
    """Not its arrays: it is what a console shows after `train`."""
    value = network.about["value"]
    assert (
        repr(network)
        == str(network)
        == (
            f"<Trained for CartPole-v1: a network of {network.theta.size} parameters, learnt in"
            f" 60 episodes, best actions return {value:.5g}>"
        )
    )
    assert "a table of 64 parameters, learnt in 5,000 episodes" in repr(lake)


def test_an_evaluation_says_how_many_episodes_failed():
    """The mean is not a number then; printed, the others are told apart."""
    found = Evaluation(np.array([1.0, np.nan, 3.0, np.inf]))
    assert np.isnan(found.mean)
    assert str(found) == "2 ± 1 on 2 episodes, and nothing finite on 2 more"
    assert str(Evaluation(found.returns[1:2])) == "nothing finite on 1 episodes"
    assert str(Evaluation(found.returns[::2])) == "2 ± 1 on 2 episodes"


def test_a_training_in_which_every_episode_fails_says_so():
    """NaN from the second step on, whatever is done."""
    make = functools.partial(Echo, broken=True)
    with pytest.warns(UserWarning, match="no episode of Echo had a finite return"):
        out = phenes.rl.train(make, generations=1, popsize=4, hidden=(4,), max_steps=9)
    assert "learnt in 4 episodes of which 4 failed" in repr(out)


def test_what_a_table_leaves_behind(lake, tmp_path):
    assert (lake.kind, lake.episodes, lake.name) == ("table", 5000, "FrozenLake-v1")
    assert lake.score.greedy == 1.0
    assert lake.curve.deterministic.shape == lake.curve.mean.shape == (50,)
    assert lake.curve.deterministic[-1] == lake.score.greedy == lake.about["value"]
    assert np.isnan(lake.curve.signal()).all()
    again = phenes.rl.load(lake.save(tmp_path / "lake.phenes"))
    same(lake, again)
    assert again.score == lake.score
    assert again.about == json.loads(json.dumps(dict(lake.about)))
    assert [again.predict(s) for s in range(16)] == [lake.predict(s) for s in range(16)]
    with pytest.raises(AttributeError, match="in a table, without a network"):
        _ = lake.theta


@pytest.mark.tier("rl")
def test_a_table_is_evaluated_on_fresh_episodes_with_its_best_actions():
    """On slippery ice: the mean of the episodes is the exact value, within its error."""
    trained = table(options={"map_name": "4x4"}, generations=50, popsize=100)
    found = trained.evaluate(4000, seed=2)
    assert set(np.unique(found.returns)) == {0.0, 1.0}
    assert abs(found.mean - trained.score.greedy) < 4 * found.se
    np.testing.assert_array_equal(found.returns[:10], trained.evaluate(4000, seed=2).returns[:10])
    assert np.any(trained.evaluate(4000, seed=3).returns != found.returns)


def test_observations_that_are_none(network, lake):
    with pytest.raises(ValueError, match=r"obs must have 4 numbers, as CartPole-v1 gives them"):
        network.predict([0.0, 1.0])
    for obs in (16, -1, 0.5, [0, 1]):
        with pytest.raises(ValueError, match="obs must be a state of FrozenLake-v1"):
            lake.predict(obs)
    for trained in (network, lake):
        with pytest.raises(ValueError, match="episodes must be"):
            trained.evaluate(0)
        with pytest.raises(ValueError, match="seed must be"):
            trained.evaluate(1, seed=-1)
        with pytest.raises(ValueError, match="workers must be None, a number of processes"):
            trained.evaluate(1, workers=0)


def test_another_environment_is_refused(network, tmp_path):
    """One that does not see and do the same."""
    again = phenes.rl.load(network.save(tmp_path / "cartpole.phenes"), env="tests/Walk-v0")
    with pytest.raises(ValueError, match=r"actions of CartPole-v1, and those of tests/Walk-v0"):
        again.evaluate(2)


def test_a_function_that_makes_the_environment_does_not_rename_it(network, tmp_path):
    path = network.save(tmp_path / "cartpole.phenes")
    again = phenes.rl.load(path, env=lambda **options: gymnasium.make("CartPole-v1", **options))
    assert again.name == network.name == "CartPole-v1"
    assert phenes.rl.load(path, env="tests/Walk-v0").name == "tests/Walk-v0"


def test_frames_of_an_episode(network, lake):
    for trained, steps in ((network, 40), (lake, 6)):
        frames = trained.frames()
        assert 2 <= len(frames.pictures) <= steps + 1
        assert frames.pictures[0].ndim == 3
        assert 10 <= frames.per_second <= 50
    assert len(lake.frames().pictures) == 7  # six steps to the goal, and the start


KINDS = [
    *(("dict", "two"), ("box", "box"), ("box", "mixed")),
    *(
        pytest.param(*kinds, marks=pytest.mark.tier("rl"))
        for kinds in (
            *((kind, "two") for kind in ("box", "discrete", "tuple", "multi", "pixels")),
            *(("box", kind) for kind in ("many", "bits", "boxes", "choices")),
        )
    ),
]


@pytest.mark.parametrize(("observation", "action"), KINDS)
def test_a_plain_loop_with_predict_is_what_is_evaluated(observation, action, tmp_path):
    """Whatever the environment gives and takes, to the last bit; also by a file."""
    options = {"observation": observation, "action": action}
    env, key = load("tests/Walk-v0", **options), jax.random.key(4)
    acting, theta = policy(key, env.spaces, hidden=())
    readout = NetworkPolicy(acting, np.asarray(theta), env.spaces)
    about = {
        **{"kind": "network", "name": "tests/Walk-v0", "options": options, "popsize": 1},
        "settings": {"hidden": (), "action_noise": 0.3},
    }
    trained = Trained(readout, Curve(*(np.empty(0) for _ in Curve._fields)), about)
    assert repr(trained) == "<Trained for tests/Walk-v0: a network, learnt in 0 episodes>"
    again = phenes.rl.load(trained.save(tmp_path / "walk.phenes"))
    keys = jax.random.split(key, 5)
    x = env.play(acting, jnp.tile(theta, (5, 1)), keys, deterministic=True)
    world = gymnasium.make("tests/Walk-v0", **options)
    for seed, expected in zip(np.asarray(_seeds(keys)).tolist(), total(x), strict=True):
        obs, _ = world.reset(seed=seed)
        found, over = 0.0, False
        while not over:
            chosen = trained.predict(obs)
            np.testing.assert_equal(again.predict(obs), chosen)
            assert world.action_space.contains(trained.predict(obs, deterministic=False))
            obs, reward, terminated, truncated, _ = world.step(chosen)
            found, over = found + reward, terminated or truncated
        assert found == float(expected)


@pytest.mark.parametrize("hidden", [(), (16, 16)])
def test_evaluate_returns_what_a_plain_loop_adds_up_to_the_last_bit(hidden):
    """Whatever the number of episodes that are played side by side, with real rewards."""
    known = spaces("tests/Echo-v0")
    acting, theta = policy(jax.random.key(5), known, hidden=hidden)
    about = {"kind": "network", "name": "tests/Echo-v0", "options": {}, "popsize": 1}
    curve = Curve(*(np.empty(0) for _ in Curve._fields))
    trained = Trained(NetworkPolicy(acting, np.asarray(theta), known), curve, about)
    Echo.seeds.clear()
    found = trained.evaluate(20).returns
    seeds, world = list(Echo.seeds), gymnasium.make("tests/Echo-v0")
    for seed, expected in zip(seeds[-20:], found, strict=True):
        (obs, _), summed, over = world.reset(seed=seed), 0.0, False
        while not over:
            obs, reward, terminated, truncated, _ = world.step(trained.predict(obs))
            summed, over = summed + float(reward), terminated or truncated
        assert summed == expected


def test_actions_that_are_drawn(network, lake):
    """By a generator; the best one is the most frequent."""
    for trained, obs in ((network, np.zeros(4)), (lake, 0)):
        draws = [
            trained.predict(obs, deterministic=False, rng=np.random.default_rng(k))
            for k in range(60)
        ]
        assert draws[:2] == [
            trained.predict(obs, deterministic=False, rng=np.random.default_rng(k))
            for k in range(2)
        ]
        assert len(set(draws)) > 1
    with pytest.raises(ValueError, match="deterministic must be True or False"):
        lake.predict(0, deterministic="no")


class Own(eqx.Module):
    """A user's network."""

    a: jax.Array

    def __call__(self, obs):
        return self.a @ jnp.concatenate([obs, jnp.abs(obs)])


@pytest.mark.tier("rl")
def test_networks_of_the_users_own(tmp_path):
    out = short(network=Own(jnp.zeros((2, 8))), generations=5)
    assert out.theta.shape == (16,)
    path = out.save(tmp_path / "own")
    with pytest.raises(ValueError, match="network of your own"):
        phenes.rl.load(path)
    with pytest.raises(ValueError, match="must have the 16 parameters"):
        phenes.rl.load(path, MLP(jax.random.key(0), 4, 2, ()))
    np.testing.assert_array_equal(phenes.rl.load(path, Own(jnp.ones((2, 8)))).theta, out.theta)


def test_networks_that_were_saved_before_are_loaded(network, tmp_path):
    def before(about, arrays):
        old = {name: value for name, value in about["about"].items() if name != "kind"}
        return {"format": NETWORK_1, "about": old, "spaces": about["readout"]["spaces"]}, arrays

    again = phenes.rl.load(resaved(network.save(tmp_path / "p"), before))
    same(network, again)
    assert again.about == json.loads(json.dumps(dict(network.about)))


def test_tables_that_were_saved_before_are_loaded(lake, tmp_path):
    def before(about, arrays):
        own = {name: about["about"][name] for name in ("name", "options", "seed", "seconds")}
        own |= {"episodes": lake.episodes, "steps": lake.steps}
        saved = {"format": TABLE_1, **own, "score": about["readout"]["score"]}
        return saved, {
            "probabilities": arrays["probabilities"],
            "curve": arrays["curve.deterministic"],
            "population": arrays["curve.mean"],
        }

    again = tabular.Trained.load(resaved(lake.save(tmp_path / "p"), before))
    np.testing.assert_array_equal(again.probabilities, lake.probabilities)
    np.testing.assert_array_equal(again.curve.deterministic, lake.curve.deterministic)
    np.testing.assert_array_equal(again.curve.mean, lake.curve.mean)
    assert (again.score, again.episodes, again.steps) == (lake.score, lake.episodes, lake.steps)
    assert again.predict(0) == lake.predict(0)
    same(again, phenes.rl.load(again.save(tmp_path / "q")))


def test_files_that_are_not_policies(lake, tmp_path):
    (tmp_path / "text").write_text("nothing")
    np.savez(tmp_path / "other.npz", x=np.zeros(2))
    later = resaved(lake.save(tmp_path / "later"), lambda about, a: ({**about, "format": "3"}, a))
    for path in (tmp_path / "text", tmp_path / "other.npz", later):
        with pytest.raises(ValueError, match="is not a policy"):
            phenes.rl.load(path)
