"""Any environment of Gymnasium: in a loop, in its vector form, on workers."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from phenes.rl.policies import policy
from phenes.rl.rollouts import length, load, spaces, total
from tests.rl.rollouts import worlds
from tests.rl.rollouts.standin import play, population

WALK = "tests/Walk-v0"


def equal(x, y):
    jax.tree.map(np.testing.assert_array_equal, x, y)


def walked(n=12, name=WALK, backend=None, workers=None, **options):
    rollouts = load(name, backend, workers, **options)
    return rollouts, rollouts.play(*population(rollouts.spaces, n))


def test_episodes_are_those_of_gymnasium():
    """The recorded actions lead from a first state of Gymnasium's through the recorded observations
    and rewards, to the recorded end.
    """
    _, x = walked(caught=7)
    assert {bool(e) for e in x.ended} == {True, False}
    assert x.mask.shape == (12, 8)  # a power of two
    for i in range(12):
        env = gymnasium.make(WALK, caught=7)
        seed = next(s for s in range(50) if env.reset(seed=s)[0][0] == x.obs[i, 0, 0])
        obs, _ = env.reset(seed=seed)
        for t in range(length(x)[i]):
            np.testing.assert_array_equal(x.obs[i, t], obs)
            obs, reward, terminated, truncated, _ = env.step(x.action[i, t] + 1)
            assert x.reward[i, t] == reward
        np.testing.assert_array_equal(x.final_obs[i], obs)
        assert (terminated, terminated or truncated) == (x.ended[i], True)
        assert not x.mask[i, t + 1 :].any()


def test_the_step_limit_truncates():
    _, x = walked(max_episode_steps=3)
    steps = length(x)
    assert x.mask.shape[1] == 3
    assert set(steps) == {2, 3}
    assert not np.all(x.ended[steps == 3])


def test_an_individual_depends_on_its_key_alone():
    rollouts, x = walked()
    policy, theta, keys = population(rollouts.spaces, 12)
    few = rollouts.play(policy, theta[3:5], keys[3:5])
    t = few.mask.shape[1]
    for a, b in ((x.obs, few.obs), (x.action, few.action), (x.mask, few.mask)):
        np.testing.assert_array_equal(a[3:5, :t], b)
    other = rollouts.play(policy, theta, keys[::-1], initial_keys=keys)
    np.testing.assert_array_equal(other.obs[:, 0], x.obs[:, 0])
    assert not np.array_equal(other.action[:, :2], x.action[:, :2])


@pytest.mark.tier("rl")
def test_returns_have_the_law_of_compiled_ones():
    """Cart-poles of one policy: 120 episodes of each back end (Kolmogorov-Smirnov)."""
    samples = []
    for backend in ("jax", "gymnasium"):
        rollouts = load("CartPole-v1", backend)
        policy, theta, keys = population(rollouts.spaces, 120, seed=4)
        same = jnp.broadcast_to(theta[:1], theta.shape)
        x = (
            play(rollouts, policy, same, keys)
            if rollouts.compiled
            else rollouts.play(policy, same, keys)
        )
        samples.append(np.asarray(total(x)))
    assert scipy.stats.ks_2samp(*samples).pvalue > 1e-3


def test_single_precision_and_deterministic_actions():
    rollouts = load("Pendulum-v1", "gymnasium", max_episode_steps=5)
    policy, theta, keys = population(rollouts.spaces, 3, dtype=np.float32)
    x = rollouts.play(policy, theta, keys, deterministic=True)
    assert {v.dtype for v in (x.obs, x.action, x.final_obs)} == {np.dtype(np.float32)}
    assert x.reward.dtype == np.float64  # as it was paid: returns are what a plain loop adds up
    np.testing.assert_allclose(
        x.action[1, 2], policy.output(theta[1], jnp.asarray(x.obs[1, 2])), rtol=1e-5
    )


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        *(("box", 2), ("dict", 11)),
        *(
            pytest.param(*case, marks=pytest.mark.tier("rl"))
            for case in (("discrete", 9), ("tuple", 12), ("multi", 30), ("pixels", 6))
        ),
    ],
)
def test_observations_are_flattened(kind, size):
    rollouts, x = walked(6, observation=kind)
    assert (
        rollouts.spaces.obs_dim == x.obs.shape[2] == size == spaces(WALK, observation=kind).obs_dim
    )
    if kind == "pixels":
        assert set(np.round(x.obs[:, 0].ravel() * 255, 6)) == {49, 50, 51}
    elif kind != "box":
        assert np.all((x.obs[:, 0] == 1).sum(axis=1) >= 1)


def test_without_a_step_limit_there_is_a_default_and_a_sentence():
    with pytest.warns(UserWarning, match=r"no step limit, so episodes end after 1000 steps; max_"):
        assert load("tests/Endless-v0").spaces.limit == 1000
    assert load("tests/Endless-v0", max_episode_steps=7).spaces.limit == 7


def test_the_sentence_about_the_default_limit_is_shown_once():
    """Training looks at the spaces more than once."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("default")
        spaces("tests/Endless-v0")
        load("tests/Endless-v0").close()
    assert len(heard) == 1


@pytest.mark.parametrize(("kind", "sizes"), [("many", (3, 2)), ("bits", (2, 2))])
def test_several_choices_at_once(kind, sizes):
    """The walk itself checks that its space contains what it is given."""
    rollouts = load(WALK, action=kind)
    assert rollouts.spaces.sizes == sizes
    keys = jax.random.split(jax.random.key(0), 6)
    acting, theta = policy(keys[0], rollouts.spaces, hidden=())
    x = rollouts.play(acting, jnp.tile(theta, (6, 1)), keys)
    assert x.action.shape[2:] == (2,)
    assert np.all((x.action >= 0) & (x.action < sizes))


def test_boxes_of_actions_have_their_shape():
    rollouts, x = walked(6, action="box")
    np.testing.assert_array_equal(rollouts.spaces.low, [-1, -1])
    assert x.action.shape[2:] == (2,)
    assert rollouts.spaces.action_dim == 2


@pytest.mark.parametrize("mode", list(worlds.AutoresetMode))
def test_vector_forms_are_the_loop(mode):
    """However it resets those that have finished."""
    name = f"tests/Walk{mode.name.title().replace('_', '')}-v0"
    vector, x = walked(name=name, caught=7)
    assert type(vector.stage).__name__ == "Vector"
    assert vector.own_seeds
    equal(x, walked(caught=7)[1])
    few = vector.play(*population(vector.spaces, 3))
    np.testing.assert_array_equal(few.ended, walked(3, caught=7)[1].ended)


def test_a_vector_form_with_one_seed_says_so():
    rollouts, x = walked(name="CartPole-v1", backend="vector")
    assert not rollouts.own_seeds
    equal(x, rollouts.play(*population(rollouts.spaces, 12)))
    assert len(np.unique(x.obs[:, 0, 0])) == 12
    rollouts.close()


class Careless(worlds.Walk):
    """Numbers are arrays; one of the observations is longer than the space says."""

    def __init__(self, long=None, **options):
        super().__init__(**options)
        self.long = long

    def step(self, action):
        obs, reward, terminated, truncated, info = super().step(action)
        obs = np.zeros(3) if self.t == self.long else obs
        return obs, np.array([reward]), np.array([terminated]), np.array([truncated]), info


def test_numbers_may_be_arrays_of_one():
    """As some environments give them."""
    given = {"max_episode_steps": 20}
    equal(walked(name=Careless, **given)[1], walked(name=worlds.Walk, **given)[1])


def test_an_observation_that_is_none_of_the_space_is_said_to_be_one():
    with pytest.raises(RuntimeError, match=r"in step 1 .* has 3 numbers, and by its obs.* 2"):
        walked(name=Careless, long=2, max_episode_steps=20)


def test_containers_of_actions_are_played_in_a_loop():
    """A vector form would want them stacked."""
    load("tests/WalkNextStep-v0").close()
    assert type(load("tests/WalkNextStep-v0", action="mixed").stage).__name__ == "Loop"


def test_workers_import_the_module_of_an_id():
    _, x = walked(4)
    with ThreadPoolExecutor(2) as pool:
        equal(walked(4, name=f"{worlds.__name__}:{WALK}", workers=pool)[1], x)


def test_workers_change_nothing():
    _, x = walked()
    with ThreadPoolExecutor(2) as pool:
        equal(walked(workers=pool)[1], x)
        with pytest.raises(RuntimeError, match="the ground gave way"):
            walked(workers=pool, fails=0)


def test_worker_processes():
    """Four parts of one individual each: one shape to compile in each process."""
    _, x = walked(4)
    rollouts, y = walked(4, workers=2)
    equal(x, y)
    rollouts.close()


def test_a_step_that_fails_says_where():
    with pytest.raises(
        RuntimeError,
        match=(
            r"tests/Walk-v0 failed in step 1 of individual \d+ \(seed \d+\): ZeroDivisionError: the"
            r" ground"
        ),
    ):
        walked(fails=1)


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("NoSuchThing-v0", {}, "NoSuchThing-v0 cannot be made by gymnasium"),
        ("CartPole-v1", {"colour": 1}, "cannot be made by gymnasium"),
        (7, {}, "a function that makes one, got 7"),
        (WALK, {"action": "whole"}, "MultiBinary or a Box of real numbers"),
        (WALK, {"observation": "huge"}, "observes 100800 numbers"),
        (WALK, {"observation": "graph"}, "cannot be flattened"),
        (WALK, {"observation": "text"}, "cannot be flattened"),
        (WALK, {"observation": "nothing"}, "where there is nothing to see"),
        (WALK, {"action": "none"}, "where there is nothing to choose"),
        (gymnasium.Env, {}, "Env has no observation_space"),
        (WALK, {"backend": "jax"}, "cannot be played by the back end 'jax'"),
        (
            WALK,
            {"backend": "fast"},
            "backend must be one of jax, mujoco, vector, gymnasium, got 'fast'",
        ),
        (WALK, {"workers": 0}, "workers must be"),
    ],
)
def test_misuse_is_a_value_error(name, options, said):
    with pytest.raises(ValueError, match=said):
        load(name, **options)


def test_the_fastest_back_end_is_chosen():
    assert load("CartPole-v1").compiled
    assert not load("CartPole-v1", "gymnasium").compiled
    assert load("CartPole-v1", max_episode_steps=200).spaces.limit == 200
    assert type(load("FrozenLake-v1").stage).__name__ == "Loop"
    assert load("Pendulum-v1").spaces.threshold is None
